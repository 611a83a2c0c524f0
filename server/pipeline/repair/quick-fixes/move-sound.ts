import { MediaToolError } from '#server/media/ffmpeg/tools.ts';
import { heardMove } from '../../publish/heard-move.ts';
import { writeSound, type Clip } from './change-sound.ts';
import { figure } from './clip-facts.ts';
import type { FixJob } from './fix-job.ts';
import { isRefusal } from './refusal.ts';

/** Cost of moving a sound, in the unit of `COST`. */
export const MOVE_COST = 0.5;
/** The goal for what is left of an offset after a repair, ms. */
const TOLERANCE_MS = 5;

/** A sound that was moved by hand, and what was heard of it on the result. */
export interface MovedSound {
  readonly shiftMs: number;
  /** How much later it is heard, measured, ms; null where nothing loud enough tells. */
  readonly movedMs: number | null;
  /** One sentence for people. */
  readonly words: string;
}

export interface ClipWithMove {
  readonly clip: Clip;
  /** Null if the sound could not be moved; the clip is then the same. */
  readonly sound: MovedSound | null;
}

/**
 * Moves the sound of a clip by hand. Pictures and sound keep their coded bytes, only the times change; where the sound
 * is heard afterwards is measured.
 * @param shiftMs added to the times of the sound; negative is earlier
 * @throws MediaToolError when the run is cancelled or stalls, or the disk is full
 */
export async function moveSound(job: FixJob, clip: Clip, shiftMs: number): Promise<ClipWithMove> {
  const { task, signal, stages, outcomes } = job;
  const { tools } = task;
  const unmoved = { clip, sound: null };
  if (clip.info.audio.length === 0) {
    outcomes.settle('sound-moved', 'unchanged', 'This clip has no sound.');
    return unmoved;
  }
  outcomes.working(['sound-moved']);
  try {
    return await stages.run(MOVE_COST, async () => {
      const moved = await writeSound(job, clip, { kind: 'copy', shiftMs }, 'moved-sound');
      const heard = (one: Clip) => ({ ...one, pictureMs: one.info.video[0]?.startMs ?? 0, tools, signal });
      const movedMs = await heardMove(heard(clip), heard(moved), shiftMs);
      if (movedMs !== null && Math.abs(movedMs - shiftMs) > TOLERANCE_MS)
        throw new MediaToolError('tool_failed', `the sound moved by ${movedMs} instead of ${shiftMs} ms`);
      const figures = movedMs === null ? [] : [figure('sound moved', 'ms', 0, movedMs)];
      const words = movedWords(shiftMs, clip, moved);
      outcomes.settle('sound-moved', 'applied', words, figures);
      return { clip: moved, sound: { shiftMs, movedMs, words } };
    });
  } catch (error) {
    if (!isRefusal(error)) throw error;
    job.tellRefusal(['sound-moved'], error);
    outcomes.settle(
      'sound-moved',
      'failed',
      'The sound of this clip could not be moved, so it was left as it is.',
    );
    return unmoved;
  }
}

/** What became of a sound that was moved, in one sentence. Some that no player can play are converted with it. */
function movedWords(shiftMs: number, from: Clip, to: Clip): string {
  const kept =
    from.info.audio[0]?.codec === to.info.audio[0]?.codec ? 'frames and sound keep' : 'frames keep';
  return `The sound now comes ${Math.abs(shiftMs)} ms ${shiftMs < 0 ? 'earlier' : 'later'}; ${kept} their coded data.`;
}
