import { MACROBLOCK } from '#server/media/h264/sps.ts';
import { median } from '#server/media/statistics.ts';

/** Usual side lengths that end within a macroblock, samples; the rest of the macroblock is cropped. */
const USUAL_CROPPED = [180, 234, 270, 360, 404, 426, 540, 854, 1080, 1350];
/** Usual side lengths of whole macroblocks, without cropping. */
const USUAL_WHOLE = [
  240, 288, 320, 480, 576, 640, 720, 768, 848, 960, 1024, 1280, 1440, 1600, 1920, 2160, 2560, 3840,
];

/** Number of steps between the last lines of a side that are examined: those of a macroblock. */
export const STEPS = MACROBLOCK;
/** Padding repeats the last line, so its steps are at most this share of those before it (0.01 to 0.35 in 25 clips). */
const MOST_OF_USUAL = 0.4;
/** Difference between lines of a flat surface, grey levels of 255. */
const FLAT = 0.5;
/** Least step between lines for recognising padding without a usual length. */
const LEAST_CONTRAST = 0.2;
const MOST_PADDING = MACROBLOCK - 2;

/**
 * Estimates how much of the last macroblock at the right or the bottom is padding. Encoders repeat the last column or
 * row there, and players do not show it.
 * @param lengthMbs of the side, macroblocks
 * @param steps mean differences between neighbouring lines up to the edge, grey levels; `STEPS` of them
 * @returns samples, even
 */
export function guessPadding(lengthMbs: number, steps: readonly number[]): number {
  const samples = lengthMbs * MACROBLOCK;
  const usual = USUAL_CROPPED.find((length) => Math.ceil(length / MACROBLOCK) === lengthMbs);
  if (usual !== undefined && isPadded(steps, samples - usual)) return samples - usual;
  // A bar at the edge looks like padding.
  if (USUAL_WHOLE.includes(samples)) return 0;
  for (let padding = MOST_PADDING; padding > 0; padding -= 2) {
    const head = steps.slice(0, STEPS - padding);
    const isShown = Math.min(...head) > 0 && median(head) >= LEAST_CONTRAST;
    if (isShown && Math.max(...steps.slice(STEPS - padding)) <= MOST_OF_USUAL * median(head)) return padding;
  }
  return 0;
}

/** Whether the last lines are flat and no usual length tells how many of them are padding. */
export function mayHidePadding(lengthMbs: number, steps: readonly number[]): boolean {
  const isUsual = USUAL_WHOLE.includes(lengthMbs * MACROBLOCK) || guessPadding(lengthMbs, steps) > 0;
  return !isUsual && median(steps.slice(-2)) < FLAT;
}

/** Whether the last lines may be padding: they are flat, or show far less than those before them. */
function isPadded(steps: readonly number[], padding: number): boolean {
  const most = MOST_OF_USUAL * median(steps.slice(0, STEPS - padding));
  return median(steps.slice(STEPS - padding)) <= Math.max(FLAT, most);
}

/** Part of a stack of lines. */
export interface LinePart {
  /** First sample of the part, and number of its samples. */
  readonly from: number;
  readonly count: number;
  /** Samples in a whole line. */
  readonly lineSamples: number;
}

/** Bytes of a sample, and the value of one grey level in it. */
const SAMPLE_BYTES = 2;
const LEVEL = 256;

/**
 * Mean differences between neighbouring lines, grey levels.
 * @param lines 16 bits a sample (little endian); several pictures one after the other, `STEPS + 1` lines each
 */
export function stepsBetween(lines: Buffer, { from, count, lineSamples }: LinePart): number[] {
  const lineBytes = lineSamples * SAMPLE_BYTES;
  const pictures = Math.floor(lines.length / (lineBytes * (STEPS + 1)));
  return Array.from({ length: STEPS }, (_, step) => {
    let sum = 0;
    for (let picture = 0; picture < pictures; picture++) {
      const start = (picture * (STEPS + 1) + step) * lineBytes + from * SAMPLE_BYTES;
      for (let at = start; at < start + count * SAMPLE_BYTES; at += SAMPLE_BYTES) {
        sum += Math.abs(lines.readUInt16LE(at) - lines.readUInt16LE(at + lineBytes));
      }
    }
    return sum / LEVEL / Math.max(1, pictures * count);
  });
}
