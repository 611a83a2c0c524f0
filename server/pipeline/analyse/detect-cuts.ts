import type { FrameSeries } from '#server/media/grey/grey-series.ts';
import { quantile } from '#server/media/statistics.ts';

/** Neighbours on each side that a cut is held against. */
const FLANK = 6;
/** Mean grey difference of two pictures below which no cut is claimed. */
const MIN_DIFFERENCE = 12;
/** Times the flank's upper quartile that a cut stands out by; the histogram must stand out too. */
const MIN_RATIO = 3.5;
const MIN_HISTOGRAM_RATIO = 5;
const MIN_HISTOGRAM = 0.02;
/** A displacement that explains the change leaves less than this: a jump inside one shot, no cut. */
const MIN_RESIDUAL = 0.6;
/**
 * Behind pictures that stand still, a step that so much of the texture follows together leads over lost pictures of one shot. Of 837 runs
 * of 4 to 11 repeats before a step over as many pictures, in lively places of 21 real clips, 82 were taken for the end of a shot and 45
 * are now (48 and 16 of 393 in the clips the limit was not chosen on); of 436 true cuts behind repeats five are lost.
 */
const MIN_COHERENCE = 0.4;
/** A strong change behind pictures that stand still of which less than this can be followed is a cut, whatever a displacement explains of it. */
const LOST_COHERENCE = 0.1;
/** Spread of grey levels (10th to 90th percentile) below which a picture is empty: black, white. */
const MIN_CONTRAST = 5;
/** Mean squared gradient below which nothing small stands out either: black with noise has less than 1, a ball of a hundredth of the picture 20 and more. */
const MIN_DETAIL = 3;
/** A change this strong is a cut even between two lively shots. */
const STRONG_DIFFERENCE = 40;
const STRONG_RATIO = 2.5;
const STRONG_HISTOGRAM = 0.15;

/**
 * Scene cuts: the difference to the picture before stands out of its flanks, the histogram breaks with it,
 * and no displacement explains it (a jump of the camera keeps the histogram, a cut does not; behind repeats the texture is followed). Constants
 * measured on 21 hard cuts of five real clips, all found, and on 30 clips without cuts.
 * @returns decoder-order numbers of the first picture of each new shot, ascending
 */
export function detectCuts(series: FrameSeries): number[] {
  const cuts: number[] = [];
  for (let i = 1; i < series.count; i += 1) if (isCut(series, i)) cuts.push(i);
  return cuts;
}

function isCut(series: FrameSeries, i: number): boolean {
  const difference = series.meanDiff[i] ?? 0;
  const broken = series.histogramDiff[i] ?? 0;
  if (difference < MIN_DIFFERENCE || broken < MIN_HISTOGRAM) return false;
  // Texture is found anywhere in a picture that has none.
  const coherence = isEmpty(series, i) ? undefined : series.coherence.get(i);
  if ((coherence ?? 0) >= MIN_COHERENCE) return false;
  const ratio = difference / Math.max(0.3, flankLevel(series.meanDiff, i));
  const isUnlike = broken > STRONG_HISTOGRAM || (coherence ?? 1) < LOST_COHERENCE;
  if (difference > STRONG_DIFFERENCE && ratio > STRONG_RATIO && isUnlike) return true;
  return (
    ratio >= MIN_RATIO &&
    broken / Math.max(0.003, flankLevel(series.histogramDiff, i)) >= MIN_HISTOGRAM_RATIO &&
    (series.motionResidual[i] ?? 1) >= MIN_RESIDUAL
  );
}

/** True for a picture without content: there is nothing in it that could move, or be found again. */
export function isEmpty({ lumaP10, lumaP90 }: FrameSeries, at: number): boolean {
  return (lumaP90[at] ?? 0) - (lumaP10[at] ?? 0) < MIN_CONTRAST;
}

/** True for a picture without content in which not even something small stands out: a ball over black covers less than the tenth that contrast counts. */
export function showsNothing(series: FrameSeries, at: number): boolean {
  return isEmpty(series, at) && (series.sharpness[at] ?? 0) < MIN_DETAIL;
}

/** What is usual around a picture: the upper quartile, so that a run of repeats beside it does not count. */
function flankLevel(values: readonly number[], i: number): number {
  const flank = [...values.slice(Math.max(1, i - FLANK), i), ...values.slice(i + 1, i + 1 + FLANK)];
  return quantile(flank, 0.75);
}
