import { ACT_CONFIDENCE, type Finding } from '../analyse/analysis.ts';
import type { PlannedPicture } from '../repair/compose-edit.ts';
import type { Verdict } from '../repair/picture-task.ts';
import type { SecondLook } from './look-again.ts';
import type { VerifyInput } from './verify-result.ts';

export interface JudgedVerdicts {
  readonly verdicts: readonly Verdict[];
  readonly failed: readonly { readonly finding: Finding; readonly reason: string }[];
  /** Certain findings on the result that nothing in the original explains. */
  readonly unexplained: readonly Finding[];
  /** All certain findings on the result. */
  readonly remaining: readonly Finding[];
  /** Certain findings between pictures that follow each other in the original too: brought to light, not made. */
  readonly inherited: readonly Finding[];
}

const PICTURE_DEFECTS = new Set<Finding['kind']>(['stuttered_cut', 'dropped_frames', 'corrupted_section']);

/**
 * Compares the findings on the result with the verdicts. A repair holds if its detector is silent where the defect was;
 * a defect that was left alone may still be seen there.
 */
export function judgeVerdicts(
  input: Pick<VerifyInput, 'verdicts'>,
  planned: readonly PlannedPicture[],
  seen: Pick<SecondLook, 'findings'>,
): JudgedVerdicts {
  const remaining = seen.findings.filter(
    (finding) => PICTURE_DEFECTS.has(finding.kind) && finding.confidence >= ACT_CONFIDENCE,
  );
  const explained = new Set<Finding>();
  const failed: { finding: Finding; reason: string }[] = [];
  const verdicts = input.verdicts.map((verdict): Verdict => {
    const { finding } = verdict;
    if (!PICTURE_DEFECTS.has(finding.kind)) return verdict;
    const place = placeInResult(finding, planned);
    const here = remaining.filter((other) => touches(other, place));
    here.forEach((other) => explained.add(other));
    const same = here.find((other) => {
      const isAlike = other.kind === finding.kind && isSameDetector(other, finding);
      return isAlike && !isOwnStep(other, planned) && !isTrace(other, planned, input.verdicts);
    });
    if (verdict.outcome !== 'repaired') return verdict;
    if (same) {
      failed.push({
        finding,
        reason: 'The repair was dropped: the issue was still there afterwards.',
      });
    }
    return { ...verdict, after: same ? same.measure.value : settledValue(finding) };
  });
  const others = remaining.filter((finding) => !explained.has(finding));
  const inherited = others.filter((finding) => isInherited(finding, planned));
  return {
    verdicts,
    failed,
    remaining,
    unexplained: others.filter((finding) => !inherited.includes(finding)),
    inherited,
  };
}

/** A jump of the motion says nothing about a gap in the times; damage is the same, whoever saw it first. */
function isSameDetector(a: Finding, b: Finding): boolean {
  return a.kind === 'corrupted_section' || a.detector === b.detector;
}

/**
 * True for repeats among pictures that stay as the decoder conceals them: they are not part of the repair next to them.
 */
function isTrace(
  { kind, firstFrame, lastFrame }: Finding,
  planned: readonly PlannedPicture[],
  verdicts: readonly Verdict[],
): boolean {
  if (kind === 'corrupted_section' || firstFrame === null || lastFrame === null) return false;
  return planned.slice(firstFrame, lastFrame + 1).every(({ originalFrame, placeFrame }) => {
    if (originalFrame !== null || placeFrame === null) return false;
    return verdicts.some(({ action, finding }) => {
      const isInside = placeFrame >= (finding.firstFrame ?? 0) && placeFrame <= (finding.lastFrame ?? -1);
      return action === 'concealed_frames' && isInside;
    });
  });
}

/**
 * True for a jump between two pictures that follow each other in the original too: no repair made it or could have
 * repaired it.
 */
function isOwnStep({ detector, firstFrame }: Finding, planned: readonly PlannedPicture[]): boolean {
  if (detector !== 'detect-hidden-drops' || firstFrame === null) return false;
  const before = planned[firstFrame]?.originalFrame ?? null;
  return before !== null && planned[firstFrame + 1]?.originalFrame === before + 1;
}

/**
 * True if all pictures of a stutter or a gap, including the one before, are neighbours in the original. Detectors need
 * motion next to a defect, so a repair nearby can bring it to light.
 */
function isInherited(finding: Finding, planned: readonly PlannedPicture[]): boolean {
  const { kind, firstFrame, lastFrame } = finding;
  if (kind === 'corrupted_section' || firstFrame === null || lastFrame === null) return false;
  if (isOwnStep(finding, planned)) return true;
  const frames = planned
    .slice(Math.max(0, firstFrame - 1), lastFrame + 1)
    .map(({ originalFrame }) => originalFrame);
  return frames.every((frame, index) => {
    const before = index === 0 ? frame : (frames[index - 1] ?? null);
    return frame !== null && before !== null && (index === 0 || frame === before + 1);
  });
}

/**
 * The value of a defect that its detector no longer sees. Counts are then 0. Ratios cannot be measured without a run,
 * so nothing is claimed.
 */
function settledValue(finding: Finding): number | null {
  return finding.measure.unit === 'frames' ? 0 : null;
}

interface Place {
  readonly first: number;
  readonly last: number;
}

/** First and last picture of the result where a defect of the original was, with one neighbour on each side. */
function placeInResult(finding: Finding, planned: readonly PlannedPicture[]): Place {
  const firstFrame = finding.firstFrame ?? 0;
  const lastFrame = finding.lastFrame ?? firstFrame;
  let first = 0;
  let last = planned.length - 1;
  planned.forEach(({ originalFrame, placeFrame }, index) => {
    const frame = placeFrame ?? originalFrame;
    if (frame === null) return;
    if (frame < firstFrame) first = index;
    if (frame > lastFrame) last = Math.min(last, index);
  });
  return { first, last };
}

function touches(finding: Finding, place: Place): boolean {
  if (finding.firstFrame === null || finding.lastFrame === null) return false;
  return finding.firstFrame <= place.last && finding.lastFrame >= place.first;
}
