import type { AudioStreamInfo, VideoStreamInfo } from '#server/media/probe/probe.ts';
import type { RepairPlan } from '../repair/plan-repair.ts';
import type { PictureTask } from '../repair/picture-task.ts';
import { MAX_INTERPOLATED } from '../repair/rebuild-pictures/rebuild-pictures.ts';

/**
 * Expected milliseconds of the steps behind the analysis, the weights of the progress bar, from processor times of this process and its
 * tools, step by step, on twelve real clips of 0.13 to 2.1 megapixels with one to three planted kinds of defects (2026-11-22). The
 * analysis of the same clip on the same machine sets the scale.
 */
const COPY_MS = 250;
/** Joining a new sound to the old pictures, and hearing the result once more. */
const JOIN_SOUND_MS = 250;
/**
 * Opening a clip and listing its packets; what else of an analysis takes as long for small pictures as for large ones (both together 0.7 to
 * 0.9 s in six clips); and analysing a picture of a megapixel.
 */
const OPEN_MS = 400;
const STEADY_MS = 350;
const ANALYSE_MS_A_MEGAPIXEL = 3;
/** Analysing a clip with damage against the same clip without: 1.7 to 2.4 in two clips with groups of 30 and 250 pictures. */
export const DAMAGED_ANALYSIS = 2;
/** A machine is not taken for faster or slower than this against the one that was measured on. */
const SLOWNESS = { least: 0.5, most: 10 } as const;
/** Coding all pictures anew against analysing them: 29 s against 10 s. */
const ENCODE_RATIO = 3;
/** Coding groups anew: starting the process that decodes and encodes, and each picture of a megapixel. */
const REPAINT_MS = 200;
const REPAINT_MS_A_MEGAPIXEL = 24;
/**
 * H.264 groups that keep more than this behind a stretch with as many pictures as before keep it, and damage is exchanged:
 * a few pictures are coded with it, and the group is decoded before and after (in parts of coding a picture anew).
 */
const MOST_CODED = 48;
const CODED_WITH_A_STRETCH = 8;
const DECODED = 0.2;
const DECODED_DAMAGED = 0.5;
/** Longer groups are entered nearer to the edit, but for damaged ones, which are coded to their end. */
const MOST_OF_A_GROUP = 90;
/** Checking a result of which groups are new: hashes, the pictures beside them, the poster; and each picture coded anew. */
const CHECK_MS = 350;
const CHECK_MS_A_MEGAPIXEL = 4;
/** Moving or stretching the sound: two passes over the samples and one encode, against analysing the clip. */
const SOUND_RATIO = 0.3;
/** Wind: passes over a second of sound, and the network's look at the spectra of a second of one channel. */
const WIND_MS_A_SECOND = 45;
const WIND_MS_A_CHANNEL_SECOND = 22;
/** Many clips carry one sound in two channels, which is looked at once. */
const CHANNELS_OF_STEREO = 1.5;
/** Motion between two pictures of a megapixel, and one picture made along it. */
const FIELD_MS_A_MEGAPIXEL = 110;
const WARP_MS_A_MEGAPIXEL = 30;
/** Decoding the true pictures around a hole. */
const HOLE_MS = 150;

/** What the costs of a clip depend on. */
export interface ClipMeasures {
  readonly durationMs: number | null;
  readonly video: readonly Pick<
    VideoStreamInfo,
    'width' | 'height' | 'frameRate' | 'frameCount' | 'durationMs'
  >[];
  readonly audio: readonly Pick<AudioStreamInfo, 'channels' | 'durationMs'>[];
}

/** Expected milliseconds of analysing the pictures of an opened clip, on two idle cores. */
function decodeMs({ video, durationMs }: ClipMeasures): number {
  const stream = video[0];
  if (!stream) return 0;
  const seconds = (stream.durationMs ?? durationMs ?? 0) / 1000;
  const pictures = stream.frameCount ?? seconds * (stream.frameRate ?? 30);
  return (pictures * stream.width * stream.height * ANALYSE_MS_A_MEGAPIXEL) / 1e6;
}

/** Share of the analysis that is over when the clip is open and its packets are listed, 0 to 1. */
export function openShare(info: ClipMeasures): number {
  return OPEN_MS / expectedAnalysisMs(info);
}

/** How much slower this machine is now than the one that was measured on, told by the analysis. */
function slowness(analysisMs: number, info: ClipMeasures): number {
  return Math.min(SLOWNESS.most, Math.max(SLOWNESS.least, analysisMs / expectedAnalysisMs(info)));
}

/** Making the pictures of some tasks. */
export function pictureCostMs(analysisMs: number, tasks: readonly PictureTask[], info: ClipMeasures): number {
  return slowness(analysisMs, info) * idleCostMs(tasks, info);
}

function idleCostMs(tasks: readonly PictureTask[], info: ClipMeasures): number {
  const megapixels = megapixelsOf(info);
  return tasks.reduce((sum, task) => {
    if (task.kind === 'remove') return sum + 1;
    const count = task.slotTicks.length;
    if (count > MAX_INTERPOLATED) return sum + HOLE_MS;
    // Beside the hole the methods are tried on one stretch of true pictures, two of which are made.
    const made = 2 * FIELD_MS_A_MEGAPIXEL + (count + 2) * WARP_MS_A_MEGAPIXEL;
    return sum + HOLE_MS + made * megapixels;
  }, 0);
}

/** Expected milliseconds of analysing a clip whose pictures are whole, on two idle cores. */
export function expectedAnalysisMs(info: ClipMeasures): number {
  return OPEN_MS + STEADY_MS + decodeMs(info);
}

/** Taking the wind out of a sound, on two idle cores. */
export function expectedWindMs(info: ClipMeasures): number {
  const stream = info.audio[0];
  if (!stream) return 0;
  const seconds = (stream.durationMs ?? info.durationMs ?? 0) / 1000;
  const channels = stream.channels === 1 ? 1 : CHANNELS_OF_STEREO;
  return seconds * (WIND_MS_A_SECOND + WIND_MS_A_CHANNEL_SECOND * channels);
}

/** Coding this many pictures anew, on two idle cores. */
export function expectedRepaintMs(info: ClipMeasures, pictures: number): number {
  return REPAINT_MS + REPAINT_MS_A_MEGAPIXEL * megapixelsOf(info) * pictures;
}

/** Checking a result with so many pictures coded anew, on two idle cores. */
export function expectedCheckMs(info: ClipMeasures, pictures: number): number {
  return CHECK_MS + CHECK_MS_A_MEGAPIXEL * megapixelsOf(info) * pictures;
}

function megapixelsOf(info: ClipMeasures): number {
  const stream = info.video[0];
  return stream ? (stream.width * stream.height) / 1e6 : 1;
}

/** A stretch that is changed, as far as its cost is concerned. */
export interface StretchToChange {
  /** Display order. */
  readonly firstFrame: number;
  /** Whether it has as many pictures as before. */
  readonly keepsCount: boolean;
  readonly isDamage: boolean;
}

/**
 * What changing some stretches costs, in pictures coded anew.
 * @param keyframe of each picture, whether a group begins there
 */
export function picturesToRepaint(
  stretches: readonly StretchToChange[],
  keyframe: readonly boolean[],
): number {
  const groups = new Map<number, StretchToChange[]>();
  for (const stretch of stretches) {
    const at = Math.min(stretch.firstFrame, keyframe.length - 1);
    const first = Math.max(0, keyframe.lastIndexOf(true, at));
    groups.set(first, [...(groups.get(first) ?? []), stretch]);
  }
  let sum = 0;
  for (const [first, own] of groups) {
    const next = keyframe.indexOf(true, first + 1);
    const end = next < 0 ? keyframe.length : next;
    sum += groupToRepaint(first, end, own);
  }
  return sum;
}

function groupToRepaint(first: number, end: number, own: readonly StretchToChange[]): number {
  const places = own.map(({ firstFrame }) => firstFrame);
  const whole = Math.max(1, end - Math.min(...places));
  const rest = Math.min(MOST_OF_A_GROUP, whole);
  const few = own.length * CODED_WITH_A_STRETCH;
  const isCounted = own.some(({ keepsCount }) => !keepsCount);
  if (own.some(({ isDamage }) => isDamage))
    return (isCounted ? whole : Math.min(rest, few)) + DECODED_DAMAGED * (end - first);
  if (isCounted) return rest;
  return rest > MOST_CODED ? few + DECODED * (Math.max(...places) - first) : rest;
}

/** Repairing the sound. */
export function soundCostMs(analysisMs: number, findings: RepairPlan['sound'], info: ClipMeasures): number {
  if (findings.length === 0) return 0;
  const hasWind = findings.some(({ kind }) => kind === 'wind_noise');
  const moved = findings.some(({ kind }) => kind !== 'wind_noise');
  const wind = hasWind ? expectedWindMs(info) * slowness(analysisMs, info) : 0;
  return wind + (moved ? analysisMs * SOUND_RATIO : 0);
}

/** What the last step changes. */
export interface ExportChange {
  /** Pictures that are coded anew. */
  readonly repaint: number | 'all';
  readonly sound: boolean;
}

/** Writing the result, and checking it. */
export function exportCostMs(
  analysisMs: number,
  info: ClipMeasures,
  change: ExportChange,
): { readonly writeMs: number; readonly checkMs: number } {
  const slow = slowness(analysisMs, info);
  const join = (COPY_MS + (change.sound ? JOIN_SOUND_MS : 0)) * slow;
  if (change.repaint === 'all') return { writeMs: join + ENCODE_RATIO * analysisMs, checkMs: analysisMs };
  if (change.repaint === 0) return { writeMs: 0.6 * join, checkMs: 0.4 * join };
  const writeMs = join + expectedRepaintMs(info, change.repaint) * slow;
  return { writeMs, checkMs: expectedCheckMs(info, change.repaint) * slow };
}

function toStretch(task: PictureTask): StretchToChange {
  const { firstFrame, endFrame, finding } = task;
  const count = task.kind === 'rebuild' ? task.slotTicks.length : 0;
  const isDamage = finding.kind === 'corrupted_section';
  return { firstFrame, keepsCount: count === endFrame - firstFrame, isDamage };
}

/** Everything behind the analysis. */
export function laterCostMs(job: {
  readonly analysisMs: number;
  readonly info: ClipMeasures;
  readonly plan: RepairPlan;
  readonly keyframe: readonly boolean[];
  readonly encodeAll: boolean;
}): number {
  const { plan, analysisMs, info } = job;
  const tasks = [...plan.cuts, ...plan.frames];
  const repaint = job.encodeAll ? 'all' : picturesToRepaint(tasks.map(toStretch), job.keyframe);
  const { writeMs, checkMs } = exportCostMs(analysisMs, info, { repaint, sound: plan.sound.length > 0 });
  const pictures = pictureCostMs(analysisMs, tasks, info);
  return pictures + soundCostMs(analysisMs, plan.sound, info) + writeMs + checkMs;
}
