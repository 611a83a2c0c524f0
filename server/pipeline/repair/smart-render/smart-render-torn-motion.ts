import { createMacroblockCopier, pcmMacroblockBytes } from '#server/media/h264/pcm-picture.ts';
import type { StandInMacroblock } from '#server/media/h264/slice-data/stand-in-macroblocks.ts';
import { MACROBLOCK, type Sps } from '#server/media/h264/sps.ts';
import type { Moved } from '#server/media/square-motion.ts';
import type { MovedFrom } from './smart-render-torn.ts';

/**
 * Mean square error of luma up to which a moved macroblock may replace the wanted samples, which are estimates
 * themselves.
 */
const NEAR = 20;
/** Longest vector of the search, samples. */
const FARTHEST = 64;
const MOST_STEPS = 24;

/**
 * Chooses a replacement for each macroblock of a picture: moved from another picture by whole samples if that is close
 * enough, else its own samples. The search begins at the vectors of the previous macroblock and of those above.
 * @param pixels planes Y, Cb, Cr of 8 bits of the coded size, 4:2:0
 */
export function movedOrRaw(
  pixels: Uint8Array,
  from: MovedFrom | null,
  sps: Pick<Sps, 'widthMbs' | 'heightMbs' | 'chromaFormat'>,
): (mb: number) => StandInMacroblock {
  const { widthMbs, heightMbs } = sps;
  const copy = createMacroblockCopier(pixels, sps);
  const found = new Map<number, Moved>();
  const size = { width: widthMbs * MACROBLOCK, height: heightMbs * MACROBLOCK };
  return (mb) => {
    const place = { left: (mb % widthMbs) * MACROBLOCK, top: Math.floor(mb / widthMbs) * MACROBLOCK };
    if (from) {
      const starts = [mb - 1, mb - widthMbs, mb - widthMbs + 1].flatMap((other) => found.get(other) ?? []);
      const best = search(pixels, from.pixels, size, place, starts);
      if (best.error <= NEAR * MACROBLOCK ** 2) {
        found.set(mb, best.moved);
        return { x: 4 * best.moved.x, y: 4 * best.moved.y };
      }
    }
    const raw = new Uint8Array(pcmMacroblockBytes(sps));
    copy(mb, raw, 0);
    return raw;
  };
}

interface Size {
  readonly width: number;
  readonly height: number;
}

interface Place {
  readonly left: number;
  readonly top: number;
}

const STILL: Moved = { x: 0, y: 0 };
const STEPS = [
  [1, 0],
  [-1, 0],
  [0, 1],
  [0, -1],
] as const;

/** The vector with the least error, found by descent from several starts, whole samples. */
function search(wanted: Uint8Array, from: Uint8Array, size: Size, place: Place, starts: readonly Moved[]) {
  const errorOf = (moved: Moved, most: number) => squareErrorAt({ wanted, from, size, place }, moved, most);
  let best = { moved: STILL, error: errorOf(STILL, Infinity) };
  for (const start of starts) {
    const error = errorOf(start, best.error);
    if (error < best.error) best = { moved: start, error };
  }
  for (let step = 0; step < MOST_STEPS && best.error > 0; step += 1) {
    const { moved } = best;
    for (const [x, y] of STEPS) {
      const next = { x: moved.x + x, y: moved.y + y };
      const error = errorOf(next, best.error);
      if (error < best.error) best = { moved: next, error };
    }
    if (best.moved === moved) break;
  }
  return best;
}

interface Search {
  readonly wanted: Uint8Array;
  readonly from: Uint8Array;
  readonly size: Size;
  readonly place: Place;
}

/**
 * Square error of the luma of a macroblock; pictures continue beyond their edges. Infinity for vectors that are too
 * long.
 * @param most the sum stops above this
 */
function squareErrorAt({ wanted, from, size, place }: Search, { x, y }: Moved, most: number): number {
  if (Math.abs(x) > FARTHEST || Math.abs(y) > FARTHEST) return Infinity;
  const { width, height } = size;
  const [left, right] = [place.left + x, place.left + x + MACROBLOCK];
  const isInside = left >= 0 && right <= width;
  let sum = 0;
  for (let row = 0; row < MACROBLOCK && sum < most; row += 1) {
    const own = (place.top + row) * width + place.left;
    const other = Math.max(0, Math.min(height - 1, place.top + row + y)) * width;
    for (let column = 0; column < MACROBLOCK; column += 1) {
      const at = isInside ? left + column : Math.max(0, Math.min(width - 1, left + column));
      const apart = (wanted[own + column] ?? 0) - (from[other + at] ?? 0);
      sum += apart * apart;
    }
  }
  return sum;
}
