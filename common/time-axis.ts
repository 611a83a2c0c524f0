import type { Defect, SoundMove } from './report.ts';

/**
 * How far a repair moves all that stands behind it, ms: removed repeats take their time away; pictures lost
 * without a trace in the timestamps get theirs back (such a finding reaches from one picture to the next, so
 * its length is one interval). All other repairs keep the times.
 */
export function movesLaterBy({ action, outcome, detector, startMs, endMs, count }: Defect): number {
  if (outcome !== 'repaired') return 0;
  if (action === 'removed_repeats') return startMs - endMs;
  if (detector === 'detect-hidden-drops') return count * (endMs - startMs);
  return 0;
}

/** Where a moment of the original stands in the result, ms; inside a removed stretch, where that stretch began. */
export function toResultMs(originalMs: number, defects: readonly Defect[]): number {
  return defects.reduce((ms, defect) => {
    const byMs = movesLaterBy(defect);
    const lengthMs = defect.endMs - defect.startMs;
    if (byMs === 0 || originalMs <= defect.startMs) return ms;
    const share = lengthMs > 0 ? Math.min(1, (originalMs - defect.startMs) / lengthMs) : 1;
    return ms + byMs * share;
  }, originalMs);
}

/** When something is heard in the result by when it was in the original, ms. */
export function toResultSoundMs(originalMs: number, { shiftMs, startMs, stretch }: SoundMove): number {
  return startMs + (originalMs + shiftMs - startMs) * stretch;
}

/** When something was heard in the original by when it is in the result, ms. */
export function toOriginalSoundMs(resultMs: number, { shiftMs, startMs, stretch }: SoundMove): number {
  return startMs + (resultMs - startMs) / stretch - shiftMs;
}
