import type { FrameSeries } from '#server/media/grey/grey-series.ts';
import { clamp } from '#server/media/statistics.ts';
import { featureScale, stepFeatures, type FeatureScale } from './detect-hidden-drops-features.ts';
import type { Forest } from './detect-hidden-drops-forest.ts';

/** Neighbouring steps that differ by more than this (logarithm) are a start or an end of motion, not a jump. */
const MAX_UNEVEN = 1.6;
/** Reach to each side for measuring what is usual, seconds. */
const REACH_S = 5;
/** Least rise of a jump (logarithm). */
const MIN_RISE = 0.1;

/** Steps around a picture that belong to its shot, from `from` to before `to`. */
export interface Flanks {
  readonly from: number;
  readonly to: number;
}

/** Features of each step of a clip, and what they are compared with. */
export interface JumpFeatures {
  /** Features of each step alone; null where a step may not be judged. */
  readonly own: readonly (readonly number[] | null)[];
  /** Whether a step may be a loss by its rise alone. */
  isRise(at: number): boolean;
  scaleAt(at: number): FeatureScale;
}

/**
 * @param usable the flanks of steps that may be judged, else null: at cuts, at flashes, in still scenes
 * @param fps pictures per second
 */
export function jumpFeatures(
  series: FrameSeries,
  usable: (at: number) => Flanks | null,
  fps: number,
): JumpFeatures {
  const own = series.rises.map((rise, i) => {
    const flanks = rise && isEven(series, i) ? usable(i) : null;
    return flanks && stepFeatures(series, i, flanks);
  });
  return {
    own,
    isRise: (at) => own[at] !== null && (series.rises[at]?.overMean ?? 0) >= MIN_RISE,
    scaleAt: movingScale(own, fps),
  };
}

/**
 * Logarithmic odds that pictures are missing before each picture: how far everything that moves goes in this step
 * relative to the steps beside it, and how that compares with the steps around. The same rise is proof in an even pan
 * and means nothing in a scuffle. Parameters as for `jumpFeatures`.
 * @returns null where nothing could be measured, negative infinity where the step cannot be a loss
 */
export function scoreJumps(
  series: FrameSeries,
  usable: (at: number) => Flanks | null,
  fps: number,
  forest: Forest,
): (number | null)[] {
  const features = jumpFeatures(series, usable, fps);
  return series.rises.map((rise, i) => {
    if (!rise) return null;
    const own = features.own[i];
    return own && features.isRise(i) ? forest(features.scaleAt(i)(own)) : -Infinity;
  });
}

/** What is usual around each picture, computed once per second of the clip. */
function movingScale(
  features: readonly (readonly number[] | null)[],
  fps: number,
): (at: number) => FeatureScale {
  const second = Math.max(1, Math.round(fps));
  const reach = Math.round(REACH_S * fps);
  const scales = Array.from({ length: Math.ceil(features.length / second) }, (_, k) => {
    // Near an end of the clip the window shifts inwards, so that it always spans the same number of pictures.
    const from = clamp(Math.round((k + 0.5) * second) - reach, 0, Math.max(0, features.length - 2 * reach));
    return featureScale(features.slice(from, from + 2 * reach).filter((one) => one !== null));
  });
  return (at) => scales[Math.floor(at / second)] ?? featureScale([]);
}

function isEven({ meanDiff }: FrameSeries, i: number): boolean {
  const level = (at: number) => Math.log(Math.max(0.15, meanDiff[at] ?? 0));
  return Math.abs(level(i - 1) - level(i + 1)) <= MAX_UNEVEN;
}
