import { rm } from 'node:fs/promises';
import type { MediaInfo } from '#server/media/probe.ts';
import type { ToolPaths } from '#server/media/tools.ts';
import type { Analysis } from '../analyse/analysis.ts';
import type { ChangedSpan } from './picture-edit.ts';
import type { PictureTask, RebuildTask, Verdict } from './picture-task.ts';
import { rebuildPictures, type RebuiltHole } from './rebuild-pictures.ts';
import { rawFormat } from './rebuild-pictures-raw.ts';

export interface PictureRepairInput {
  readonly inputPath: string;
  readonly analysis: Analysis;
  readonly tasks: readonly PictureTask[];
  /** All tasks of the clip: their pictures are no truth to rebuild others from. */
  readonly allTasks: readonly PictureTask[];
  /** Answers the path of a raw file by running number. */
  readonly rawPath: (index: number) => string;
  readonly tools: ToolPaths;
  readonly signal?: AbortSignal;
  readonly onProgress?: (share: number) => void;
}

/** One picture repair: what changes and what is said about it. */
export interface PictureRepair {
  /** Times on the original's axis; `composeEdit` joins the spans of all steps. */
  readonly span: ChangedSpan;
  readonly verdict: Verdict;
}

export interface PictureRepairs {
  readonly repairs: readonly PictureRepair[];
  readonly rawPaths: readonly string[];
}

/**
 * Makes the pictures for a list of tasks, one hole at a time: only new pictures are ever on the disk.
 * @throws MediaToolError when ffmpeg cannot run
 */
export async function repairPictures(input: PictureRepairInput): Promise<PictureRepairs> {
  const repairs: PictureRepair[] = [];
  const rawPaths: string[] = [];
  const { pictures, info } = input.analysis;
  const stream = info.video[0];
  const format = stream ? rawFormat(stream.pixelFormat, stream.width, stream.height) : null;
  const isBad = badPictures(input.analysis, input.allTasks);
  for (const [index, task] of input.tasks.entries()) {
    if (task.kind === 'remove') {
      const { firstFrame, endFrame, shiftAfterTicks } = task;
      repairs.push({
        span: { firstFrame, endFrame, pictures: [], shiftAfterTicks },
        verdict: removedVerdict(task, info, pictures?.timeBase),
      });
    } else if (pictures && format) {
      const rawPath = input.rawPath(index);
      const hole = await rebuildPictures({
        inputPath: input.inputPath,
        info,
        pictures,
        format,
        tools: input.tools,
        signal: input.signal,
        task,
        isBad,
        sceneCuts: input.analysis.sceneCuts,
        rawPath,
      });
      if (hole.rawCount > 0) rawPaths.push(rawPath);
      else await rm(rawPath, { force: true });
      const { firstFrame, endFrame, shiftAfterTicks } = task;
      repairs.push({
        span: { firstFrame, endFrame, pictures: hole.pictures, shiftAfterTicks },
        verdict: rebuiltVerdict(task, hole),
      });
    }
    input.onProgress?.((index + 1) / input.tasks.length);
  }
  return { repairs, rawPaths };
}

function badPictures(analysis: Analysis, tasks: readonly PictureTask[]): (frame: number) => boolean {
  const bad = new Set<number>();
  const mark = (first: number, end: number) => {
    for (let frame = first; frame < end; frame += 1) bad.add(frame);
  };
  for (const { kind, firstFrame, lastFrame } of analysis.findings) {
    const damaged = kind === 'corrupted_section' || kind === 'stuttered_cut';
    if (damaged && firstFrame !== null && lastFrame !== null) mark(firstFrame, lastFrame + 1);
  }
  for (const task of tasks) mark(task.firstFrame, task.endFrame);
  return (frame) => bad.has(frame);
}

function removedVerdict(
  task: Extract<PictureTask, { kind: 'remove' }>,
  info: MediaInfo,
  timeBase: { readonly num: number; readonly den: number } | undefined,
): Verdict {
  const count = task.endFrame - task.firstFrame;
  const ms = timeBase ? Math.round((-task.shiftAfterTicks * timeBase.num * 1000) / timeBase.den) : 0;
  const sound = info.audio.length > 0 ? ', so the sound fits the pictures again' : '';
  return {
    finding: task.finding,
    outcome: 'repaired',
    action: 'removed_repeats',
    after: null,
    explanation: `${frames(count)} removed and everything behind moved ${ms} ms forward${sound}.`,
  };
}

const HOW: Record<RebuiltHole['method'], string> = {
  motion: 'rebuilt from the neighbours along their motion',
  mixed: 'rebuilt from the neighbours, half along their motion and half by blending',
  blend: 'rebuilt by blending the neighbours',
  hold: 'filled with the nearest whole picture, because the sides do not show one scene',
  cross_fade: 'too many to rebuild: the last whole picture stays and fades over into the next',
};

function rebuiltVerdict(task: RebuildTask, hole: RebuiltHole): Verdict {
  const method = hole.method;
  const judged = hole.judgement;
  const proof =
    judged?.blendDb !== null && judged?.holdDb !== null && judged !== null && judged.trials > 0
      ? ` On ${judged.trials} true pictures beside it this scored ${scoreOf(judged)} dB, holding ${judged.holdDb.toFixed(1)} dB.`
      : '';
  const oneSided = task.before === null || task.after === null;
  const how = method === 'hold' && oneSided ? 'filled with the nearest whole picture' : HOW[method];
  return {
    finding: task.finding,
    outcome: 'repaired',
    action: method === 'hold' || method === 'cross_fade' ? 'held_frames' : 'rebuilt_frames',
    after: null,
    explanation: `${frames(task.slotTicks.length)} ${how}.${proof}`,
  };
}

function scoreOf(judged: NonNullable<RebuiltHole['judgement']>): string {
  const score = { motion: judged.motionDb, mixed: judged.mixedDb, blend: judged.blendDb }[judged.method];
  return score === null ? '?' : score.toFixed(1);
}

function frames(count: number): string {
  return count === 1 ? '1 picture' : `${count} pictures`;
}
