import type { MediaInfo } from '#server/media/probe.ts';
import type { RepairPlan } from '../repair/plan-repair.ts';
import type { PictureTask } from '../repair/picture-task.ts';
import { MAX_INTERPOLATED } from '../repair/rebuild-pictures.ts';

/**
 * Expected milliseconds of the steps behind the analysis, the weights of the progress bar. Ratios measured
 * on a 1080p30 clip of 15 s at preset veryfast; the analysis of the same clip on the same machine sets the scale.
 */
const COPY_MS = 300;
/** Coding all pictures anew against analysing them: 29 s against 10 s. */
const ENCODE_RATIO = 3;
/** Coding the damaged groups anew and checking the result, against analysing the clip (1.3 to 2.9). */
const SMART_RENDER_RATIO = 1.6;
/** Moving or stretching the sound: two passes over the samples and one encode, against analysing the clip. */
const SOUND_RATIO = 0.3;
/** Wind on top: the network looks at each of its spectra (1.6 to 2.1). */
const WIND_RATIO = 1.7;
/** Motion between two pictures of a megapixel (74 to 187 ms on three clips), and one picture made along it. */
const FIELD_MS_A_MEGAPIXEL = 180;
const WARP_MS_A_MEGAPIXEL = 50;
/** Decoding the true pictures around a hole. */
const HOLE_MS = 250;

/** Making the pictures of some tasks. */
export function pictureCostMs(tasks: readonly PictureTask[], info: MediaInfo): number {
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
export function exportCostMs(analysisMs: number, repaint: 'none' | 'some' | 'all'): number {
  const ratio = { none: 0, some: SMART_RENDER_RATIO, all: ENCODE_RATIO + 1 }[repaint];
  return COPY_MS + analysisMs * ratio;
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
  return pictureCostMs(tasks, job.info) + sound + exportCostMs(analysisMs, repaint);
}
