import { repairAudio, type RepairedAudio } from '../repair/sound/repair-audio.ts';
import type { RepairPlan } from '../repair/plan-repair.ts';
import type { Verdict } from '../repair/picture-task.ts';
import type { TimedClip } from './analyse-step.ts';
import type { JobContext } from './job-context.ts';
import { soundCostMs } from './step-costs.ts';
import { storedSound } from './stored-values.ts';

export interface SoundRepair {
  readonly audio: RepairedAudio;
  readonly verdicts: readonly Verdict[];
}

export const UNTOUCHED_SOUND: SoundRepair = { audio: { kind: 'copy', shiftMs: 0 }, verdicts: [] };

/** Repairs offset, drift, holes and wind of the sound. */
export async function soundStep(job: JobContext, clip: TimedClip, plan: RepairPlan): Promise<SoundRepair> {
  if (plan.sound.length === 0) {
    const hasSound = clip.analysis.info.audio.length > 0;
    const why = hasSound
      ? 'Sound and picture are in sync as far as can be told, and no wind was heard.'
      : 'The clip has no sound.';
    job.steps.set('fixing_audio', 'not_needed', why);
    return UNTOUCHED_SOUND;
  }
  job.steps.set('fixing_audio', 'running');
  job.meter.begin('fixing_audio', soundCostMs(clip.pace, plan.sound));
  const { value, tookMs } = await job.store.run('fixing_audio', storedSound, async () => {
    const repaired = await repairAudio({
      inputPath: clip.path,
      info: clip.analysis.info,
      findings: [...plan.sound],
      workDir: job.task.workDir,
      tools: job.task.tools,
      signal: job.signal,
      onProgress: job.meter.report,
    });
    const { audio, verdicts } = repaired;
    return { value: { audio, verdicts }, files: audio.kind === 'file' ? [audio.path] : [] };
  });
  job.live.settle(value.verdicts);
  job.meter.end();
  const repaired = value.verdicts.filter(({ outcome }) => outcome === 'repaired').length;
  job.steps.set('fixing_audio', 'done', `${repaired} of ${value.verdicts.length} repaired.`, tookMs);
  return value;
}
