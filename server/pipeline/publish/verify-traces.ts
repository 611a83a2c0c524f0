import type { Defect } from '#common/report.ts';
import type { Finding } from '../analyse/analysis.ts';
import { clock } from './build-report.ts';
import type { Claim } from './verify-claims.ts';

/**
 * Largest distance between a repaired defect and one that it hid, ms; farther away, it would not have affected the
 * detectors.
 */
const HIDING_MS = 500;

/**
 * The claim of a defect that only showed in a first result, which is not kept: the original must have another, repaired
 * one right next to it.
 */
export function hiddenClaim({ kind, startMs, endMs }: Defect, defects: readonly Defect[]): Claim {
  const beside = defects.find((other) => {
    const isMended = other.outcome === 'repaired' && other.foundIn === undefined && other.firstFrame !== null;
    return isMended && other.startMs <= endMs + HIDING_MS && other.endMs >= startMs - HIDING_MS;
  });
  return {
    claim: `${kind} at ${clock(startMs)} was hidden by another defect of the original`,
    confirmed: beside !== undefined,
    detail: beside ? `${beside.kind} at ${clock(beside.startMs)}.` : 'Nothing beside it was mended.',
  };
}

/**
 * Whether a repeat or jump lies in or next to damage that the report says is kept as the decoder conceals it. A
 * concealed loss is a repeat, and the first intact picture after a smear is a jump.
 */
export function isTrace({ kind, firstFrame, lastFrame }: Finding, defects: readonly Defect[]): boolean {
  if (kind === 'corrupted_section' || firstFrame === null || lastFrame === null) return false;
  return defects.some((damage) => {
    if (damage.action !== 'concealed_frames' || damage.firstFrame === null || damage.lastFrame === null)
      return false;
    // Repeats and gaps inside it are repaired too, so its end moves farther than its start.
    const first = damage.firstFrame + addedBefore(damage.firstFrame, defects);
    const last = damage.lastFrame + addedBefore(damage.lastFrame + 1, defects);
    return lastFrame >= first - 1 && firstFrame <= last + 1;
  });
}

/** How many more pictures the result has than the original before a picture of the original. */
function addedBefore(frame: number, defects: readonly Defect[]): number {
  return defects.reduce((sum, { kind, outcome, action, firstFrame, lastFrame, count }) => {
    if (outcome !== 'repaired' || firstFrame === null || firstFrame >= frame) return sum;
    if (action === 'removed_repeats') return sum - count;
    // A repeat in the place of a lost picture is replaced: nothing is added.
    return kind === 'dropped_frames' && lastFrame !== firstFrame ? sum + count : sum;
  }, 0);
}

/**
 * Whether a finding on the result may be the rest of a defect. A jump of the motion says nothing about a gap in the
 * times, and inserted pictures are estimates from which the next true one may jump.
 */
export function isSameDetector(defect: Pick<Defect, 'kind' | 'detector'>, finding: Finding): boolean {
  return finding.kind !== 'dropped_frames' || defect.detector === finding.detector;
}

/**
 * Whether a jump in the result lies between two unchanged pictures that follow each other in the original too. The
 * number of losses is an estimate, and if the sound still suggests some, a step next to a repaired one may look like
 * another loss.
 */
export function isOwnStep({ detector, firstFrame }: Finding, defects: readonly Defect[]): boolean {
  if (detector !== 'detect-hidden-drops' || firstFrame === null) return false;
  const before = originalOf(firstFrame, defects);
  return before !== null && originalOf(firstFrame + 1, defects) === before + 1;
}

/** The picture of the original that a picture of the result is; null for new ones. */
function originalOf(frame: number, defects: readonly Defect[]): number | null {
  const mended = defects.filter(({ outcome, firstFrame }) => outcome === 'repaired' && firstFrame !== null);
  const most = mended.reduce((sum, { count }) => sum + count, 0);
  for (let at = Math.max(0, frame - most); at <= frame + most; at += 1) {
    if (at + addedBefore(at, defects) === frame && !mended.some((defect) => isReplaced(at, defect)))
      return at;
  }
  return null;
}

/** Whether a repair replaced a picture of the original or removed it. */
function isReplaced(frame: number, { kind, firstFrame, lastFrame }: Defect): boolean {
  if (firstFrame === null || lastFrame === null) return false;
  const isHole = kind === 'dropped_frames' && lastFrame !== firstFrame;
  return !isHole && frame >= firstFrame && frame <= lastFrame;
}
