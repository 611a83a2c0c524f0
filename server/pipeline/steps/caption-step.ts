import type { CaptionCue, SoundMove } from '#common/report.ts';
import { toResultSoundMs } from '#common/time-axis.ts';
import type { Analysis } from '../analyse/analysis.ts';
import { addCaptions } from '../repair/add-captions.ts';
import type { RepairedAudio } from '../repair/sound/repair-audio.ts';
import type { JobContext } from './job-context.ts';
import type { SoundRepair } from './sound-step.ts';
import { storedCaptions } from './stored-values.ts';

export interface Captions {
  readonly cues: readonly CaptionCue[];
  /** WebVTT file; null when nobody speaks. */
  readonly path: string | null;
}

const COST_MS = 20;

/** Times caption cues by who speaks when. Words come from a speech engine or from people, never from here. */
export async function captionStep(
  job: JobContext,
  analysis: Analysis,
  { audio }: SoundRepair,
): Promise<Captions> {
  if (analysis.speech.length === 0) {
    const why =
      analysis.info.audio.length > 0 ? 'No speech was found in this clip.' : 'The clip has no sound.';
    job.steps.set('adding_captions', 'not_needed', why);
    return { cues: [], path: null };
  }
  job.steps.set('adding_captions', 'running');
  job.meter.begin('adding_captions', COST_MS);
  const inResult = resultTimeOf(audio);
  const { value, tookMs } = await job.store.run('adding_captions', storedCaptions, async () => {
    const captions: Captions = await addCaptions({
      speech: analysis.speech.map(({ startMs, endMs }) => {
        return { startMs: inResult(startMs), endMs: inResult(endMs) };
      }),
      durationMs: analysis.info.durationMs,
      workDir: job.task.workDir,
    });
    return { value: captions, files: captions.path === null ? [] : [captions.path] };
  });
  job.meter.end();
  const note = `${value.cues.length} timed cues; words need a speech engine.`;
  job.steps.set('adding_captions', 'done', note, tookMs);
  return value;
}

/**
 * Cues belong to the result and move with its sound.
 * @returns converts a time in the original to the time at which the same is heard in the result, ms
 */
export function resultTimeOf(audio: RepairedAudio): (ms: number) => number {
  const move = soundMoveOf(audio);
  return move === null ? (ms) => ms : (ms) => toResultSoundMs(ms, move);
}

/** Where a repair moved the sound; null if it is heard at the same time. */
export function soundMoveOf(audio: RepairedAudio): SoundMove | null {
  const { shiftMs } = audio;
  const [startMs, stretch] = audio.kind === 'copy' ? [0, 1] : [audio.startMs, audio.timeStretch];
  return shiftMs === 0 && stretch === 1 ? null : { shiftMs, startMs, stretch };
}
