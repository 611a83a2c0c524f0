import type { LostBlocks } from '#server/media/lost-blocks.ts';
import { createSearchKernel } from '../rebuild-pictures/rebuild-pictures-field.ts';
import {
  emptySamples,
  planesOf,
  samplesOf,
  type RawFormat,
} from '../rebuild-pictures/rebuild-pictures-raw.ts';
import {
  goesOn,
  guessMotion,
  missesKnown,
  moversOf,
  type ConcealInput,
  type GapInput,
} from './conceal-picture-guess.ts';
import { asItIs, type RowMaker } from './conceal-picture-move.ts';

/**
 * Conceals the lost part of a picture better than the decoder did. It combines several estimates: the motion of the two
 * pictures before, continued; the motion to the next picture, reversed in time (both show the same fault, but the
 * vectors are true); and their mean, which reflects how the motion changes. All are corrected by the camera shake that
 * the rows before the loss show. For each sample it takes the mean of the estimates and the decoder's own picture,
 * without the lowest and the highest value, so that one wrong estimate does no harm.
 *
 * Measured on the lost rows of damaged P pictures (three faults, clips as recorded): 60 pictures that refer to the one
 * shown before gain 4.8 dB on average over ffmpeg's concealment (2 are worse, by at most 3.7 dB), 46 of B-picture
 * pyramids 2.4 dB. The plain mean loses 0.4 dB, choosing blocks by how well they join 0.1 dB.
 * @returns null if motion does not continue (`missesKnown`)
 */
export function concealPicture(input: ConcealInput, format: RawFormat): Uint8Array | null {
  const guessed = guessMotion(input, format, createSearchKernel(format));
  const guesses = [guessed.past, ...guessed.futures, ...guessed.means];
  const moved = moversOf(guesses, input, guessed, format);
  if (missesKnown(input, guessed, moved, format)) return null;
  const { damaged, pyramid, lost } = input;
  const beside = pyramid ? [asItIs(samplesOf(pyramid.beside.pixels, format))] : [];
  const own = asItIs(samplesOf(damaged.pixels, format));
  return fillLost(damaged.pixels, lost, [own, ...moved, ...beside], format);
}

/**
 * Makes a whole picture of which nothing is left, along the previous motion and, if the next picture is there, along
 * the motion back from it. A decoder shows the picture before in its place, so the next picture has moved that by
 * vectors of its own. A single estimate is used as it is; of more than two, the mean without the lowest and the
 * highest.
 * @param around the next picture refers to the decoder's substitute
 * @param isNextLost whether nothing is left of the next picture either, so that it shows no motion
 * @returns null if motion does not continue (`goesOn`)
 */
export function concealLost(around: GapInput, isNextLost: boolean, format: RawFormat): Uint8Array | null {
  if (!goesOn(around, format)) return null;
  const guessed = guessMotion(around, format, createSearchKernel(format));
  const { past, futures, means } = guessed;
  const guesses = isNextLost ? [past] : [past, ...futures, ...means];
  return fillLost(around.damaged.pixels, around.lost, moversOf(guesses, around, guessed, format), format);
}

/** Fills the lost part with the mean of several estimates, without the lowest and the highest of more than two. */
function fillLost(
  picture: Uint8Array,
  { size, first, end }: LostBlocks,
  makers: readonly RowMaker[],
  format: RawFormat,
): Uint8Array {
  const bytes = Uint8Array.from(picture);
  const made = samplesOf(bytes, format);
  const rows = makers.map((maker) => ({ maker, row: emptySamples(format, format.width) }));
  const isTrimmed = makers.length > 2;
  const kept = isTrimmed ? makers.length - 2 : makers.length;
  const blocks = Math.ceil(format.width / size);
  const [firstRow, lastRow] = [Math.floor(first / blocks), Math.floor((end - 1) / blocks)];
  for (const plane of planesOf(format)) {
    const { start, width, height, across, down } = plane;
    const bottom = Math.min(height, Math.ceil(((lastRow + 1) * size) / down));
    for (let y = Math.floor((firstRow * size) / down); y < bottom; y += 1) {
      const row = Math.floor((y * down) / size);
      const left = row === firstRow ? Math.floor(((first % blocks) * size) / across) : 0;
      const right = row === lastRow ? Math.ceil(((((end - 1) % blocks) + 1) * size) / across) : width;
      for (const one of rows) one.maker(plane, y, one.row);
      for (let x = left; x < Math.min(width, right); x += 1) {
        let [sum, low, high] = [0, Infinity, 0];
        for (const one of rows) {
          const value = one.row[x] ?? 0;
          sum += value;
          if (value < low) low = value;
          if (value > high) high = value;
        }
        made[start + y * width + x] = (isTrimmed ? sum - low - high : sum) / kept + 0.5;
      }
    }
  }
  return bytes;
}
