import type { MediaInfo } from '#server/media/probe/probe.ts';
import type { Analysis, Finding, PictureTimes } from '../analyse/analysis.ts';
import { ticksToMs } from '#server/media/time-base.ts';
import { lengthsSpeakFor } from '../analyse/packets/picture-surplus.ts';
import { frameEndMs, frameStartMs } from '../analyse/packets/picture-times.ts';
import type { PlannedPicture } from '../repair/compose-edit.ts';
import type { PictureTask, Verdict } from '../repair/picture-task.ts';
import { planRepair, type RepairPlan } from '../repair/plan-repair.ts';
import type { MediaLimits } from '../worker-protocol.ts';

export interface FirstRound {
  readonly analysis: Analysis;
  /** The first result, picture by picture in display order. */
  readonly planned: readonly PlannedPicture[];
  /** Certain findings at and around its new pictures, in its numbering. */
  readonly shown: readonly Finding[];
  readonly verdicts: readonly Verdict[];
  /** What that result declares. */
  readonly resultInfo: Pick<MediaInfo, 'video' | 'audio'>;
}

/** The note if a second round was needed. */
export const SECOND_ROUND =
  'The first result showed more issues that had been hidden beside others, so everything was mended once more, from the original.';

export interface SecondRound {
  /** The original's analysis, with what the first result has shown. */
  readonly analysis: Analysis;
  readonly plan: RepairPlan;
  readonly tasks: readonly PictureTask[];
}

/**
 * Plans all picture repairs of a clip again with what a first result has shown: defects that others hid, repeats whose
 * history the seam tells, rebuilt pictures that are defects themselves. Null if it showed nothing of the kind.
 * @param dropped findings whose repair did not hold
 */
export function planSecondRound({
  dropped,
  limits,
  ...first
}: FirstRound & {
  readonly dropped: readonly Finding[];
  readonly limits: MediaLimits;
}): SecondRound | null {
  const found = broughtToLight(first)
    .map((finding) => asContinued(finding, first.analysis.findings))
    .map((finding) => (isTooLongFor(finding, first) ? asHeld(finding) : finding));
  const held = heldAfterAll(first);
  const decoded = found.length > 0 ? [] : badlyRebuilt(first);
  if (found.length + held.length + decoded.length === 0) return null;
  const findings = [...first.analysis.findings, ...found]
    .map((finding) => (held.includes(finding) ? asHeld(finding) : finding))
    .sort((a, b) => a.startMs - b.startMs);
  const analysis = { ...first.analysis, findings };
  const plan = planRepair(analysis, limits);
  const tasks = [...plan.cuts, ...plan.frames]
    .filter(({ finding }) => !dropped.includes(finding))
    .map((task) => (decoded.includes(task.finding) ? { ...task, keepsDecoded: true } : task));
  const isNew = ({ finding }: PictureTask) => !first.analysis.findings.includes(finding);
  return decoded.length > 0 || tasks.some(isNew) ? { analysis, plan, tasks } : null;
}

/** Repeats right next to known ones belong to the same run, of which damage hid a part. */
function asContinued(finding: Finding, known: readonly Finding[]): Finding {
  const { detail, firstFrame, lastFrame } = finding;
  if (detail.kind !== 'stuttered_cut' || firstFrame === null || lastFrame === null) return finding;
  const run = known.find(
    (other) =>
      other.kind === 'stuttered_cut' &&
      (other.lastFrame === firstFrame - 1 || other.firstFrame === lastFrame + 1),
  );
  return run?.detail.kind === 'stuttered_cut'
    ? { ...finding, detail: { ...detail, history: run.detail.history } }
    : finding;
}

function asHeld(finding: Finding): Finding {
  const { detail } = finding;
  return detail.kind === 'stuttered_cut' ? { ...finding, detail: { ...detail, history: 'held' } } : finding;
}

/**
 * Finds repeats of the original that only show in a first result, because damage or other repeats right next to them
 * disturbed the detectors, which need motion around. Only those count whose pictures all have a place in the original,
 * which are not known yet, and which are not in or next to damage that stays as the decoder conceals it, where traces
 * are expected. (Jumps show in the original as well as in a result.)
 * @returns in the numbering and on the time axis of the original, marked as found in the result
 */
export function broughtToLight({ analysis, planned, shown, verdicts }: FirstRound): Finding[] {
  const { pictures } = analysis;
  if (!pictures) return [];
  return shown.flatMap((finding) => {
    const place = placeInOriginal(finding, planned);
    if (!place || isExplained(finding, place, { analysis, verdicts })) return [];
    return [moved(finding, place, pictures)];
  });
}

interface Place {
  readonly firstFrame: number;
  readonly lastFrame: number;
}

/**
 * Finds repeats that were removed as inserted although the motion jumps across the seam: pictures were lost under them.
 * Not if the sound contradicts it, by being no longer than the remaining pictures.
 */
export function heldAfterAll({ analysis, planned, shown, verdicts, resultInfo }: FirstRound): Finding[] {
  const { pictures } = analysis;
  if (!pictures) return [];
  const surplusMs = soundSurplusMs(resultInfo);
  const removed = verdicts.filter(({ action }) => action === 'removed_repeats').map(({ finding }) => finding);
  return removed.filter(({ firstFrame, lastFrame, count }) => {
    if (!lengthsSpeakFor(surplusMs, ticksToMs(count * pictures.medianIntervalTicks, pictures.timeBase)))
      return false;
    return shown.some((jump) => {
      if (jump.detector !== 'detect-hidden-drops' || jump.firstFrame === null) return false;
      const before = planned[jump.firstFrame]?.placeFrame ?? null;
      const after = planned[jump.firstFrame + 1]?.placeFrame ?? null;
      return before === (firstFrame ?? 0) - 1 && after === (lastFrame ?? 0) + 1;
    });
  });
}

/**
 * Repeats that look inserted, although the first result's pictures are not longer than the sound by half of them.
 * Perhaps only a part of the run shows, whose end tells nothing. Removed, they would make everything after them early;
 * held ones move nothing.
 */
function isTooLongFor({ count }: Finding, { analysis: { pictures }, resultInfo }: FirstRound): boolean {
  const surplusMs = soundSurplusMs(resultInfo);
  if (surplusMs === null || !pictures) return false;
  return !lengthsSpeakFor(-surplusMs, ticksToMs(count * pictures.medianIntervalTicks, pictures.timeBase));
}

/** How much longer the sound is than the pictures, ms; null without sound. */
function soundSurplusMs({ video, audio }: FirstRound['resultInfo']): number | null {
  const [pictureMs, soundMs] = [video[0]?.durationMs ?? null, audio[0]?.durationMs ?? null];
  return pictureMs === null || soundMs === null ? null : soundMs - pictureMs;
}

/**
 * Finds damage whose rebuilt pictures show a jump or a repeat themselves; the decoder's concealment may be closer to
 * the truth.
 */
export function badlyRebuilt({
  planned,
  shown,
  verdicts,
}: Pick<FirstRound, 'planned' | 'shown' | 'verdicts'>): Finding[] {
  const rebuilt = verdicts.filter(
    ({ action, finding }) => action === 'rebuilt_frames' && finding.kind === 'corrupted_section',
  );
  const isNew = (frame: number) => planned[frame]?.originalFrame === null;
  return rebuilt.flatMap(({ finding }) => {
    const lies = (frame: number) => {
      const place = planned[frame]?.placeFrame ?? -1;
      return place >= (finding.firstFrame ?? 0) && place <= (finding.lastFrame ?? -1);
    };
    const shows = shown.some(({ kind, firstFrame, lastFrame }) => {
      if (kind === 'corrupted_section' || firstFrame === null || lastFrame === null) return false;
      return [firstFrame, lastFrame].some((frame) => isNew(frame) && lies(frame));
    });
    return shows ? [finding] : [];
  });
}

function placeInOriginal(
  { kind, firstFrame, lastFrame }: Finding,
  planned: readonly PlannedPicture[],
): Place | null {
  if (firstFrame === null || lastFrame === null) return null;
  if (kind !== 'stuttered_cut') return null;
  const places = planned.slice(firstFrame, lastFrame + 1).map(({ placeFrame }) => placeFrame);
  const [first] = places;
  if (typeof first !== 'number' || places.length !== lastFrame + 1 - firstFrame) return null;
  const isWhole = places.every((place, index) => place === first + index);
  return isWhole ? { firstFrame: first, lastFrame: first + places.length - 1 } : null;
}

/**
 * Largest distance between a defect and one that it hides, pictures: the detectors compare a run with as many on each
 * side. Farther away it may be a natural rest or jerk.
 */
const BESIDE = 6;

function isExplained(
  { kind }: Finding,
  { firstFrame, lastFrame }: Place,
  { analysis, verdicts }: Pick<FirstRound, 'analysis' | 'verdicts'>,
): boolean {
  const meets = (other: Finding, beside: number) =>
    other.firstFrame !== null &&
    other.lastFrame !== null &&
    other.firstFrame <= lastFrame + beside &&
    other.lastFrame >= firstFrame - beside;
  const isKnown = analysis.findings.some((other) => other.kind === kind && meets(other, 0));
  const isTrace = verdicts.some(({ action, finding }) => action === 'concealed_frames' && meets(finding, 1));
  const isBeside = verdicts.some(({ outcome, finding }) => outcome === 'repaired' && meets(finding, BESIDE));
  return isKnown || isTrace || !isBeside;
}

function moved(finding: Finding, { firstFrame, lastFrame }: Place, times: PictureTimes): Finding {
  return {
    ...finding,
    firstFrame,
    lastFrame,
    startMs: frameStartMs(times, firstFrame),
    endMs: frameEndMs(times, lastFrame),
    foundIn: 'result',
  };
}
