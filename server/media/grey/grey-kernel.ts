import { BLOCK, type GreySize } from './grey-frame.ts';
import { PICTURE_SUMS } from './grey-kernel-sums.ts';
import { PLACE_BIAS, PLACE_BITS, WINDOW_SUMS } from './grey-kernel-windows.ts';
import { assemble } from '../wasm/assemble.ts';
import { loadModule } from '../wasm/load.ts';

/**
 * Sums over small grey pictures that the kernel holds in numbered places. All sums are of whole numbers and exact, as a
 * plain loop would give them. Returned arrays are overwritten by the next call of the same function.
 */
export interface GreyKernel {
  readonly size: GreySize;
  /** The bytes of a place, for reading and writing. */
  picture(place: number): Uint8Array;
  /**
   * Sums of absolute differences of two pictures, one per block, row by row.
   * @param rowStep 2 looks at every second row only, at half the cost
   */
  blockDifferences(a: number, b: number, rowStep: 1 | 2): Int32Array;
  /** Counts of the 256 grey levels. */
  histogram(place: number): Uint32Array;
  /** Sums of each column and of each row. */
  project(place: number): { readonly columns: Int32Array; readonly rows: Int32Array };
  /** Sum of the squared differences of each pixel to its right and its lower neighbour. */
  gradient(place: number): number;
  /** Sums of the products of central differences (not halved) in a window: xx, xy, yy. */
  texture(place: number, left: number, top: number): Int32Array;
  /** Sum of absolute differences of a window at the same place in both pictures. */
  windowChange(before: number, after: number, left: number, top: number): number;
  /**
   * Sum of absolute differences between a window and the window of the other picture whose corner is at `x` and `y`,
   * over every second pixel and row. Both must lie within their pictures.
   */
  movedChange(before: number, after: number, left: number, top: number, x: number, y: number): number;
  /** Displacement at which a window differs least from the other picture, over every second pixel and row. */
  search(
    before: number,
    after: number,
    left: number,
    top: number,
    guessX: number,
    guessY: number,
  ): readonly [number, number];
  /** The same over all pixels and twice as far; of equal places the first, row by row. */
  searchFar(before: number, after: number, left: number, top: number): readonly [number, number];
}

/** The displacement that a search packed into one number. */
const unpack = (place: number): readonly [number, number] => [
  (place & ((1 << PLACE_BITS) - 1)) - PLACE_BIAS,
  (place >> PLACE_BITS) - PLACE_BIAS,
];

/** Vectors read up to this many bytes beyond the pixels that they count. */
const MARGIN_BYTES = 32;
const MODULE = new WebAssembly.Module(assemble([...PICTURE_SUMS, ...WINDOW_SUMS]));

/**
 * @param size both sides multiples of `BLOCK`, at least two blocks
 * @param places pictures held at the same time
 */
export function createGreyKernel(size: GreySize, places: number): GreyKernel {
  const { width, height } = size;
  const blocks = (width / BLOCK) * (height / BLOCK);
  let end = MARGIN_BYTES;
  const take = (bytes: number) => {
    const at = end;
    end += Math.ceil((bytes + MARGIN_BYTES) / 16) * 16;
    return at;
  };
  const pictures = Array.from({ length: places }, () => take(width * height));
  const at = {
    differences: take(4 * blocks),
    histogram: take(4 * 256),
    columns: take(4 * width),
    rows: take(4 * height),
    texture: take(4 * 3),
  };
  const { buffer, run: functionOf } = loadModule(MODULE, end);
  const run = (name: string) => {
    const found = functionOf(name);
    return (...values: number[]): number => Number(found(...values));
  };
  const [differences, gradient, project, histogram, texture, windowChange, movedChange, search, searchFar] = [
    run('differences'),
    run('gradient'),
    run('project'),
    run('histogram'),
    run('texture'),
    run('windowChange'),
    run('movedChange'),
    run('search'),
    run('searchFar'),
  ];
  const bytes = pictures.map((from) => new Uint8Array(buffer, from, width * height));
  const integers = (from: number, length: number) => new Int32Array(buffer, from, length);
  const sums = integers(at.differences, blocks);
  const counts = new Uint32Array(buffer, at.histogram, 256);
  const curves = { columns: integers(at.columns, width), rows: integers(at.rows, height) };
  const products = integers(at.texture, 3);
  const of = (place: number) => {
    const from = pictures[place];
    if (from === undefined) throw new RangeError(`no place ${place}`);
    return from;
  };
  return {
    size,
    picture(place) {
      const found = bytes[place];
      if (!found) throw new RangeError(`no place ${place}`);
      return found;
    },
    blockDifferences(a, b, rowStep) {
      differences(of(a), of(b), width, height / BLOCK, rowStep, at.differences);
      return sums;
    },
    histogram(place) {
      counts.fill(0);
      histogram(of(place), width * height, at.histogram);
      return counts;
    },
    project(place) {
      project(of(place), width, height, at.columns, at.rows);
      return curves;
    },
    gradient: (place) => gradient(of(place), width, height),
    texture(place, left, top) {
      texture(of(place), width, height, left, top, at.texture);
      return products;
    },
    windowChange: (before, after, left, top) =>
      windowChange(of(before), of(after), width, left, top, left, top),
    movedChange: (before, after, ...window) => movedChange(of(before), of(after), width, ...window),
    search: (before, after, ...window) => unpack(search(of(before), of(after), width, height, ...window)),
    searchFar: (before, after, ...window) =>
      unpack(searchFar(of(before), of(after), width, height, ...window)),
  };
}
