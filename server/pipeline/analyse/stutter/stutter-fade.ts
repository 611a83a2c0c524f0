import type { FrameSeries } from '#server/media/grey/grey-series.ts';
import { contrastAt, isEmpty } from '../detect-cuts.ts';
import { restsGently } from './stutter-easing.ts';

/** Pictures on each side of a run that are examined... */
const FLANK = 6;
/** ...of which this many must only grow brighter, or only darker, for a fade. */
const MIN_FADING = 3;
/**
 * Share of a change (mean difference) that the shift of the histogram must explain, so that only the brightness
 * changes. Moving objects keep their levels: the share is 0.13 by the median next to runs added to 30 public clips, and
 * 1.00 in a still that fades in, rests and fades out.
 */
const FADE_SHARE = 0.8;
/** Grey levels that a histogram distance of 1 stands for (`histogramDistance`). */
const LEVELS = 128;
/** A picture with this contrast (grey levels, `contrastAt`) is not black but for a title. */
const FILLED_CONTRAST = 20;
/** Smaller changes show nothing (mean difference, grey levels)... */
const MIN_CHANGE = 0.5;
/** ...or these where only a small title is on black: ones of 0.2 to 0.65 fade in and out. */
const MIN_CHANGE_EMPTY = 0.1;

/** Place of a run, and the first pictures of new shots. */
export interface FadePlace {
  readonly first: number;
  readonly last: number;
  readonly cutSet: ReadonlySet<number>;
}

/**
 * True for a run between a fade and an opposite one: a still, or black, that is shown for a moment. Also between a fade
 * and motion that only sets out, or that has come to rest. A fade that halts and continues is a defect like any other.
 * Fades of other shots do not count. Black under a small title needs a fade on one side only, because a clip may begin
 * or end with it, and none where it is wiped in and out.
 */
export function isBetweenFades(series: FrameSeries, { first, last, cutSet }: FadePlace): boolean {
  const before = fadeOf(series, cutSet, first - 1, -1);
  const after = fadeOf(series, cutSet, last + 1, 1);
  if (before * after !== 0) return before * after < 0;
  // A still that has faded in and begins to move, or has come to rest and fades out.
  const run = { first, last, moves: series.blockDiff.get(1) ?? [] };
  if (before + after !== 0 && restsGently(run, before === 0 ? -1 : 1)) return true;
  if (!isEmpty(series, last)) return false;
  return (
    before + after !== 0 || (isFilledBeside(series, first - 1, -1) && isFilledBeside(series, last + 1, 1))
  );
}

/** Whether a picture close to a run on one side has contrast. */
function isFilledBeside(series: FrameSeries, start: number, direction: -1 | 1): boolean {
  const near = Array.from({ length: FLANK }, (_, far) => start + direction * far);
  return near.some((at) => contrastAt(series, at) >= FILLED_CONTRAST);
}

/** Whether the pictures on one side only grow brighter (1) or darker (-1); 0 otherwise. */
function fadeOf(
  series: FrameSeries,
  cutSet: ReadonlySet<number>,
  start: number,
  direction: -1 | 1,
): -1 | 0 | 1 {
  const { meanDiff, histogramDiff, lumaMean } = series;
  let brighter = 0;
  let darker = 0;
  for (let far = 0; far < FLANK; far += 1) {
    const at = start + direction * far;
    if (at <= 0 || cutSet.has(at)) break;
    const change = meanDiff[at] ?? 0;
    const least = isEmpty(series, at) ? MIN_CHANGE_EMPTY : MIN_CHANGE;
    if (change < least || LEVELS * (histogramDiff[at] ?? 0) < FADE_SHARE * change) continue;
    if ((lumaMean[at] ?? 0) > (lumaMean[at - 1] ?? 0)) brighter += 1;
    else darker += 1;
  }
  if (Math.min(brighter, darker) > 0 || brighter + darker < MIN_FADING) return 0;
  return brighter > 0 ? 1 : -1;
}
