import type { Defect } from '#common/report.ts';
import type { Finding } from '../analyse/analysis.ts';
import { clock } from './build-report.ts';
import type { Claim } from './verify-claims.ts';

/** How near a mended defect must stand to one that it hid, ms: farther off it would not have kept the detectors from seeing it. */
const HIDING_MS = 500;

/** A defect that showed only in a first result, which is not kept: the original must have another, mended one right beside it. */
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
 * Whether a repeat or a jump stands in or beside damage that the report says to be kept as the decoder conceals it: a concealed
 * loss is a repeat, and the first whole picture behind a smear is a jump.
 */
export function isTrace({ kind, firstFrame, lastFrame }: Finding, defects: readonly Defect[]): boolean {
  if (kind === 'corrupted_section' || firstFrame === null || lastFrame === null) return false;
  return defects.some((damage) => {
    if (damage.action !== 'concealed_frames' || damage.firstFrame === null || damage.lastFrame === null)
      return false;
    // Repeats and holes inside it are mended too, so that its end moves farther than its start.
    const first = damage.firstFrame + addedBefore(damage.firstFrame, defects);
    const last = damage.lastFrame + addedBefore(damage.lastFrame + 1, defects);
    return lastFrame >= first - 1 && firstFrame <= last + 1;
  });
}

/** How many pictures the result has more than the original before a picture of the original. */
function addedBefore(frame: number, defects: readonly Defect[]): number {
  return defects.reduce((sum, { kind, outcome, action, firstFrame, lastFrame, count }) => {
    if (outcome !== 'repaired' || firstFrame === null || firstFrame >= frame) return sum;
    if (action === 'removed_repeats') return sum - count;
    // A repeat in the place of a lost picture is replaced: nothing is added.
    return kind === 'dropped_frames' && lastFrame !== firstFrame ? sum + count : sum;
  }, 0);
}

/**
 * Whether a finding on the result may be what is left of a defect: a jump of the motion says nothing of a hole in the times, and
 * pictures put into one are guesses that the next true one may jump away from.
 */
export function isSameDetector(defect: Pick<Defect, 'kind' | 'detector'>, finding: Finding): boolean {
  return finding.kind !== 'dropped_frames' || defect.detector === finding.detector;
}

/**
 * Whether a jump in the result is a step between two pictures that follow each other in the original too, neither of them mended: losses
 * are counted roughly, and where the sound still misses some, a step beside a mended one may count as another.
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

/** Whether a repair has put another picture in the place of one of the original, or taken it out. */
function isReplaced(frame: number, { kind, firstFrame, lastFrame }: Defect): boolean {
  if (firstFrame === null || lastFrame === null) return false;
  const isHole = kind === 'dropped_frames' && lastFrame !== firstFrame;
  return !isHole && frame >= firstFrame && frame <= lastFrame;
}
