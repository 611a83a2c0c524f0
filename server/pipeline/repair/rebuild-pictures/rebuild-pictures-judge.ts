import type { DecodeInput, RebuildInput } from './rebuild-pictures-decode.ts';
import { createSearchKernel, estimateMotion } from './rebuild-pictures-field.ts';
import type { GreyPlane, MotionField } from './rebuild-pictures-grid.ts';
import type { MotionKernel } from './rebuild-pictures-kernel.ts';
import { samplesOf, toPsnr, type RawFormat, type RebuildMethod } from './rebuild-pictures-raw.ts';
import { createPixelKernel, warpPictures } from './rebuild-pictures-warp.ts';
import type { WarpKernel } from './rebuild-pictures-warp-kernel.ts';

/** Mean PSNR in dB that each method reached on true pictures next to the gap, and the resulting choice. */
export interface MethodJudgement {
  readonly method: Extract<RebuildMethod, 'motion' | 'mixed' | 'blend'>;
  readonly motionDb: number | null;
  readonly mixedDb: number | null;
  readonly blendDb: number | null;
  readonly holdDb: number | null;
  /** Number of true pictures that were predicted. */
  readonly trials: number;
}

/** Mean squared error of the chosen method on true pictures; null when it was not tried. */
export function expectedError(
  { method, motionDb, mixedDb, blendDb }: MethodJudgement,
  format: RawFormat,
): number | null {
  const db = { motion: motionDb, mixed: mixedDb, blend: blendDb }[method];
  return db === null ? null : format.maxValue ** 2 / 10 ** (db / 10);
}

/** Gaps of up to this many pictures are filled by mixing if no true pictures are near enough for a trial. */
const UNJUDGED_MIX = 3;

/** True pictures next to a gap, at the gap's own distance, on which the methods are tried. */
export interface Trial {
  /** The two true pictures that act as the sides of a gap. */
  readonly from: number;
  readonly to: number;
  /** True pictures between them, with their step from `from`. */
  readonly truths: readonly { readonly frame: number; readonly step: number }[];
}

type Surroundings = Pick<RebuildInput, 'task' | 'isBad' | 'sceneCuts'> & Pick<DecodeInput, 'pictures'>;

/**
 * The nearest stretch of true pictures of one shot as long as the gap, before it or else after it; null if there is
 * none.
 * @param steps distance of the two neighbours of the gap, pictures
 */
export function findTrial(input: Surroundings, steps: number): Trial | null {
  const { before, after } = input.task;
  if (before === null || after === null || steps < 2) return null;
  const count = input.pictures.ptsTicks.length;
  for (const from of [before - steps, after]) {
    const to = from + steps;
    if (from < 0 || to >= count) continue;
    const frames = Array.from({ length: steps + 1 }, (_, step) => from + step);
    if (frames.some((frame) => input.isBad(frame))) continue;
    if (input.sceneCuts.some((cut) => cut > from && cut <= to)) continue;
    // The middle is the hardest to predict; a second picture next to it makes the choice steadier.
    const steady = steps > 2 ? [Math.floor(steps / 2), steps - 1] : [1];
    return { from, to, truths: [...new Set(steady)].map((step) => ({ frame: from + step, step })) };
  }
  return null;
}

/** Working memory for pictures of one format, reused from gap to gap. */
export interface RebuildKernels {
  readonly motion: MotionKernel;
  readonly pixels: WarpKernel | null;
}

export function createRebuildKernels(format: RawFormat): RebuildKernels {
  return { motion: createSearchKernel(format), pixels: createPixelKernel(format) };
}

/**
 * Predicts true pictures next to the gap by every method and returns the one with the smallest error.
 * @param known decoded pictures by display number
 */
export function judgeMethods(
  trial: Trial | null,
  known: ReadonlyMap<number, Uint8Array>,
  steps: number,
  format: RawFormat,
  kernels = createRebuildKernels(format),
): MethodJudgement {
  const from = trial ? known.get(trial.from) : undefined;
  const to = trial ? known.get(trial.to) : undefined;
  const sums = { motion: 0, mixed: 0, blend: 0, hold: 0 };
  let count = 0;
  if (trial && from && to) {
    const field = motionBetween(from, to, format, kernels.motion);
    for (const { frame, step } of trial.truths) {
      const truth = known.get(frame);
      if (!truth) continue;
      const moved = warpPictures(from, to, field, step / steps, format, 'luma', kernels.pixels);
      const errors = methodErrors({ from, to, moved, truth }, step / steps, format);
      sums.motion += errors.motion;
      sums.mixed += errors.mixed;
      sums.blend += errors.blend;
      sums.hold += errors.hold;
      count += 1;
    }
  }
  const toDb = (sum: number) => (count === 0 ? null : toPsnr(sum / count, format));
  return {
    method: count === 0 ? (steps - 1 <= UNJUDGED_MIX ? 'mixed' : 'blend') : best(sums),
    motionDb: toDb(sums.motion),
    mixedDb: toDb(sums.mixed),
    blendDb: toDb(sums.blend),
    holdDb: toDb(sums.hold),
    trials: count,
  };
}

interface Predictions {
  readonly from: Uint8Array;
  readonly to: Uint8Array;
  /** The picture made along the motion. */
  readonly moved: Uint8Array;
  readonly truth: Uint8Array;
}

/** Mean squared luma errors of all methods against a true picture, in one pass and rounded as when written. */
function methodErrors({ from, to, moved, truth }: Predictions, phase: number, format: RawFormat) {
  const [a, b] = [samplesOf(from, format), samplesOf(to, format)];
  const [m, t] = [samplesOf(moved, format), samplesOf(truth, format)];
  const { lumaSamples } = format;
  let motion = 0;
  let mixed = 0;
  let blend = 0;
  let hold = 0;
  for (let i = 0; i < lumaSamples; i += 1) {
    const first = a[i] ?? 0;
    const along = m[i] ?? 0;
    const want = t[i] ?? 0;
    const blended = (first + ((b[i] ?? 0) - first) * phase + 0.5) | 0;
    const between = (blended + along + 1) >> 1;
    motion += (along - want) * (along - want);
    mixed += (between - want) * (between - want);
    blend += (blended - want) * (blended - want);
    hold += (first - want) * (first - want);
  }
  return {
    motion: motion / lumaSamples,
    mixed: mixed / lumaSamples,
    blend: blend / lumaSamples,
    hold: hold / lumaSamples,
  };
}

function best(errors: { motion: number; mixed: number; blend: number }): MethodJudgement['method'] {
  if (errors.motion <= errors.mixed && errors.motion <= errors.blend) return 'motion';
  return errors.mixed <= errors.blend ? 'mixed' : 'blend';
}

/** Motion between two whole pictures by their luma planes. */
export function motionBetween(
  a: Uint8Array,
  b: Uint8Array,
  format: RawFormat,
  kernel?: MotionKernel,
): MotionField {
  return estimateMotion(greyOf(a, format), greyOf(b, format), kernel);
}

/** The luma plane of a picture in 256 levels. */
export function greyOf(picture: Uint8Array, format: RawFormat): GreyPlane {
  const { width, height, lumaSamples } = format;
  const luma = samplesOf(picture, format).subarray(0, lumaSamples);
  if (luma instanceof Uint8Array) return { width, height, samples: luma };
  const shift = Math.log2((format.maxValue + 1) / 256);
  return { width, height, samples: Uint8Array.from(luma, (sample) => sample >> shift) };
}
