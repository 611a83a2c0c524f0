import { LAGS, type FrameSeries } from '#server/media/grey/grey-series.ts';
import { clamp, median } from '#server/media/statistics.ts';
import type { HiddenDrop } from './detect-hidden-drops.ts';
import { FLANK, MIN_AGREEMENT, type Step } from './detect-hidden-drops-step.ts';

/** Range of the confidence of a claim by motion alone... */
const CONFIDENCE = { least: 0.6, most: 0.95 } as const;
/** ...which grows by this much for each unit of the logarithmic odds... */
const PER_ODDS = 0.06;
/** ...and, without odds, from here by this much where the jump is twice as long as all around. */
const PLAIN_CONFIDENCE = 0.55;
const PER_MARGIN = 0.4;
/** The slope of windows that agree is the length of the step; beyond this many steps they lose what they followed. */
const MOST_TRUSTED_SLOPE = 6;

/** Confidence of a claim with these odds. */
export function oddsConfidence(score: number): number {
  return clamp(CONFIDENCE.least + PER_ODDS * score, CONFIDENCE.least, CONFIDENCE.most);
}

/** The claim that a step makes: what is missing before picture `i`, and how sure that is by its motion alone. */
export function toDrop(series: FrameSeries, step: Step, i: number): HiddenDrop {
  const { jump } = step;
  const trusted = jump !== undefined && jump.agreement >= MIN_AGREEMENT && jump.slope < MOST_TRUSTED_SLOPE;
  const missing = trusted ? Math.round(jump.slope) - 1 : missingByNearestLag(series, i);
  const ratio = trusted ? jump.slope : step.blockRatio;
  const margin = trusted ? jump.agreement * Math.min(1, jump.excess - 1) : Math.min(1, step.meanRatio - 1);
  return {
    after: i,
    missing: Math.max(1, missing),
    ratio,
    confidence: clamp(PLAIN_CONFIDENCE + PER_MARGIN * margin, CONFIDENCE.least, CONFIDENCE.most),
  };
}

/**
 * First estimate of the missing pictures: the measured distance with the nearest difference. All limits for losses were
 * chosen with it.
 */
function missingByNearestLag(series: FrameSeries, i: number): number {
  const here = series.blockDiff.get(1)?.[i] ?? 0;
  let best = 1;
  let bestError = Infinity;
  for (const lag of LAGS.slice(1)) {
    const values = series.blockDiff.get(lag) ?? [];
    const around = [...values.slice(Math.max(lag, i - FLANK), i), ...values.slice(i + lag, i + lag + FLANK)];
    const error = Math.abs(Math.log(Math.max(0.1, here) / Math.max(0.1, median(around))));
    if (error < bestError) [best, bestError] = [lag - 1, error];
  }
  return best;
}
