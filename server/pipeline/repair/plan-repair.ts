import { ticksToMs } from '#server/media/time-base.ts';
import type { MediaInfo } from '#server/media/probe/probe.ts';
import { surplusForLosses } from '../analyse/packets/picture-surplus.ts';
import { ACT_CONFIDENCE, type Analysis, type Finding, type PictureTimes } from '../analyse/analysis.ts';
import type { MediaLimits } from '../worker-protocol.ts';
import { badPictures, badThemselves, damagedData } from './damaged-pictures.ts';
import { planCut } from './repair-cuts.ts';
import { planFrames } from './repair-frames.ts';
import type { PictureTask, UnderDamage, Verdict } from './picture-task.ts';
import { MAX_INTERPOLATED } from './rebuild-pictures/rebuild-pictures.ts';
import { isRebuildableFormat } from './rebuild-pictures/rebuild-pictures-raw.ts';

export interface RepairPlan {
  /** For the step `fixing_cuts`. */
  readonly cuts: readonly PictureTask[];
  /** For the step `recovering_frames`. */
  readonly frames: readonly PictureTask[];
  /** Sound findings to repair, for the step `fixing_audio`. */
  readonly sound: readonly Finding[];
  /** Findings that stay as they are, each with a reason. */
  readonly left: readonly Verdict[];
  /** Those of `left` that other evidence contradicts: reported, but not counted as defects. */
  readonly contradicted: readonly Finding[];
}

/** Answer of a planner for one finding: a task, or the reason why there is none. */
export type Planned =
  | { readonly task: PictureTask }
  | { readonly reason: string; readonly contradicted?: boolean };

/** Facts that planners of picture repairs share. */
export interface PlanContext {
  readonly info: MediaInfo;
  readonly pictures: PictureTimes;
  readonly sceneCuts: readonly number[];
  /** True for pictures that any finding names as damaged or repeated; they are no true neighbours. */
  readonly isBad: (frame: number) => boolean;
  /** The same without those that only refer to damaged ones. */
  readonly isBadItself: (frame: number) => boolean;
  /**
   * How much longer the sound is than the pictures once repeats are removed, ms: the time that may be missing from the
   * pictures. Null without sound or without durations.
   */
  readonly surplusMs: number | null;
}

const FLAGS: Partial<Record<Finding['kind'], string>> = {
  shaky_footage: 'The camera shakes. The quick fix Stabilize Footage steadies it.',
  poor_lighting: 'The picture is dark. The quick fix Color Correction brightens it.',
  blurry_section: 'The picture is soft here. The quick fix Sharpen Video makes edges clearer.',
};

/**
 * Decides what happens to each finding. Pure: the same analysis gives the same plan. Weak evidence, defects beyond what
 * may be encoded here and overlapping defects get a reason in words; none is dropped silently.
 */
export function planRepair(analysis: Analysis, limits: MediaLimits): RepairPlan {
  const left: Verdict[] = [];
  const sound: Finding[] = [];
  const planned: PictureTask[] = [];
  const contradicted: Finding[] = [];
  let context = toContext(analysis);
  const obstacle = pictureObstacle(analysis.info, limits);

  for (const finding of byPriority(analysis.findings)) {
    const flag = FLAGS[finding.kind];
    if (finding.confidence < ACT_CONFIDENCE) {
      const percent = Math.floor(finding.confidence * 100);
      left.push(leave(finding, `Left as it is: it is too uncertain (${percent} % sure).`));
    } else if (flag !== undefined) {
      left.push({ finding, outcome: 'flagged', action: 'none', after: null, explanation: flag });
    } else if (finding.kind === 'audio_sync' || finding.kind === 'wind_noise') {
      sound.push(finding);
    } else if (!context) {
      left.push(leave(finding, 'Left as it is: it is not known when each frame is shown.'));
    } else if (obstacle !== null) {
      left.push(leave(finding, obstacle));
    } else {
      const underDamage = liesUnderDamage(finding, planned);
      const around = underDamage === 'decoded' ? { ...context, isBad: context.isBadItself } : context;
      const answer =
        finding.kind === 'stuttered_cut' ? planCut(finding, around) : planFrames(finding, around);
      if ('reason' in answer) {
        left.push(leave(finding, answer.reason));
        if (answer.contradicted) contradicted.push(finding);
      } else if (planned.some((task) => overlaps(task, answer.task) && !(underDamage && mendsDamage(task)))) {
        left.push(leave(finding, REBUILT_WITH_DAMAGE));
      } else {
        planned.push(underDamage ? { ...answer.task, underDamage } : answer.task);
        context = spend(context, answer.task);
      }
    }
  }
  planned.sort((a, b) => a.firstFrame - b.firstFrame);
  const isCut = (task: PictureTask) => task.finding.kind === 'stuttered_cut';
  return {
    cuts: planned.filter(isCut),
    frames: planned.filter((task) => !isCut(task)),
    sound,
    left,
    contradicted,
  };
}

/** The reason for a defect whose place is rebuilt anyway. */
export const REBUILT_WITH_DAMAGE = 'Lies inside a section that is rebuilt for a worse defect.';

/**
 * How to repair repeats and gaps inside damage, which is mostly kept as decoded. Whether they are repaired together
 * with it shows only when its pictures are made. It must be known which data are damaged.
 */
function liesUnderDamage(
  { detail, firstFrame, lastFrame }: Finding,
  planned: readonly PictureTask[],
): UnderDamage | undefined {
  const isHole = detail.kind === 'dropped_frames' && detail.placement !== 'instead';
  if (detail.kind !== 'stuttered_cut' && !isHole) return undefined;
  if (firstFrame === null || lastFrame === null) return undefined;
  const damage = planned.filter((task) => {
    return mendsDamage(task) && task.firstFrame <= lastFrame && task.endFrame > firstFrame;
  });
  if (damage.length === 0 || damage.some(({ finding }) => !damagedData(finding))) return undefined;
  const isGap = isHole && detail.history === 'timestamp_gap';
  return isGap && damage.every(isRebuilt) ? 'whole' : 'decoded';
}

/** Damage short enough to be rebuilt between intact pictures. */
const isRebuilt = (task: PictureTask) =>
  task.kind === 'rebuild' &&
  task.slotTicks.length <= MAX_INTERPOLATED &&
  task.before !== null &&
  task.after !== null;

const mendsDamage = ({ finding }: PictureTask) => finding.kind === 'corrupted_section';

/** Lost pictures that are put back use up the sound's excess. */
function spend(context: PlanContext, task: PictureTask): PlanContext {
  const { timeBase } = context.pictures;
  if (context.surplusMs === null || task.shiftAfterTicks <= 0) return context;
  return { ...context, surplusMs: context.surplusMs - ticksToMs(task.shiftAfterTicks, timeBase) };
}

function leave(finding: Finding, explanation: string): Verdict {
  return { finding, outcome: 'left_alone', action: 'none', after: null, explanation };
}

function toContext(analysis: Analysis): PlanContext | null {
  const { info, pictures, sceneCuts } = analysis;
  if (!pictures) return null;
  const bad = badPictures(analysis.findings);
  const badItself = badThemselves(analysis.findings);
  const removed = analysis.findings.reduce((sum, { detail, count, confidence }) => {
    const isRemoval = detail.kind === 'stuttered_cut' && detail.history === 'inserted';
    return isRemoval && confidence >= ACT_CONFIDENCE ? sum + count * pictures.medianIntervalTicks : sum;
  }, 0);
  return {
    info,
    pictures,
    sceneCuts,
    isBad: (frame) => bad.has(frame),
    isBadItself: (frame) => badItself.has(frame),
    surplusMs: soundSurplusMs(analysis, ticksToMs(removed, pictures.timeBase)),
  };
}

/** How much longer the sound is than the remaining pictures, ms; null when the container does not say. */
function soundSurplusMs({ info, ...heard }: Analysis, removedMs: number): number | null {
  const [picture] = info.video;
  const [sound] = info.audio;
  if (!picture || !sound || picture.durationMs === null || sound.durationMs === null) return null;
  const pictureStartMs = picture.startMs ?? 0;
  const soundStartMs = sound.startMs ?? 0;
  const pictureEndMs = pictureStartMs + picture.durationMs;
  const soundEndMs = Math.min(soundStartMs + sound.durationMs, heard.soundEndMs ?? Infinity);
  const spans = { pictureStartMs, pictureEndMs, soundStartMs, soundEndMs };
  return -surplusForLosses(spans, removedMs);
}

function pictureObstacle(info: MediaInfo, limits: MediaLimits): string | null {
  const stream = info.video[0];
  if (!stream) return 'Left as it is: the clip has no picture.';
  if (stream.width * stream.height > limits.maxEncodePixels) {
    return `Left as it is: ${stream.width} x ${stream.height} is larger than this server can encode.`;
  }
  if (!isRebuildableFormat(stream.pixelFormat)) {
    return `Left as it is: frames in the format ${stream.pixelFormat ?? 'unknown'} cannot be rebuilt.`;
  }
  return null;
}

// Damage outranks everything else at the same place; gaps in the times outrank estimated ones.
const PRIORITY: Partial<Record<Finding['kind'], number>> = { corrupted_section: 0, dropped_frames: 1 };

function byPriority(findings: readonly Finding[]): Finding[] {
  const rank = (finding: Finding) => PRIORITY[finding.kind] ?? 2;
  return [...findings].sort((a, b) => rank(a) - rank(b) || b.confidence - a.confidence);
}

function overlaps(a: PictureTask, b: PictureTask): boolean {
  if (a.firstFrame === b.firstFrame) return true;
  return a.firstFrame < b.endFrame && b.firstFrame < a.endFrame;
}
