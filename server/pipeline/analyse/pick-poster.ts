import type { FrameSeries } from '#server/media/grey/grey-series.ts';
import { quantile } from '#server/media/statistics.ts';

/**
 * Showing a picture as a poster means decoding from its key picture on. This many pictures after the key picture count
 * as far.
 */
const FAR_PICTURES = 100;

/**
 * Picks a picture fit for a poster: not black, not blown out, sharp for this clip, not inside a cut or a fast move. It
 * prefers the first third of the clip and pictures soon after a key picture.
 * @param excluded decoded pictures that are damaged
 * @param isKey whether a decoded picture is a key picture
 * @returns number of the decoded picture, or null for an empty clip
 */
export function pickPoster(
  series: FrameSeries,
  excluded: ReadonlySet<number>,
  isKey: (decoded: number) => boolean,
): number | null {
  const sharpest = Math.max(1e-6, quantile(series.sharpness, 0.95));
  const lively = Math.max(1, quantile(series.meanDiff, 0.9));
  let best: number | null = null;
  let bestScore = -Infinity;
  let behindKey = 0;
  for (let i = 0; i < series.count; i += 1) {
    behindKey = isKey(i) ? 0 : behindKey + 1;
    if (excluded.has(i)) continue;
    const score =
      Math.min(1, (series.sharpness[i] ?? 0) / sharpest) +
      exposure(series.lumaMean[i] ?? 0) +
      0.5 * Math.min(1, ((series.lumaP90[i] ?? 0) - (series.lumaP10[i] ?? 0)) / 120) -
      0.4 * Math.min(2, Math.max(series.meanDiff[i] ?? 0, series.meanDiff[i + 1] ?? 0) / lively) -
      0.3 * Math.abs(i / Math.max(1, series.count - 1) - 0.3) -
      0.3 * Math.min(1, behindKey / FAR_PICTURES);
    if (score > bestScore) {
      bestScore = score;
      best = i;
    }
  }
  return best;
}

/** 1 for an ordinary mean luma, falling to 0 towards black and white. */
function exposure(luma: number): number {
  return Math.max(0, Math.min(1, luma / 60, (250 - luma) / 60));
}
