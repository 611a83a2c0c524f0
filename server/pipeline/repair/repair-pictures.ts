import { rm } from 'node:fs/promises';
import { ticksToMs } from '#server/media/time-base.ts';
import type { RepairAction } from '#common/report.ts';
import { HEVC_WARM_UP } from '#server/media/hevc/restart.ts';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';
import type { Analysis, PictureTimes } from '../analyse/analysis.ts';
import type { ChangedSpan } from './picture-edit.ts';
import type { PictureTask, RebuildTask, Verdict } from './picture-task.ts';
import {
  badPictures,
  badThemselves,
  hiddenData,
  tornPictures,
  repeatedPictures,
} from './damaged-pictures.ts';
import {
  MAX_INTERPOLATED,
  neededPictures,
  rebuildPictures,
  type RebuiltHole,
} from './rebuild-pictures/rebuild-pictures.ts';
import {
  decodePictures,
  type DecodeInput,
  type RebuildInput,
} from './rebuild-pictures/rebuild-pictures-decode.ts';
import { findTornBlocks } from './torn-blocks.ts';
import { isDamage } from './rebuild-pictures/rebuild-pictures-decoded.ts';
import { createRebuildKernels } from './rebuild-pictures/rebuild-pictures-judge.ts';
import { rawFormat } from './rebuild-pictures/rebuild-pictures-raw.ts';

export interface PictureRepairInput {
  readonly inputPath: string;
  readonly analysis: Analysis;
  readonly tasks: readonly PictureTask[];
  /** All tasks of the clip; their pictures must not be used to rebuild others. */
  readonly allTasks: readonly PictureTask[];
  /** Path of a raw file by running number. */
  readonly rawPath: (index: number) => string;
  readonly tools: ToolPaths;
  readonly signal?: AbortSignal;
  readonly onProgress?: (share: number) => void;
  /** Called for each defect as soon as its pictures are made. */
  readonly onRepaired?: (repair: PictureRepair) => void;
}

/** One picture repair: the change and the verdict. */
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
 * Makes the pictures for a list of tasks, one gap at a time; only new pictures are written to disk. Gaps close to each
 * other share one decoder run.
 * @throws MediaToolError when ffmpeg cannot run
 */
export async function repairPictures(input: PictureRepairInput): Promise<PictureRepairs> {
  const repairs = new Map<PictureTask, PictureRepair>();
  const rawPaths: string[] = [];
  const { pictures, info } = input.analysis;
  const stream = info.video[0];
  const format = stream ? rawFormat(stream.pixelFormat, stream.width, stream.height) : null;
  for (const task of input.tasks) {
    if (task.kind !== 'remove') continue;
    const { firstFrame, endFrame, shiftAfterTicks } = task;
    const under = task.underDamage && { underDamage: task.underDamage };
    const span = { firstFrame, endFrame, pictures: [], shiftAfterTicks, ...under };
    repairs.set(task, { span, verdict: removedVerdict(task, input) });
  }
  if (pictures && format) {
    const holes = planHoles(input, { ...input, info, pictures, format });
    const { findings } = input.analysis;
    const isRebuilt = (task: RebuildTask) => isDamage(task) && task.slotTicks.length <= MAX_INTERPOLATED;
    const rebuilt = holes.flatMap(({ hole: { task } }) => (isRebuilt(task) ? [task.finding] : []));
    const torn = await findTornBlocks(input.inputPath, info, findings, rebuilt.slice(0, MOST_READ));
    // A damaged key picture is concealed from the pictures before it; decoded first, it would be a grey field.
    const damaged = tornPictures(findings);
    const keyframe = pictures.keyframe.map((isKey, frame) => isKey && !damaged.has(frame));
    const decode = { ...input, info, pictures: { ...pictures, keyframe }, format };
    const most = MOST_HELD_BYTES / format.pictureBytes;
    for (const batch of batchGroups(groupHoles(holes, { keyframe }, most), isOfDamage, most)) {
      // One thread makes damage look the same every time, as long as the decoder's memory holds the same pictures.
      const isDamaged = batch.some(isOfDamage);
      const threads = isDamaged ? 1 : 2;
      const warmUp = isDamaged && stream?.codec === 'hevc' ? HEVC_WARM_UP : 0;
      const wanted = batch.map((group) => group.flatMap(({ needed }) => needed));
      const known = await decodePictures({ ...decode, threads, warmUp }, wanted);
      for (const { hole } of batch.flat()) {
        const repair = await repairHole({ ...hole, torn }, known, rawPaths);
        repairs.set(hole.task, repair);
        input.onRepaired?.(repair);
        input.onProgress?.(repairs.size / input.tasks.length);
      }
    }
  }
  return { repairs: input.tasks.flatMap((task) => repairs.get(task) ?? []), rawPaths };
}

/** Most damaged stretches whose readable parts are determined; each costs a tenth of a second. */
const MOST_READ = 24;

/** Most memory for decoded originals at once, bytes; a single gap may need more. */
const MOST_HELD_BYTES = 64 << 20;

export interface PlannedHole<Hole> {
  readonly hole: Hole;
  /** Display numbers of the originals that it needs. */
  readonly needed: readonly number[];
}

function planHoles(input: PictureRepairInput, decode: DecodeInput): PlannedHole<RebuildInput>[] {
  const { findings } = input.analysis;
  const bad = badPictures(findings);
  for (const { firstFrame, endFrame } of input.allTasks) {
    for (let frame = firstFrame; frame < endFrame; frame += 1) bad.add(frame);
  }
  const badItself = badThemselves(findings);
  const repeated = repeatedPictures(findings);
  const isRepeat = (frame: number) => repeated.has(frame);
  const isNeeded = input.tasks.some(({ kind }) => kind === 'rebuild');
  const kernels = isNeeded ? createRebuildKernels(decode.format) : undefined;
  return input.tasks.flatMap((task, index) => {
    if (task.kind === 'remove') return [];
    const { sceneCuts } = input.analysis;
    const noTruth = task.underDamage === 'decoded' ? badItself : bad;
    const isBad = (frame: number) => noTruth.has(frame);
    const rawPath = input.rawPath(index);
    const hole: RebuildInput = { ...decode, task, isBad, isRepeat, sceneCuts, kernels, rawPath };
    return [{ hole, needed: neededPictures(hole) }];
  });
}

/**
 * Groups gaps whose pictures one decoder run should deliver: neighbours in the list without a key frame between them,
 * up to `most` pictures.
 */
export function groupHoles<Hole>(
  holes: readonly PlannedHole<Hole>[],
  { keyframe }: Pick<PictureTimes, 'keyframe'>,
  most: number,
): PlannedHole<Hole>[][] {
  const groups: PlannedHole<Hole>[][] = [];
  let held = 0;
  let last = -1;
  for (const item of holes) {
    const [first, end] = [Math.min(...item.needed), Math.max(...item.needed)];
    const group = groups.at(-1);
    // A run that starts at a key frame after the last picture would skip what lies between.
    const skips = first > last && keyframe.lastIndexOf(true, first) > last;
    if (group && !skips && held + item.needed.length <= most) group.push(item);
    else {
      groups.push([item]);
      held = 0;
    }
    held += item.needed.length;
    last = Math.max(skips ? -1 : last, end);
  }
  return groups;
}

const isOfDamage = (group: readonly PlannedHole<Pick<RebuildInput, 'task'>>[]): boolean =>
  group.some(({ hole: { task } }) => isDamage(task) || task.underDamage !== undefined);

/** Most decoders in one process; each keeps some pictures in memory. */
const MOST_RUNS = 3;

/**
 * Combines groups that one process decodes, with one run for each. Starting a process costs as much as decoding 20
 * pictures.
 * @param most pictures that may be held at once
 */
export function batchGroups<Hole>(
  groups: readonly PlannedHole<Hole>[][],
  isDamaged: (group: readonly PlannedHole<Hole>[]) => boolean,
  most: number,
): PlannedHole<Hole>[][][] {
  const batches: PlannedHole<Hole>[][][] = [];
  const countOf = (batch: readonly (readonly PlannedHole<Hole>[])[]) =>
    batch.flat().reduce((sum, { needed }) => sum + needed.length, 0);
  for (const group of groups) {
    const batch = batches.at(-1);
    const isAlike = batch?.[0] !== undefined && !isDamaged(batch[0]) && !isDamaged(group);
    if (batch && isAlike && batch.length < MOST_RUNS && countOf([...batch, group]) <= most) batch.push(group);
    else batches.push([group]);
  }
  return batches;
}

async function repairHole(
  hole: RebuildInput,
  known: ReadonlyMap<number, Uint8Array>,
  rawPaths: string[],
): Promise<PictureRepair> {
  const { task, rawPath } = hole;
  const rebuilt = await rebuildPictures(hole, known);
  if (rebuilt.rawCount > 0) rawPaths.push(rawPath);
  else await rm(rawPath, { force: true });
  const { firstFrame, endFrame, shiftAfterTicks } = task;
  const score = rebuilt.judgement && scoreDb(rebuilt.judgement);
  const hiddenFrames = hiddenData(task.finding);
  return {
    span: {
      firstFrame,
      endFrame,
      pictures: rebuilt.pictures,
      shiftAfterTicks,
      ...((isDamage(task) || task.underDamage) && { mendsDamage: true }),
      ...(hiddenFrames && { hiddenFrames }),
      ...(task.underDamage && { underDamage: task.underDamage }),
      ...(score !== null && { scoredDb: score }),
    },
    verdict: rebuiltVerdict(task, rebuilt),
  };
}

function removedVerdict(
  task: Extract<PictureTask, { kind: 'remove' }>,
  { analysis, allTasks }: PictureRepairInput,
): Verdict {
  const { info, pictures } = analysis;
  const count = task.endFrame - task.firstFrame;
  const ms = pictures ? Math.round(ticksToMs(-task.shiftAfterTicks, pictures.timeBase)) : 0;
  const sound = info.audio.length > 0 ? ', so sound and picture are in sync again' : '';
  // What is put back elsewhere moves the frames behind it the other way.
  const putsBack = allTasks.some(({ shiftAfterTicks }) => shiftAfterTicks > 0);
  const moved = putsBack
    ? `, which are ${ms} ms`
    : `, and everything after them now comes ${ms} ms earlier${sound}`;
  return {
    finding: task.finding,
    outcome: 'repaired',
    action: 'removed_repeats',
    after: null,
    explanation: `${frames(count)} removed${moved}.`,
  };
}

const HOW: Record<RebuiltHole['method'], string> = {
  motion: 'rebuilt from their neighbours, following the motion',
  mixed: 'rebuilt from their neighbours, half following the motion and half blended',
  blend: 'rebuilt by blending their neighbours',
  hold: 'filled with the nearest intact frame, because both sides show different scenes',
  cross_fade: 'too many to rebuild: the last intact frame stays and fades into the next',
  decoded:
    'kept as far as they can be read and filled in from those around, which looks truer than rebuilding them; traces may show',
};

/** The same if there are intact pictures on one side only. */
const ONE_SIDED: Partial<Record<RebuiltHole['method'], string>> = {
  hold: 'filled with the nearest intact frame',
  decoded:
    'kept as far as they can be read and filled in, as there are intact frames on one side only; traces may show',
};

const NO_SIDE =
  'kept as far as they can be read: no intact frame is left to fill them in from, so what cannot be read may be grey or smeared';

const ACTIONS: Record<RebuiltHole['method'], RepairAction> = {
  motion: 'rebuilt_frames',
  mixed: 'rebuilt_frames',
  blend: 'rebuilt_frames',
  hold: 'held_frames',
  cross_fade: 'held_frames',
  decoded: 'concealed_frames',
};

function rebuiltVerdict(task: RebuildTask, hole: RebuiltHole): Verdict {
  const method = hole.method;
  const judged = hole.judgement;
  const proof =
    judged?.blendDb !== null && judged?.holdDb !== null && judged !== null && judged.trials > 0
      ? ` On ${judged.trials} true ${judged.trials === 1 ? 'frame' : 'frames'} beside it this scored ${scoreOf(judged)} dB, holding ${judged.holdDb.toFixed(1)} dB.`
      : '';
  const isMixed = method !== 'decoded' && hole.decodedCount > 0;
  const joined = hole.joinedCount ?? 0;
  const some = isMixed
    ? `, ${hole.decodedCount} of them kept as far as they can be read`
    : joined > 0
      ? `, joined with what is readable of ${joined === 1 ? 'one' : joined}`
      : '';
  const sides = [task.before, task.after].filter((frame) => frame !== null).length;
  const how =
    (sides === 0 && method === 'decoded' && NO_SIDE) || (sides < 2 && ONE_SIDED[method]) || HOW[method];
  return {
    finding: task.finding,
    outcome: 'repaired',
    action: ACTIONS[method],
    after: null,
    explanation: `${frames(task.slotTicks.length)} ${inNumber(how, task.slotTicks.length)}${some}.${proof}`,
  };
}

/** What is written of several frames, said of one. */
function inNumber(words: string, count: number): string {
  if (count !== 1) return words;
  return words
    .replace(/\btheir\b/g, 'its')
    .replace(/\bthey\b/g, 'it')
    .replace(/\bthem\b/g, 'it');
}

function scoreOf(judged: NonNullable<RebuiltHole['judgement']>): string {
  return scoreDb(judged)?.toFixed(1) ?? '?';
}

const scoreDb = (judged: NonNullable<RebuiltHole['judgement']>): number | null =>
  ({ motion: judged.motionDb, mixed: judged.mixedDb, blend: judged.blendDb })[judged.method];

function frames(count: number): string {
  return count === 1 ? '1 frame' : `${count} frames`;
}
