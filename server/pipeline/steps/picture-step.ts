import { composeEdit } from '../repair/compose-edit.ts';
import { layOver } from '../repair/lay-over.ts';
import { keptFrames } from '../repair/picture-edit.ts';
import type { RepairPlan } from '../repair/plan-repair.ts';
import { repairPictures, type PictureRepair } from '../repair/repair-pictures.ts';
import type { TimedClip } from './analyse-step.ts';
import type { JobContext } from './job-context.ts';
import { pictureCostMs } from './step-costs.ts';
import { storedPictures } from './stored-values.ts';

const NOTHING = {
  fixing_cuts: 'The stuttered cuts could not be repaired.',
  recovering_frames: 'The missing or damaged frames could not be rebuilt.',
} as const;

/** Makes the pictures of one of the two picture steps. */
export async function pictureStep(
  job: JobContext,
  step: 'fixing_cuts' | 'recovering_frames',
  clip: TimedClip,
  plan: RepairPlan,
): Promise<readonly PictureRepair[]> {
  const tasks = step === 'fixing_cuts' ? plan.cuts : plan.frames;
  if (tasks.length === 0) {
    job.steps.set(step, 'not_needed', reasonFor(step, plan));
    return [];
  }
  job.steps.set(step, 'running');
  job.meter.begin(step, pictureCostMs(clip.pace, tasks));
  const { value, tookMs } = await job.store.run(step, storedPictures, async () => {
    const made = await repairPictures({
      inputPath: clip.path,
      analysis: clip.analysis,
      tasks,
      allTasks: [...plan.cuts, ...plan.frames],
      rawPath: (index) => job.store.file(`${step}-${index}.raw`),
      tools: job.task.tools,
      signal: job.signal,
      onProgress: job.meter.report,
      onRepaired: ({ verdict }) => job.live.settle([verdict]),
    });
    return { value: made.repairs, files: made.rawPaths };
  });
  job.live.settle(value.map(({ verdict }) => verdict));
  job.meter.end();
  job.steps.set(step, 'done', summary(value), tookMs);
  return value;
}

function reasonFor(step: 'fixing_cuts' | 'recovering_frames', plan: RepairPlan): string {
  const mine = (kind: string) => (kind === 'stuttered_cut') === (step === 'fixing_cuts');
  const pictures = new Set(['stuttered_cut', 'dropped_frames', 'corrupted_section']);
  const left = plan.left.filter(({ finding }) => pictures.has(finding.kind) && mine(finding.kind));
  if (left.length > 0) return NOTHING[step];
  return step === 'fixing_cuts' ? 'No cut stutters.' : 'No frame is missing or damaged.';
}

function summary(repairs: readonly PictureRepair[]): string {
  const edit = composeEdit(layOver(repairs).spans);
  const kept = edit.flatMap(keptFrames).length;
  const made = edit.reduce((sum, span) => sum + span.pictures.length, 0) - kept;
  const removed = edit.reduce(
    (sum, span) => sum + (span.pictures.length === 0 ? span.endFrame - span.firstFrame : 0),
    0,
  );
  const parts = [
    made > 0 ? `${made} rebuilt` : '',
    kept > 0 ? `${kept} kept as far as they can be read` : '',
    removed > 0 ? `${removed} repeats removed` : '',
  ];
  return `Frames: ${parts.filter(Boolean).join(', ')}.`;
}
