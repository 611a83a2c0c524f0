import { expectedError, type MethodJudgement } from './rebuild-pictures-judge.ts';
import type { TornBlocks } from '../torn-blocks.ts';
import { inSquaredLevels, planesOf, samplesOf, type RawFormat } from './rebuild-pictures-raw.ts';

/** Edge of the blocks that are judged, pixels: macroblocks, because slices are coded and lost in rows of them. */
const BLOCK = 16;
/** Share of the expected error that is spread evenly; the rest lies where the neighbours differ. */
const EVEN_SHARE = 0.3;
/** Mean square error (255 levels) that means nothing: two encodings of one picture differ by as much. */
const FLOOR = 0.5;
/** What a damaged and a rebuilt picture are compared with. */
interface Neighbours {
  readonly before: Uint8Array;
  readonly after: Uint8Array;
}

/**
 * Mixes plausible parts of the damaged picture into a rebuilt one. It takes the upper part as far down as it is
 * plausible, because coded data before a fault are intact. Below, each block gets a share by how likely it is true
 * (`decodedShares`).
 * @param rebuilt is changed
 * @param torn which macroblocks the data of the damaged picture still determine; null when unknown
 * @returns share of the damaged picture in the result, 0 to 1; 0 when the methods were not tried on true pictures and
 * the data tell nothing
 */
export function mixWithDecoded(
  decoded: Uint8Array,
  rebuilt: Uint8Array,
  { before, after }: Neighbours,
  judgement: MethodJudgement,
  format: RawFormat,
  torn: TornBlocks | null = null,
): number {
  const expected = expectedError(judgement, format);
  if (expected === null && !torn) return 0;
  const shares =
    expected === null
      ? new Float64Array(blocksOf(format))
      : likelyShares(decoded, rebuilt, { before, after }, expected, format);
  // What was read is as it was coded, however far it is from the neighbours.
  if (torn) shares.fill(1, 0, torn.doubtedFrom).fill(1, torn.end);
  mixBlocks(decoded, rebuilt, shares, format);
  return meanOf(shares);
}

/** Share of each block that is taken from the damaged picture, judged by its content. */
function likelyShares(
  decoded: Uint8Array,
  rebuilt: Uint8Array,
  { before, after }: Neighbours,
  expected: number,
  format: RawFormat,
): Float64Array {
  const errors: BlockErrors = {
    own: blockErrors(decoded, rebuilt, format),
    gap: blockErrors(before, after, format),
    held: blockErrors(decoded, before, format),
  };
  return decodedShares(errors, expected, plausibleRows(errors, expected, format), format);
}

/** Mean square errors of the luma of each block, row by row. */
interface BlockErrors {
  /** Between the damaged and the rebuilt picture. */
  readonly own: Float64Array;
  /** Between the intact pictures on both sides. */
  readonly gap: Float64Array;
  /** Between the damaged picture and the intact one before it. */
  readonly held: Float64Array;
}

/**
 * Number of luma rows from the top that the damaged picture shows plausibly: a correct band differs from the rebuilt
 * picture by that picture's own error. Measured on spans of one to three damaged pictures (P and B pictures, four
 * faults): taking the bands above the first one that differs by more gains 0.44 dB on average over 139 pictures of five
 * clips (median 0.45; 64 better by more than 0.2 dB, 2 worse) and 0.47 dB over 190 of seven held-out clips (median
 * 0.84; 75 better, 12 worse, by at most 4.4 dB).
 */
function plausibleRows({ own, gap }: BlockErrors, expected: number, format: RawFormat): number {
  const ownBands = bandMeans(own, format);
  const allowed = spread(expected, bandMeans(gap, format), format);
  const around = (values: Float64Array, band: number) =>
    values.subarray(Math.max(0, band - 1), band + 2).reduce((sum, value) => sum + value, 0);
  const first = ownBands.findIndex((_, band) => around(ownBands, band) > around(allowed, band));
  const bands = first < 0 ? ownBands.length : Math.max(0, first - 1);
  return Math.min(format.height, bands * BLOCK);
}

/** Spreads an expected error over a picture: most of it lies where the neighbours differ. */
function spread(expected: number, gap: Float64Array, format: RawFormat): Float64Array {
  const mean = meanOf(gap);
  const floor = floorOf(format);
  return gap.map((value) => {
    const share = mean > 0 ? (value + EVEN_SHARE * mean) / ((1 + EVEN_SHARE) * mean) : 1;
    return expected * share + floor;
  });
}

const floorOf = (format: RawFormat): number => inSquaredLevels(FLOOR, format);

const meanOf = (values: Float64Array): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);

/**
 * A true block between its neighbours differs from their mean by at most half of their difference (squared: a quarter).
 */
const MOST_OF_GAP = 0.25;
/** Factor by which a block may exceed the expected error of rebuilding and still be taken as decoded. */
const TRUSTED_TIMES = 1.5;
/** Blocks nearer to the picture before than this share of the neighbours' difference may be copies of it. */
const MOVED_SHARE = 0.5;

/**
 * Share of each block that is taken from the damaged picture. The difference between the damaged and the rebuilt block
 * is the error of both together. The share is the expected error of the rebuilt one over that difference, and less if
 * few blocks of the picture are plausible. If the neighbours differ and the damaged block is like the picture before,
 * its data are lost and the decoder copied that one, which favours the rebuilt block. Errors of a block and of its
 * neighbours count together.
 */
function decodedShares(
  { own, gap, held }: BlockErrors,
  expected: number,
  topRows: number,
  format: RawFormat,
): Float64Array {
  const [ownAround, gapAround, heldAround] = [own, gap, held].map((errors) => aroundBlocks(errors, format));
  const shares = new Float64Array(own.length).fill(1);
  if (!ownAround || !gapAround || !heldAround) return shares;
  const floor = floorOf(format);
  const missed = spread(Math.min(expected, MOST_OF_GAP * meanOf(gap)), gapAround, format);
  const times = missed.map((error, block) => error / Math.max(1e-6, ownAround[block] ?? 0));
  const whole = meanOf(times.map((value) => Math.min(1, value)));
  for (let block = Math.ceil(topRows / BLOCK) * acrossOf(format); block < shares.length; block += 1) {
    const trusted = Math.min(1, TRUSTED_TIMES * (times[block] ?? 0));
    const moved = ((heldAround[block] ?? 0) + floor) / (MOVED_SHARE * (gapAround[block] ?? 0) + floor);
    shares[block] = whole * trusted * Math.min(1, moved);
  }
  return shares;
}

const blocksOf = ({ width, height }: RawFormat): number =>
  Math.ceil(width / BLOCK) * Math.ceil(height / BLOCK);

const acrossOf = ({ width }: RawFormat): number => Math.ceil(width / BLOCK);

/** Mean over each block and its neighbours; at the edges, over those that exist. */
function aroundBlocks(errors: Float64Array, format: RawFormat): Float64Array {
  const across = acrossOf(format);
  const down = errors.length / across;
  return errors.map((_, at) => {
    const [x, y] = [at % across, Math.floor(at / across)];
    let sum = 0;
    let count = 0;
    for (let row = Math.max(0, y - 1); row <= Math.min(down - 1, y + 1); row += 1) {
      for (let column = Math.max(0, x - 1); column <= Math.min(across - 1, x + 1); column += 1) {
        sum += errors[row * across + column] ?? 0;
        count += 1;
      }
    }
    return sum / count;
  });
}

/** Mean square error of the luma of each row of blocks, from the errors of the blocks. */
function bandMeans(errors: Float64Array, format: RawFormat): Float64Array {
  const across = acrossOf(format);
  const last = format.width - (across - 1) * BLOCK;
  const bands = new Float64Array(errors.length / across);
  errors.forEach((error, at) => {
    const columns = at % across === across - 1 ? last : BLOCK;
    const band = Math.floor(at / across);
    bands[band] = (bands[band] ?? 0) + (error * columns) / format.width;
  });
  return bands;
}

/** Mean square error of each block of luma, row by row. */
export function blockErrors(a: Uint8Array, b: Uint8Array, format: RawFormat): Float64Array {
  const { width, height } = format;
  const [left, right] = [samplesOf(a, format), samplesOf(b, format)];
  const across = acrossOf(format);
  const errors = new Float64Array(across * Math.ceil(height / BLOCK));
  for (let y = 0; y < height; y += 1) {
    const row = Math.floor(y / BLOCK) * across;
    for (let column = 0; column < across; column += 1) {
      const from = y * width + column * BLOCK;
      const end = Math.min(from + BLOCK, (y + 1) * width);
      let sum = 0;
      for (let at = from; at < end; at += 1) {
        const difference = (left[at] ?? 0) - (right[at] ?? 0);
        sum += difference * difference;
      }
      errors[row + column] = (errors[row + column] ?? 0) + sum;
    }
  }
  return errors.map((sum, at) => {
    const columns = Math.min(BLOCK, width - (at % across) * BLOCK);
    return sum / (columns * Math.min(BLOCK, height - Math.floor(at / across) * BLOCK));
  });
}

/** Mixes each block of `picture`, in all planes, with its share of `other`. */
function mixBlocks(other: Uint8Array, picture: Uint8Array, shares: Float64Array, format: RawFormat): void {
  const [from, to] = [samplesOf(other, format), samplesOf(picture, format)];
  const blocksAcross = acrossOf(format);
  for (const { start, width, height, across, down } of planesOf(format)) {
    for (let y = 0; y < height; y += 1) {
      const row = Math.floor((y * down) / BLOCK) * blocksAcross;
      for (let x = 0; x < width; x += 1) {
        const share = shares[row + Math.floor((x * across) / BLOCK)] ?? 0;
        const at = start + y * width + x;
        const own = to[at] ?? 0;
        to[at] = own + ((from[at] ?? 0) - own) * share + 0.5;
      }
    }
  }
}
