import {
  assemble,
  block,
  i32,
  repeatWhile,
  when,
  type Code,
  type FunctionScope,
  type FunctionSource,
  type Local,
} from '#server/media/wasm/assemble.ts';
import { loadModule } from '#server/media/wasm/load.ts';
import { advance, larger, smaller } from '#server/media/wasm/vectors.ts';

/** A plane of bytes whose pixels are moved along vectors. */
export interface WarpPlane {
  readonly width: number;
  readonly height: number;
  /** Pixels between two vectors of a row: 4 or 8. */
  readonly cell: number;
  readonly columns: number;
}

export interface WarpWeights {
  /** Time between the pictures; 4096 is the second picture. */
  readonly phase: number;
  /** Difference of two joined pixels without doubt, in 1/256 grey levels. */
  readonly sure: number;
  /** Doubt (4096 is complete) for each 1/256 level beyond that, times 65536. */
  readonly doubtStep: number;
  /** Most doubt; 4096 is complete. */
  readonly mostDoubt: number;
}

/** Moves rows of pixels with integer arithmetic. */
export interface WarpKernel {
  /** Sets the two pictures; the same two as before, unchanged, are not copied again. */
  load(first: Uint8Array, second: Uint8Array): void;
  /** The result. */
  readonly out: Uint8Array;
  /**
   * Displacements of a row's vectors into both pictures, 65536 to a pixel: x and y of the first, then of the second.
   */
  readonly vectors: readonly [Int32Array, Int32Array, Int32Array, Int32Array];
  /** Makes row `y` of the plane that starts at `start`. */
  warpRow(plane: WarpPlane, start: number, y: number, weights: WarpWeights): void;
}

interface Sampled {
  /** Position along the row, 65536 to a pixel. */
  readonly x: Local;
  readonly y: Local;
  readonly stepX: Local;
  readonly stepY: Local;
  /** 256 times the sampled value. */
  readonly value: Local;
}

const WARP_ROW: FunctionSource = {
  name: 'warpRow',
  result: null,
  body: (scope) => {
    const from = scope.param('i32');
    const to = scope.param('i32');
    const out = scope.param('i32');
    const width = scope.param('i32');
    const height = scope.param('i32');
    const y = scope.param('i32');
    const vectors = scope.param('i32');
    const stride = scope.param('i32');
    const columns = scope.param('i32');
    const shift = scope.param('i32');
    const phase = scope.param('i32');
    const sure = scope.param('i32');
    const doubtStep = scope.param('i32');
    const mostDoubt = scope.param('i32');
    const [cell, half, left, x, end, near, far] = locals(scope, 7);
    const [maxX, maxY, low, moved, gap, still] = locals(scope, 6);
    const scratch = { at: scope.local('i32'), x: scope.local('i32'), y: scope.local('i32') };
    const [a, b] = [sampled(scope), sampled(scope)];
    const start = (walk: Local, step: Local, number: number, base: Code) =>
      block(
        low.set(i32.load(i32.add(near.get, i32.mul(stride.get, i32.const(number))))),
        step.set(
          i32.shrS(
            i32.sub(i32.load(i32.add(far.get, i32.mul(stride.get, i32.const(number)))), low.get),
            shift.get,
          ),
        ),
        walk.set(i32.add(base, i32.add(low.get, i32.shrS(step.get, i32.const(1))))),
      );
    const along = i32.shl(x.get, i32.const(16));
    const down = i32.shl(y.get, i32.const(16));
    const pixel = (of: Local) => i32.load8(i32.add(of.get, i32.add(i32.mul(y.get, width.get), x.get)));
    const store = i32.store8(
      i32.add(out.get, i32.add(i32.mul(y.get, width.get), x.get)),
      i32.shrS(i32.add(moved.get, i32.const(128)), i32.const(8)),
    );
    const one = block(
      sample(a, from, { width, maxX, maxY, scratch }),
      sample(b, to, { width, maxX, maxY, scratch }),
      moved.set(
        i32.add(a.value.get, i32.shrS(i32.mul(i32.sub(b.value.get, a.value.get), phase.get), i32.const(12))),
      ),
      gap.set(i32.sub(b.value.get, a.value.get)),
      gap.set(i32.sub(larger(gap.get, i32.sub(i32.const(0), gap.get)), sure.get)),
      when(
        i32.gtS(gap.get, i32.const(0)),
        low.set(pixel(from)),
        still.set(
          i32.add(
            i32.shl(low.get, i32.const(8)),
            i32.shrS(i32.mul(i32.sub(pixel(to), low.get), phase.get), i32.const(4)),
          ),
        ),
        gap.set(smaller(mostDoubt.get, i32.shrU(i32.mul(gap.get, doubtStep.get), i32.const(16)))),
        moved.set(
          i32.add(moved.get, i32.shrS(i32.mul(i32.sub(still.get, moved.get), gap.get), i32.const(12))),
        ),
      ),
      store,
      ...[a, b].flatMap((walker) => [
        advance(walker.x, walker.stepX.get),
        advance(walker.y, walker.stepY.get),
      ]),
      advance(x, i32.const(1)),
    );
    /** Not zero if a vector points away from its pixel, or the next one does. */
    const strayed = [a, b].reduce(
      (sum, walker) =>
        [
          i32.sub(walker.x.get, along),
          i32.sub(walker.y.get, down),
          walker.stepX.get,
          walker.stepY.get,
        ].reduce(i32.or, sum),
      i32.const(0),
    );
    // Same result as `one` for zero displacement, where there is never doubt, in a fifth of the time.
    const unmoved = block(
      low.set(pixel(from)),
      moved.set(
        i32.add(
          i32.shl(low.get, i32.const(8)),
          i32.shrS(i32.mul(i32.sub(pixel(to), low.get), phase.get), i32.const(4)),
        ),
      ),
      store,
      advance(x, i32.const(1)),
    );
    const address = (column: Code) => i32.add(vectors.get, i32.shl(column, i32.const(2)));
    return block(
      cell.set(i32.shl(i32.const(1), shift.get)),
      half.set(i32.shrU(cell.get, i32.const(1))),
      maxX.set(i32.shl(i32.sub(width.get, i32.const(1)), i32.const(16))),
      maxY.set(i32.shl(i32.sub(height.get, i32.const(1)), i32.const(16))),
      left.set(i32.const(-1)),
      // Between the centres of two cells, the vector is interpolated linearly.
      repeatWhile(
        i32.ltS(left.get, columns.get),
        x.set(larger(i32.const(0), i32.add(i32.shl(left.get, shift.get), half.get))),
        end.set(smaller(width.get, i32.add(i32.add(i32.shl(left.get, shift.get), half.get), cell.get))),
        when(
          i32.ltS(x.get, end.get),
          near.set(address(larger(i32.const(0), left.get))),
          far.set(address(smaller(i32.sub(columns.get, i32.const(1)), i32.add(left.get, i32.const(1))))),
          start(a.x, a.stepX, 0, along),
          start(a.y, a.stepY, 1, down),
          start(b.x, b.stepX, 2, along),
          start(b.y, b.stepY, 3, down),
          when(i32.isZero(strayed), repeatWhile(i32.ltS(x.get, end.get), unmoved)),
          when(
            i32.ltS(x.get, end.get),
            advance(a.stepX, i32.const(1 << 16)),
            advance(b.stepX, i32.const(1 << 16)),
            repeatWhile(i32.ltS(x.get, end.get), one),
          ),
        ),
        advance(left, i32.const(1)),
      ),
    );
  },
};

function locals(scope: FunctionScope, count: 6): [Local, Local, Local, Local, Local, Local];
function locals(scope: FunctionScope, count: 7): [Local, Local, Local, Local, Local, Local, Local];
function locals(scope: FunctionScope, count: number): Local[] {
  return Array.from({ length: count }, () => scope.local('i32'));
}

function sampled(scope: FunctionScope): Sampled {
  const [x, y, stepX, stepY, value] = locals(scope, 6);
  return { x, y, stepX, stepY, value };
}

interface Bounds {
  readonly width: Local;
  /** Last position in a row and in a column, 65536 to a pixel. */
  readonly maxX: Local;
  readonly maxY: Local;
  readonly scratch: { readonly at: Local; readonly x: Local; readonly y: Local };
}

/** The value between four pixels. Positions outside are moved to the edge, where the pixels beyond have no weight. */
function sample({ x, y, value }: Sampled, plane: Local, { width, maxX, maxY, scratch }: Bounds): Code {
  const inside = (place: Local, most: Local) => larger(i32.const(0), smaller(place.get, most.get));
  const whole = (place: Local) => i32.shrU(place.get, i32.const(16));
  const share = (place: Local) => i32.and(i32.shrU(place.get, i32.const(8)), i32.const(255));
  const mix = (near: Code, far: Code, part: Local) =>
    i32.add(i32.mul(near, i32.sub(i32.const(256), part.get)), i32.mul(far, part.get));
  const { at } = scratch;
  const below = i32.add(at.get, width.get);
  return block(
    scratch.x.set(inside(x, maxX)),
    scratch.y.set(inside(y, maxY)),
    at.set(i32.add(plane.get, i32.add(i32.mul(whole(scratch.y), width.get), whole(scratch.x)))),
    scratch.x.set(share(scratch.x)),
    scratch.y.set(share(scratch.y)),
    value.set(
      i32.shrU(
        mix(
          mix(i32.load8(at.get), i32.load8(at.get, 1), scratch.x),
          mix(i32.load8(below), i32.load8(i32.add(below, i32.const(1))), scratch.x),
          scratch.y,
        ),
        i32.const(8),
      ),
    ),
  );
}

const MODULE = new WebAssembly.Module(assemble([WARP_ROW]));

/**
 * @param pictureBytes size of each picture, all planes
 * @param columns most vectors in a row
 * @param rowBytes size of the longest row: as many bytes are read, without weight, after the last one
 */
export function createWarpKernel(pictureBytes: number, columns: number, rowBytes: number): WarpKernel {
  const whole = Math.ceil((pictureBytes + rowBytes + 16) / 16) * 16;
  const stride = Math.ceil(columns / 4) * 16;
  const { buffer, run } = loadModule(MODULE, 3 * whole + 4 * stride);
  const warpRow = run('warpRow');
  const vectorsAt = 3 * whole;
  const from = new Uint8Array(buffer, 0, pictureBytes);
  const to = new Uint8Array(buffer, whole, pictureBytes);
  let loaded: { first: Uint8Array | null; second: Uint8Array | null } = { first: null, second: null };
  const vectors = (number: number) => new Int32Array(buffer, vectorsAt + number * stride, columns);
  return {
    load(first, second) {
      if (first !== loaded.first) from.set(first);
      if (second !== loaded.second) to.set(second);
      loaded = { first, second };
    },
    out: new Uint8Array(buffer, 2 * whole, pictureBytes),
    vectors: [vectors(0), vectors(1), vectors(2), vectors(3)],
    warpRow({ width, height, cell, columns: count }, start, y, { phase, sure, doubtStep, mostDoubt }) {
      const [fromAt, toAt, outAt] = [start, whole + start, 2 * whole + start];
      const shift = Math.log2(cell);
      warpRow(
        fromAt,
        toAt,
        outAt,
        width,
        height,
        y,
        vectorsAt,
        stride,
        count,
        shift,
        phase,
        sure,
        doubtStep,
        mostDoubt,
      );
    },
  };
}
