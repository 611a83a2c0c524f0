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
 * Conceals what a decoder has lost of a picture and guessed itself. The motion of the two pictures before goes on, so does back in time
 * that from this picture to the next one, which are wrong alike and moved by true vectors, and their mean tells how it changes. All are
 * moved by as much as the rows in front of the loss say that the camera shook. Of what these and the decoder's own guess show, sample
 * by sample, the mean without the lowest and the highest is taken: one that is far off does no harm.
 *
 * Measured on the lost rows of damaged P pictures (three faults, clips as recorded, script outside the project): 60 pictures that
 * refer to the one shown before gain 4.8 dB on the mean over ffmpeg's guess (2 are worse, by 3.7 dB at most), 46 of pyramids
 * of B pictures 2.4 dB; the mean of all takes 0.4 dB off, choosing blocks by how they join 0.1 dB.
 * @returns null where motion does not go on (`missesKnown`)
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
 * Makes all of a picture of which nothing is left, along the motion before it and, where the next one is there, that back from it: a decoder
 * shows the picture before in its place, so that the next one has moved that by vectors of its own. With one guess that is taken, of more
 * than two the mean without the lowest and the highest.
 * @param around the next picture is made of what stands in its place
 * @param isNextLost whether nothing is left of the picture shown next either, so that it tells no motion
 * @returns null where motion does not go on (`goesOn`)
 */
export function concealLost(around: GapInput, isNextLost: boolean, format: RawFormat): Uint8Array | null {
  if (!goesOn(around, format)) return null;
  const guessed = guessMotion(around, format, createSearchKernel(format));
  const { past, futures, means } = guessed;
  const guesses = isNextLost ? [past] : [past, ...futures, ...means];
  return fillLost(around.damaged.pixels, around.lost, moversOf(guesses, around, guessed, format), format);
}

/** A picture whose lost part is the mean of what some others show there, the lowest and the highest of more than two left out. */
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
