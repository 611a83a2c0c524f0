import type { FrameSeries, Lag } from '#server/media/grey/grey-series.ts';
import { clamp, median } from '#server/media/statistics.ts';
import type { Flanks } from './detect-hidden-drops-score.ts';

/** Smaller changes are rounding, grey levels. */
const LEAST = 0.15;
/** Smaller motion is rounding, pixels of the small picture. */
const LEAST_SHIFT = 0.1;

/** Number of features that are also compared with what is usual in the clip. */
const HELD_COUNT = 14;
/** With fewer steps in a clip, what is usual is taken from clips in general. */
const MIN_STEPS = 30;
/**
 * The sixth highest step stands for the highest natural one, so that up to five losses in a clip do not raise the
 * comparison.
 */
const SIXTH = 6;

/** Usual values of one feature in a clip: median, upper tenth, upper 3 %, sixth highest. */
interface Usual {
  readonly middle: number;
  readonly tenth: number;
  readonly top: number;
  readonly sixth: number;
}

const UNKNOWN: Usual = { middle: 0, tenth: 0.4, top: 0.6, sixth: 0.6 };

/**
 * Evidence for a loss right before picture `at`, one number each; NaN where it cannot be measured. All but the last two
 * are ratios (natural logarithms) or shares, so that they mean the same in every clip.
 * @param flanks pictures whose steps belong to the shot, at most six on each side of `at`
 */
export function stepFeatures(series: FrameSeries, at: number, flanks: Flanks): number[] {
  const { from, to } = flanks;
  const means = series.meanDiff;
  const blocks = lagOf(series, 1);
  const rise = series.rises[at];
  const inside = (i: number) => i >= from && i < to && i !== at;
  const around = (values: readonly number[], reach: number) =>
    values.slice(at - reach, at + reach + 1).filter((_, k) => inside(at - reach + k));
  const mean = level(means[at]);
  const block = level(blocks[at]);
  const beside = (values: readonly number[]) => [level(values[at - 1]), level(values[at + 1])] as const;
  const [meanBefore, meanAfter] = beside(means);
  const [blockBefore, blockAfter] = beside(blocks);
  const held = [
    mean - Math.max(...around(means, 2).map(level)),
    mean - Math.max(meanBefore, meanAfter),
    mean - (meanBefore + meanAfter) / 2,
    rise?.overMean ?? NaN,
    rise?.overMax ?? NaN,
    block - Math.max(blockBefore, blockAfter),
    block - (blockBefore + blockAfter) / 2,
    rise?.wideOverMax ?? NaN,
    rise?.lowOverMean ?? NaN,
    rise?.lowOverMax ?? NaN,
    rise?.risingShare ?? NaN,
    acrossLag(series, at, flanks, 2),
    acrossLag(series, at, flanks, 4),
    shiftRise(series, at),
  ];
  const left = (values: readonly number[]) => median(values.slice(from, at));
  const right = (values: readonly number[]) => median(values.slice(at + 1, to));
  const usual = level(median(around(blocks, 6)));
  return [
    ...held,
    -Math.abs(meanBefore - meanAfter),
    Math.min(meanBefore - level(means[at - 2]), meanAfter - level(means[at + 2])),
    series.histogramDiff[at] ?? 0,
    rise?.lively ?? NaN,
    rise?.wideLively ?? NaN,
    level(median(clearOf(series, at, flanks, 2))) - usual,
    level(median(clearOf(series, at, flanks, 4))) - usual,
    block - level(median(clearOf(series, at, flanks, 2))),
    shiftSpeed(series, at),
    level(Math.min(left(blocks), right(blocks))),
    level(Math.min(left(means), right(means))),
  ];
}

/** Extends the features of one step by comparisons with all steps around it. */
export type FeatureScale = (features: readonly number[]) => number[];

/**
 * Learns what is usual from the steps around. For each compared feature it appends how far a step exceeds that: in
 * units of the upper tenth and of the upper 3 %, and over the sixth highest.
 */
export function featureScale(around: readonly (readonly number[])[]): FeatureScale {
  const usual = Array.from({ length: HELD_COUNT }, (_, k) =>
    usualOf(around.map((features) => features[k] ?? NaN)),
  );
  return (features) => [
    ...features,
    ...usual.flatMap(({ middle, tenth, top, sixth }, k) => {
      const value = features[k] ?? NaN;
      return [
        clamp((value - middle) / Math.max(tenth - middle, 0.05), -4, 10),
        clamp((value - middle) / Math.max(top - middle, 0.1), -4, 10),
        value - sixth,
      ];
    }),
  ];
}

function usualOf(values: readonly number[]): Usual {
  const sorted = Float64Array.from(values.filter((value) => !Number.isNaN(value))).sort();
  if (sorted.length < MIN_STEPS) return UNKNOWN;
  const placed = (share: number) => {
    const place = share * (sorted.length - 1);
    const low = sorted[Math.floor(place)] ?? 0;
    return low + ((sorted[Math.ceil(place)] ?? low) - low) * (place - Math.floor(place));
  };
  return {
    middle: placed(0.5),
    tenth: placed(0.9),
    top: placed(0.97),
    sixth: sorted[sorted.length - SIXTH] ?? UNKNOWN.sixth,
  };
}

function level(value: number | undefined): number {
  return Math.log(Math.max(LEAST, value ?? 0));
}

function lagOf(series: FrameSeries, lag: Lag): readonly number[] {
  return series.blockDiff.get(lag) ?? [];
}

/** Differences over `lag` pictures inside the shot that do not span the step into `at`. */
function clearOf(series: FrameSeries, at: number, { from, to }: Flanks, lag: 2 | 4): number[] {
  const values = lagOf(series, lag);
  return [...values.slice(Math.max(0, from - 1 + lag), at), ...values.slice(at + lag, to)];
}

/** Differences over `lag` pictures across the step, relative to the largest beside it. */
function acrossLag(series: FrameSeries, at: number, flanks: Flanks, lag: 2 | 4): number {
  const beside = clearOf(series, at, flanks, lag);
  const across = lagOf(series, lag).slice(at, Math.min(flanks.to, at + lag));
  if (beside.length === 0 || across.length === 0) return NaN;
  return level(median(across)) - level(Math.max(...beside));
}

/** How much farther the whole picture shifts along the motion than in the steps beside it. */
function shiftRise({ motionX, motionY }: FrameSeries, at: number): number {
  const x = ((motionX[at - 1] ?? 0) + (motionX[at + 1] ?? 0)) / 2;
  const y = ((motionY[at - 1] ?? 0) + (motionY[at + 1] ?? 0)) / 2;
  const speed = Math.hypot(x, y);
  const along = ((motionX[at] ?? 0) * x + (motionY[at] ?? 0) * y) / Math.max(LEAST_SHIFT, speed);
  return Math.log(Math.max(0.5, (Math.max(0, along) + 2 * LEAST_SHIFT) / (speed + 2 * LEAST_SHIFT)));
}

function shiftSpeed({ motionX, motionY }: FrameSeries, at: number): number {
  const speed = (i: number) => Math.hypot(motionX[i] ?? 0, motionY[i] ?? 0);
  return Math.min(speed(at - 1), speed(at + 1));
}
