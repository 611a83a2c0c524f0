import type { Defect, SoundMove } from './report.ts';

/**
 * How far a repair moves everything after it, ms. Removed repeats take their time away. Pictures lost without a trace
 * in the timestamps get their time back; such a finding spans from one picture to the next, so its length is one
 * interval. All other repairs keep the times.
 */
export function movesLaterBy({ action, outcome, detector, startMs, endMs, count }: Defect): number {
  if (outcome !== 'repaired') return 0;
  if (action === 'removed_repeats') return startMs - endMs;
  if (detector === 'detect-hidden-drops') return count * (endMs - startMs);
  return 0;
}

/** Converts a time of the original to the result, ms; inside a removed stretch, the start of that stretch. */
export function toResultMs(originalMs: number, defects: readonly Defect[]): number {
  return defects.reduce((ms, defect) => {
    const byMs = movesLaterBy(defect);
    const lengthMs = defect.endMs - defect.startMs;
    if (byMs === 0 || originalMs <= defect.startMs) return ms;
    const share = lengthMs > 0 ? Math.min(1, (originalMs - defect.startMs) / lengthMs) : 1;
    return ms + byMs * share;
  }, originalMs);
}

/** Converts the time of a sound in the original to its time in the result, ms. */
export function toResultSoundMs(originalMs: number, { shiftMs, startMs, stretch }: SoundMove): number {
  return startMs + (originalMs + shiftMs - startMs) * stretch;
}

/** Converts the time of a sound in the result to its time in the original, ms. */
export function toOriginalSoundMs(resultMs: number, { shiftMs, startMs, stretch }: SoundMove): number {
  return startMs + (resultMs - startMs) / stretch - shiftMs;
}
