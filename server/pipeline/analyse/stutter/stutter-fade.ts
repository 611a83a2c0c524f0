import type { FrameSeries } from '#server/media/grey/grey-series.ts';

/** Pictures on each side of a run that show what changes there... */
const FLANK = 6;
/** ...of which so many that only grow brighter, or only darker, make a fade. */
const MIN_FADING = 3;
/**
 * Share of a change (mean difference) that the shift of the histogram explains, from which on nothing but the brightness changes. What moves keeps
 * its levels: it is 0.13 by the median beside runs planted into 30 public clips, and 1.00 in a still that fades in, rests and fades out, of which
 * nine pictures were taken out.
 */
const FADE_SHARE = 0.8;
/** Grey levels that a histogram distance of 1 stands for (`histogramDistance`). */
const LEVELS = 128;
/** Changes of less (mean difference, grey levels) tell nothing. */
const MIN_CHANGE = 0.5;

/** Where a run stands, and the first pictures of new shots. */
export interface FadePlace {
  readonly first: number;
  readonly last: number;
  readonly cutSet: ReadonlySet<number>;
}

/**
 * True for a run between a fade and one the other way: a still, or black, that is shown for a moment. A fade that halts and goes on as before is
 * a fault like any other, and what another shot does says nothing.
 */
export function isBetweenFades(series: FrameSeries, { first, last, cutSet }: FadePlace): boolean {
  return fadeOf(series, cutSet, first - 1, -1) * fadeOf(series, cutSet, last + 1, 1) < 0;
}

/** Whether the pictures on one side grow brighter (1) or darker (-1) and change by nothing else; 0 where they do not. */
function fadeOf(
  { meanDiff, histogramDiff, lumaMean }: FrameSeries,
  cutSet: ReadonlySet<number>,
  start: number,
  direction: -1 | 1,
): -1 | 0 | 1 {
  let brighter = 0;
  let darker = 0;
  for (let far = 0; far < FLANK; far += 1) {
    const at = start + direction * far;
    if (at <= 0 || cutSet.has(at)) break;
    const change = meanDiff[at] ?? 0;
    if (change < MIN_CHANGE || LEVELS * (histogramDiff[at] ?? 0) < FADE_SHARE * change) continue;
    if ((lumaMean[at] ?? 0) > (lumaMean[at - 1] ?? 0)) brighter += 1;
    else darker += 1;
  }
  if (Math.min(brighter, darker) > 0 || brighter + darker < MIN_FADING) return 0;
  return brighter > 0 ? 1 : -1;
}
