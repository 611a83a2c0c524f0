import { expectedAnalysisMs, expectedDecodedMs, type ClipMeasures } from '../analyse/analysis-costs.ts';
import type { RepairPlan } from '../repair/plan-repair.ts';
import type { PictureTask } from '../repair/picture-task.ts';
import { MAX_INTERPOLATED } from '../repair/rebuild-pictures/rebuild-pictures.ts';

/**
 * Expected milliseconds of the steps after the analysis, the weights of the progress bar, measured as in
 * `analysis-costs.ts`, step by step. The analysis of the same clip on the same machine sets the scale.
 */
const COPY_MS = 100;
/** Joining a new sound to the old pictures, and measuring the result's sound again. */
const JOIN_SOUND_MS = 250;
/** Limits for how much faster or slower a machine counts, compared with the measured one. */
const SLOWNESS = { least: 0.5, most: 10 } as const;
/** Encoding all pictures, compared with analysing them: 29 s against 10 s. */
const ENCODE_RATIO = 3;
/** Re-encoding a group: starting the decoder and the encoder, and each picture of a megapixel. */
const REPAINT_MS = 200;
const REPAINT_MS_A_MEGAPIXEL = 10;
/**
 * H.264 groups with more pictures than this after a stretch of unchanged length keep them, and damage is exchanged. A
 * few pictures are encoded with it, and the group is decoded before and after (as a share of encoding a picture).
 */
const MOST_CODED = 48;
const CODED_WITH_A_STRETCH = 8;
const DECODED = 0.2;
const DECODED_DAMAGED = 0.3;
/** For HEVC, each way to conceal damage is tried on the group: ten decodes. */
const DECODED_DAMAGED_HEVC = 5;
/** Longer groups are entered nearer to the edit, except damaged ones, which are encoded to their end. */
const MOST_OF_A_GROUP = 90;
/** Checking a result with new groups: hashes, the pictures next to them, the poster; and each re-encoded picture. */
const CHECK_MS = 230;
const CHECK_MS_A_MEGAPIXEL = 1.2;
/** Moving or stretching the sound: two passes over the samples and one encode, compared with analysing the clip. */
const SOUND_RATIO = 0.3;
/** Wind: passes over a second of sound, and the network on a second of one channel. */
const WIND_MS_A_SECOND = 25;
const WIND_MS_A_CHANNEL_SECOND = 13;
/** Many clips carry the same sound in two channels, which is processed once. */
const CHANNELS_OF_STEREO = 1.5;
/** Motion between two pictures of a megapixel, and one picture made along it. */
const FIELD_MS_A_MEGAPIXEL = 70;
const WARP_MS_A_MEGAPIXEL = 20;
/** Decoding the true pictures around a gap. */
const HOLE_MS = 80;

/** A clip, and how much slower this machine is now than the measured one. */
export interface ClipPace {
  readonly info: ClipMeasures;
  readonly slowness: number;
}

/**
 * How fast the machine is now, judged by the analysis.
 * @param decodedMs time for opening the clip and decoding it
 * @param keyframe whether a group begins at each picture
 */
export function paceOf(info: ClipMeasures, decodedMs: number, keyframe: readonly boolean[]): ClipPace {
  const told = decodedMs / expectedDecodedMs(info, keyframe);
  return { info, slowness: Math.min(SLOWNESS.most, Math.max(SLOWNESS.least, told)) };
}

const analysisMsAt = ({ info, slowness }: ClipPace) => slowness * expectedAnalysisMs(info);

/** Cost of making the pictures of some tasks. */
export function pictureCostMs({ info, slowness }: ClipPace, tasks: readonly PictureTask[]): number {
  return slowness * idleCostMs(tasks, info);
}

function idleCostMs(tasks: readonly PictureTask[], info: ClipMeasures): number {
  const megapixels = megapixelsOf(info);
  return tasks.reduce((sum, task) => {
    if (task.kind === 'remove') return sum + 1;
    const count = task.slotTicks.length;
    if (count > MAX_INTERPOLATED) return sum + HOLE_MS;
    // Next to the gap, the methods are tried on one stretch of true pictures, of which two are made.
    const made = 2 * FIELD_MS_A_MEGAPIXEL + (count + 2) * WARP_MS_A_MEGAPIXEL;
    return sum + HOLE_MS + made * megapixels;
  }, 0);
}

/** Cost of removing the wind from a sound, on two idle cores. */
export function expectedWindMs(info: ClipMeasures): number {
  const stream = info.audio[0];
  if (!stream) return 0;
  const seconds = (stream.durationMs ?? info.durationMs ?? 0) / 1000;
  const channels = stream.channels === 1 ? 1 : CHANNELS_OF_STEREO;
  return seconds * (WIND_MS_A_SECOND + WIND_MS_A_CHANNEL_SECOND * channels);
}

/** Cost of re-encoding, on two idle cores. */
export function expectedRepaintMs(info: ClipMeasures, { groups, pictures }: Repaint): number {
  return REPAINT_MS * groups + REPAINT_MS_A_MEGAPIXEL * megapixelsOf(info) * pictures;
}

/** Cost of checking a result with re-encoded pictures, on two idle cores. */
export function expectedCheckMs(info: ClipMeasures, { pictures }: Repaint): number {
  return CHECK_MS + CHECK_MS_A_MEGAPIXEL * megapixelsOf(info) * pictures;
}

function megapixelsOf(info: ClipMeasures): number {
  const stream = info.video[0];
  return stream ? (stream.width * stream.height) / 1e6 : 1;
}

/** The facts of a changed stretch that determine its cost. */
export interface StretchToChange {
  /** Display order. */
  readonly firstFrame: number;
  /** Whether it has as many pictures as before. */
  readonly keepsCount: boolean;
  readonly isDamage: boolean;
}

/** What is re-encoded: groups that are entered, and pictures; other work on groups counts as encoding some. */
export interface Repaint {
  readonly groups: number;
  readonly pictures: number;
}

/**
 * Cost of changing some stretches, in re-encoded pictures.
 * @param keyframe whether a group begins at each picture
 * @param codec of the pictures
 */
export function picturesToRepaint(
  stretches: readonly StretchToChange[],
  keyframe: readonly boolean[],
  codec = 'h264',
): Repaint {
  const groups = new Map<number, StretchToChange[]>();
  for (const stretch of stretches) {
    const at = Math.min(stretch.firstFrame, keyframe.length - 1);
    const first = Math.max(0, keyframe.lastIndexOf(true, at));
    groups.set(first, [...(groups.get(first) ?? []), stretch]);
  }
  let pictures = 0;
  for (const [first, own] of groups) {
    const next = keyframe.indexOf(true, first + 1);
    const end = next < 0 ? keyframe.length : next;
    pictures += groupToRepaint(first, end, own, codec === 'hevc' ? DECODED_DAMAGED_HEVC : DECODED_DAMAGED);
  }
  return { groups: groups.size, pictures };
}

function groupToRepaint(
  first: number,
  end: number,
  own: readonly StretchToChange[],
  decodedDamaged: number,
): number {
  const places = own.map(({ firstFrame }) => firstFrame);
  const whole = Math.max(1, end - Math.min(...places));
  const rest = Math.min(MOST_OF_A_GROUP, whole);
  const few = own.length * CODED_WITH_A_STRETCH;
  const isCounted = own.some(({ keepsCount }) => !keepsCount);
  if (own.some(({ isDamage }) => isDamage))
    return (isCounted ? whole : Math.min(rest, few)) + decodedDamaged * (end - first);
  if (isCounted) return rest;
  return rest > MOST_CODED ? few + DECODED * (end - first) : rest;
}

/** Cost of repairing the sound. */
export function soundCostMs(pace: ClipPace, findings: RepairPlan['sound']): number {
  if (findings.length === 0) return 0;
  const hasWind = findings.some(({ kind }) => kind === 'wind_noise');
  const moved = findings.some(({ kind }) => kind !== 'wind_noise');
  const wind = hasWind ? expectedWindMs(pace.info) * pace.slowness : 0;
  return wind + (moved ? analysisMsAt(pace) * SOUND_RATIO : 0);
}

/** What the last step changes. */
export interface ExportChange {
  /** Pictures that are re-encoded. */
  readonly repaint: Repaint | 'all';
  readonly sound: boolean;
}

/** Cost of writing the result, and of checking it. */
export function exportCostMs(
  pace: ClipPace,
  change: ExportChange,
): { readonly writeMs: number; readonly checkMs: number } {
  const { info, slowness } = pace;
  const join = (COPY_MS + (change.sound ? JOIN_SOUND_MS : 0)) * slowness;
  const analysisMs = analysisMsAt(pace);
  if (change.repaint === 'all') return { writeMs: join + ENCODE_RATIO * analysisMs, checkMs: analysisMs };
  if (change.repaint.groups === 0) return { writeMs: 0.5 * join, checkMs: 0.5 * join };
  const writeMs = join + expectedRepaintMs(info, change.repaint) * slowness;
  return { writeMs, checkMs: expectedCheckMs(info, change.repaint) * slowness };
}

function toStretch(task: PictureTask): StretchToChange {
  const { firstFrame, endFrame, finding } = task;
  const count = task.kind === 'rebuild' ? task.slotTicks.length : 0;
  const isDamage = finding.kind === 'corrupted_section';
  return { firstFrame, keepsCount: count === endFrame - firstFrame, isDamage };
}

/** Cost of everything after the analysis. */
export function laterCostMs(job: {
  readonly pace: ClipPace;
  readonly plan: RepairPlan;
  readonly keyframe: readonly boolean[];
  readonly encodeAll: boolean;
}): number {
  const { plan, pace } = job;
  const tasks = [...plan.cuts, ...plan.frames];
  const repaint = job.encodeAll
    ? 'all'
    : picturesToRepaint(tasks.map(toStretch), job.keyframe, pace.info.video[0]?.codec);
  const { writeMs, checkMs } = exportCostMs(pace, { repaint, sound: plan.sound.length > 0 });
  return pictureCostMs(pace, tasks) + soundCostMs(pace, plan.sound) + writeMs + checkMs;
}
