import type { FrameSeries } from '#server/media/grey-series.ts';
import type { StepRise } from '#server/media/grey-rises.ts';
import { clamp, quantile } from '#server/media/statistics.ts';

/** Steps next to each other that differ by more than this (logarithm) are a start or an end, not a jump. */
const MAX_UNEVEN = 1.3;
/** What is usual is measured this far to each side, seconds. */
const REACH_S = 5;
/** A rise (logarithm) must be this large, and this much larger than the usual ones. */
const MIN_RISE = 0.1;
/** Fewer measured steps than this do not show what is usual in the clip. */
const MIN_STEPS = 30;
/** What is usual where too few steps could be measured: middle, upper tenth, upper 3 %, sixth highest. */
const UNKNOWN: Usual = { middle: 0, tenth: 0.4, top: 0.6, sixth: 0.6 };
/**
 * The sixth highest step stands for the highest natural one: up to five losses in a clip do not raise what
 * they are held against.
 */
const SIXTH = 6;
/**
 * Weights of the evidence, in logarithmic odds. Logistic regression (maximum likelihood, ridge 0.003) on 40
 * holes of 1 to 5 pictures in each of 19 clips against all other steps of those clips; 17 other clips were
 * kept apart to measure.
 */
const WEIGHTS = { tenth: 0.48, top: 0.61, maxTop: 0.46, sixth: 1.05, maxSixth: 0.52, max: 2.12, bias: -3.81 };
/** No single piece of evidence may decide alone. */
const FLOOR = -4;
const CEILING = 10;

interface Usual {
  readonly middle: number;
  readonly tenth: number;
  readonly top: number;
  readonly sixth: number;
}

/**
 * Logarithmic odds that pictures are missing before each picture: how far all that moves goes in this step
 * against the steps beside it, in units of how much such steps differ around it anyway. The same rise is
 * proof in an even pan and nothing in a scuffle.
 * @param usable steps that may be judged: none at cuts, at flashes, in stillness
 * @param fps pictures per second
 * @returns null where nothing could be measured, negative infinity where no loss looks like this
 */
export function scoreJumps(
  series: FrameSeries,
  usable: (at: number) => boolean,
  fps: number,
): (number | null)[] {
  const reach = Math.round(REACH_S * fps);
  const fit = series.rises.map((rise, i) => (rise && usable(i) && isEven(series, i) ? rise : null));
  return series.rises.map((rise, i) => {
    if (!rise) return null;
    if (!fit[i] || rise.overMean < MIN_RISE) return -Infinity;
    // Near an end of the clip the window moves inwards, so that it always spans as many pictures.
    const from = clamp(i - reach, 0, Math.max(0, fit.length - 2 * reach));
    const around = fit.slice(from, from + 2 * reach).filter((other) => other !== null);
    return odds(rise, around);
  });
}

function odds(rise: StepRise, around: readonly StepRise[]): number {
  const mean = usualOf(around.map(({ overMean }) => overMean));
  const max = usualOf(around.map(({ overMax }) => overMax));
  if (rise.overMean < mean.sixth + MIN_RISE) return -Infinity;
  const above = (value: number, usual: Usual, to: number, least: number) =>
    clamp((value - usual.middle) / Math.max(least, to - usual.middle), FLOOR, CEILING);
  return (
    WEIGHTS.bias +
    WEIGHTS.tenth * above(rise.overMean, mean, mean.tenth, 0.05) +
    WEIGHTS.top * above(rise.overMean, mean, mean.top, 0.1) +
    WEIGHTS.maxTop * above(rise.overMax, max, max.top, 0.1) +
    WEIGHTS.sixth * (rise.overMean - mean.sixth) +
    WEIGHTS.maxSixth * (rise.overMax - max.sixth) +
    WEIGHTS.max * rise.overMax
  );
}

function usualOf(values: readonly number[]): Usual {
  if (values.length < MIN_STEPS) return UNKNOWN;
  const sorted = [...values].sort((a, b) => b - a);
  return {
    middle: quantile(values, 0.5),
    tenth: quantile(values, 0.9),
    top: quantile(values, 0.97),
    sixth: sorted[SIXTH - 1] ?? UNKNOWN.sixth,
  };
}

function isEven({ meanDiff }: FrameSeries, i: number): boolean {
  const level = (at: number) => Math.log(Math.max(0.15, meanDiff[at] ?? 0));
  return Math.abs(level(i - 1) - level(i + 1)) <= MAX_UNEVEN;
}
