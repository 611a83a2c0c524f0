import type { FrameSeries } from '#server/media/grey/grey-series.ts';
import { clamp } from '#server/media/statistics.ts';
import { featureScale, stepFeatures, type FeatureScale } from './detect-hidden-drops-features.ts';
import type { Forest } from './detect-hidden-drops-forest.ts';

/** Steps next to each other that differ by more than this (logarithm) are a start or an end, not a jump. */
const MAX_UNEVEN = 1.6;
/** What is usual is measured this far to each side, seconds. */
const REACH_S = 5;
/** A rise (logarithm) must be this large. */
const MIN_RISE = 0.1;

/** Steps around a picture that belong to its shot: from `from` to before `to`. */
export interface Flanks {
  readonly from: number;
  readonly to: number;
}

/** Features of each step of a clip, and what they are held against. */
export interface JumpFeatures {
  /** Features by themselves; null where a step may not be judged. */
  readonly own: readonly (readonly number[] | null)[];
  /** True where a step may be a loss by its rise alone. */
  isRise(at: number): boolean;
  scaleAt(at: number): FeatureScale;
}

/**
 * @param usable the flanks of steps that may be judged, else null: at cuts, at flashes, in stillness
 * @param fps pictures per second
 */
export function jumpFeatures(
  series: FrameSeries,
  usable: (at: number) => Flanks | null,
  fps: number,
): JumpFeatures {
  const own = series.rises.map((rise, i) => {
    const flanks = rise && isEven(series, i) ? usable(i) : null;
    return flanks && stepFeatures(series, i, flanks.from, flanks.to);
  });
  return {
    own,
    isRise: (at) => own[at] !== null && (series.rises[at]?.overMean ?? 0) >= MIN_RISE,
    scaleAt: movingScale(own, fps),
  };
}

/**
 * Logarithmic odds that pictures are missing before each picture: how far all that moves goes in this step
 * against the steps beside it, and how that compares with such steps around it. The same rise is proof in an
 * even pan and nothing in a scuffle. Parameters as for `jumpFeatures`.
 * @returns null where nothing could be measured, negative infinity where no loss looks like this
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

/** What is usual around each picture, learnt anew every second. */
function movingScale(
  features: readonly (readonly number[] | null)[],
  fps: number,
): (at: number) => FeatureScale {
  const second = Math.max(1, Math.round(fps));
  const reach = Math.round(REACH_S * fps);
  const scales = Array.from({ length: Math.ceil(features.length / second) }, (_, k) => {
    // Near an end of the clip the window moves inwards, so that it always spans as many pictures.
    const from = clamp(Math.round((k + 0.5) * second) - reach, 0, Math.max(0, features.length - 2 * reach));
    return featureScale(features.slice(from, from + 2 * reach).filter((one) => one !== null));
  });
  return (at) => scales[Math.floor(at / second)] ?? featureScale([]);
}

function isEven({ meanDiff }: FrameSeries, i: number): boolean {
  const level = (at: number) => Math.log(Math.max(0.15, meanDiff[at] ?? 0));
  return Math.abs(level(i - 1) - level(i + 1)) <= MAX_UNEVEN;
}
