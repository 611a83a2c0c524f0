import type { MediaInfo } from '#server/media/probe.ts';
import type { RepairPlan } from '../repair/plan-repair.ts';
import type { PictureTask } from '../repair/picture-task.ts';
import { MAX_INTERPOLATED } from '../repair/rebuild-pictures.ts';

/**
 * Expected milliseconds of the steps behind the analysis, the weights of the progress bar. Ratios measured
 * on a 1080p30 clip of 15 s at preset veryfast; the analysis of the same clip on the same machine sets the scale.
 */
const COPY_MS = 300;
/** Starting the tools that open a clip and list its packets, and analysing a picture of a megapixel (two idle cores). */
const OPEN_MS = 400;
const ANALYSE_MS_A_MEGAPIXEL = 3;
/** A machine is not taken for faster or slower than this against the one that was measured on. */
const SLOWNESS = { least: 0.5, most: 10 } as const;
/** Coding all pictures anew against analysing them: 29 s against 10 s. */
const ENCODE_RATIO = 3;
/** Coding the damaged groups anew and checking the result, against analysing the clip (1.3 to 2.9). */
const SMART_RENDER_RATIO = 2.2;
/** Moving or stretching the sound: two passes over the samples and one encode, against analysing the clip. */
const SOUND_RATIO = 0.3;
/** Wind on top: the network looks at each of its spectra (1.6 to 2.1). */
const WIND_RATIO = 1.7;
/** Motion between two pictures of a megapixel (74 to 187 ms on three clips), and one picture made along it. */
const FIELD_MS_A_MEGAPIXEL = 180;
const WARP_MS_A_MEGAPIXEL = 50;
/** Decoding the true pictures around a hole. */
const HOLE_MS = 250;

/** Expected milliseconds of analysing the pictures of an opened clip, on two idle cores. */
function decodeMs({ video, durationMs }: MediaInfo): number {
  const stream = video[0];
  if (!stream) return 0;
  const seconds = (stream.durationMs ?? durationMs ?? 0) / 1000;
  const pictures = stream.frameCount ?? seconds * (stream.frameRate ?? 30);
  return (pictures * stream.width * stream.height * ANALYSE_MS_A_MEGAPIXEL) / 1e6;
}

/** Share of the analysis that is over when the clip is open and its packets are listed, 0 to 1. */
export function openShare(info: MediaInfo): number {
  return OPEN_MS / (OPEN_MS + decodeMs(info));
}

/** How much slower this machine is now than the one that was measured on, told by the analysis. */
function slowness(analysisMs: number, info: MediaInfo): number {
  return Math.min(SLOWNESS.most, Math.max(SLOWNESS.least, analysisMs / (OPEN_MS + decodeMs(info))));
}

/** Making the pictures of some tasks. */
export function pictureCostMs(analysisMs: number, tasks: readonly PictureTask[], info: MediaInfo): number {
  return slowness(analysisMs, info) * idleCostMs(tasks, info);
}

function idleCostMs(tasks: readonly PictureTask[], info: MediaInfo): number {
  const stream = info.video[0];
  const megapixels = stream ? (stream.width * stream.height) / 1e6 : 1;
  return tasks.reduce((sum, task) => {
    if (task.kind === 'remove') return sum + 1;
    const count = task.slotTicks.length;
    if (count > MAX_INTERPOLATED) return sum + HOLE_MS;
    // Beside the hole the methods are tried on one stretch of true pictures, two of which are made.
    const made = 2 * FIELD_MS_A_MEGAPIXEL + (count + 2) * WARP_MS_A_MEGAPIXEL;
    return sum + HOLE_MS + made * megapixels;
  }, 0);
}

/** Repairing the sound. */
export function soundCostMs(analysisMs: number, findings: RepairPlan['sound']): number {
  if (findings.length === 0) return 0;
  const hasWind = findings.some(({ kind }) => kind === 'wind_noise');
  return analysisMs * (SOUND_RATIO + (hasWind ? WIND_RATIO : 0));
}

/** Writing and checking the result. */
export function exportCostMs(analysisMs: number, info: MediaInfo, repaint: 'none' | 'some' | 'all'): number {
  const ratio = { none: 0, some: SMART_RENDER_RATIO, all: ENCODE_RATIO + 1 }[repaint];
  return COPY_MS * slowness(analysisMs, info) + analysisMs * ratio;
}

/** Everything behind the analysis. */
export function laterCostMs(job: {
  readonly analysisMs: number;
  readonly info: MediaInfo;
  readonly plan: RepairPlan;
  readonly encodeAll: boolean;
}): number {
  const { plan, analysisMs } = job;
  const tasks = [...plan.cuts, ...plan.frames];
  const sound = soundCostMs(analysisMs, plan.sound);
  const repaint = job.encodeAll ? 'all' : tasks.length > 0 ? 'some' : 'none';
  const pictures = pictureCostMs(analysisMs, tasks, job.info);
  return pictures + sound + exportCostMs(analysisMs, job.info, repaint);
}
