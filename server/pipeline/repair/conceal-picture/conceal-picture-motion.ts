import type { LostBlocks } from '#server/media/lost-blocks.ts';
import type { SquareMotion } from '#server/media/square-motion.ts';
import { createSearchKernel } from '../rebuild-pictures/rebuild-pictures-field.ts';
import { CELL } from '../rebuild-pictures/rebuild-pictures-grid.ts';
import { isSameShot, type RawFormat } from '../rebuild-pictures/rebuild-pictures-raw.ts';
import {
  goesOn,
  guessMotion,
  missesKnown,
  moversOf,
  planeOf,
  type ConcealInput,
  type GapInput,
  type GuessedMotion,
} from './conceal-picture-guess.ts';
import { firstTornBlock } from './conceal-picture-start.ts';
import { atRest, carriedOn, motionOfRows, type Displacements } from './conceal-picture-vectors.ts';

/** The lost part of a picture, and its likely motions. */
export interface ConcealedMotion {
  /** From the first block that shows a fault. */
  readonly lost: LostBlocks;
  /** From the picture before, likeliest first. */
  readonly motions: readonly SquareMotion[];
}

/**
 * Estimates how the lost part of a picture moved, for decoders that leave old memory in its place. The candidates are
 * the previous motion continued, its mean with the motion to the next picture, that motion alone, and no motion. Later
 * pictures say little if their vectors are coded as differences to lost ones: in 12 damaged HEVC clips the first
 * candidate gains 4.2 dB on average, the next picture's motion 1.2 dB.
 * @returns null if nothing will prove the result and motion does not continue (`missesKnown`)
 */
export function motionToConceal(input: ConcealInput, format: RawFormat): ConcealedMotion | null {
  const kernel = createSearchKernel(format);
  const plane = planeOf(format);
  const { earlier, before, damaged } = input;
  const first = firstTornBlock(plane(earlier), plane(before), plane(damaged), input.lost, kernel);
  const torn = { ...input, lost: { ...input.lost, first } };
  const guessed = guessMotion(torn, format, kernel);
  const { past } = guessed;
  const isRefused =
    !input.isProvenLater && missesKnown(torn, guessed, moversOf([past], input, guessed, format), format);
  if (isRefused) return null;
  const motions = [past, ...guessed.means.slice(0, 1), ...guessed.futures.slice(0, 1), atRest(past)].map(
    (guess) => squaresOf(guess, guessed),
  );
  return { lost: torn.lost, motions };
}

/** Steps of the motion up to which it is taken to continue. */
const MOST_STEPS = 3;

/**
 * Estimates how a picture moved of which nothing is left: previous motion continued, and no motion; the likelier first.
 * @param earlier a picture shown before `before`, directly or with some left out between
 * @param ticks time of the lost picture
 */
export function motionOfLost(
  { earlier, before, ticks }: Pick<ConcealInput, 'earlier' | 'before'> & { readonly ticks: number },
  format: RawFormat,
): readonly SquareMotion[] {
  const plane = planeOf(format);
  const [from, to] = [plane(earlier), plane(before)];
  const pair = motionOfRows(from, to, 0, format.height, createSearchKernel(format));
  const times = (ticks - before.ticks) / (before.ticks - earlier.ticks);
  const past = carriedOn(pair, 1 + 2 * times, times);
  const goesOn = times <= MOST_STEPS && isSameShot(earlier.pixels, before.pixels, format);
  return (goesOn ? [past, atRest(past)] : [atRest(past)]).map((guess) => squaresOf(guess, { top: 0 }));
}

/**
 * Estimates how a picture moved of which nothing is left: the mean of the previous motion and that of the next picture,
 * which was decoded from the picture before in its place.
 * @param isNextLost whether nothing is left of the next picture either; then the previous motion continues
 * @returns null if motion does not continue (`goesOn`)
 */
export function motionOfGap(around: GapInput, isNextLost: boolean, format: RawFormat): SquareMotion | null {
  if (!goesOn(around, format)) return null;
  const guessed = guessMotion(around, format, createSearchKernel(format));
  const [mean = guessed.past] = guessed.means;
  return squaresOf(isNextLost ? guessed.past : mean, guessed);
}

/** Steps of a coded motion vector in a pixel. */
const QUARTERS = 4;

/** Mean vector of the cells of a square. */
const squaresOf =
  ({ columns, rows, x, y }: Displacements, { top }: Pick<GuessedMotion, 'top'>): SquareMotion =>
  (left, upper, size) => {
    let [sumX, sumY, count] = [0, 0, 0];
    const cells = Math.max(1, Math.round(size / CELL));
    for (let row = 0; row < cells; row += 1) {
      for (let column = 0; column < cells; column += 1) {
        const atRow = Math.max(0, Math.min(rows - 1, Math.floor((upper - top) / CELL) + row));
        const at = atRow * columns + Math.min(columns - 1, Math.floor(left / CELL) + column);
        sumX -= x[at] ?? 0;
        sumY -= y[at] ?? 0;
        count += 1;
      }
    }
    return { x: Math.round((QUARTERS * sumX) / count), y: Math.round((QUARTERS * sumY) / count) };
  };
