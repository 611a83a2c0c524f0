import path from 'node:path';
import { stat } from 'node:fs/promises';
import type { FixId } from '#common/fixes.ts';
import { carryOtherTracks } from '#server/media/mp4/carry-other-tracks.ts';
import { readEndNote } from '#server/media/mp4/end-note.ts';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';
import { probe } from '#server/media/probe/probe.ts';
import { sniffFile } from '#server/media/probe/sniff-container.ts';
import { listPackets } from '../../analyse/packets/list-packets.ts';
import { readPackets } from '../../analyse/packets/read-packets.ts';
import { MediaFailure, toFailure } from '../../media-failure.ts';
import { carryMended } from '../../mended-pictures.ts';
import { summarise } from '../../publish/build-report.ts';
import { makePoster } from '../../publish/make-poster.ts';
import { hashFile } from '../../steps/step-store.ts';
import type { ApplyFixesResult, ApplyFixesTask, FixesMessage } from '../../worker-protocol.ts';
import { FIX_BUILDERS, VISUAL_ORDER, type FixStep, type VisualStep } from './build-fixes.ts';
import { changePictures, type ChangedPictures } from './change-pictures.ts';
import { enhanceVoice, repairSound, type Clip } from './change-sound.ts';
import { createFixJob, type FixJob } from './fix-job.ts';
import { createExportWork, makeExport, type ExportWork, type MadeExport } from './make-exports.ts';
import { expectedCost, makingCost, measureFacts, type Measured } from './measure-facts.ts';

export interface ApplyFixesIo {
  /** Aborting ends the running media tool; the task then answers `cancelled`. */
  readonly signal: AbortSignal;
  readonly send: (message: FixesMessage) => void;
}

/**
 * Applies the chosen quick fixes to a finished clip. It measures the clip, plans from the measures, encodes the
 * pictures once for all visual fixes (copies them if only the sound changes), and makes platform files from the result.
 * Every fix is measured on the result, and one that did not help is dropped. It throws nothing for a clip that cannot
 * be fixed.
 */
export async function applyFixes(task: ApplyFixesTask, io: ApplyFixesIo): Promise<ApplyFixesResult> {
  return asResult(io.signal, () => run(createFixJob(task, io.signal, io.send)));
}

/** Turns what a request throws into its answer. */
export async function asResult(
  signal: AbortSignal,
  work: () => Promise<ApplyFixesResult>,
): Promise<ApplyFixesResult> {
  try {
    return await work();
  } catch (error) {
    if (!signal.aborted) return toFailure(error);
    return {
      ok: false,
      code: 'cancelled',
      message: 'Applying was cancelled.',
      detail: toFailure(error).detail,
    };
  }
}

async function run(job: FixJob): Promise<ApplyFixesResult> {
  const { task, outcomes } = job;
  const source = await openClip(job);
  const stream = source.info.video[0];
  if (!stream) throw new MediaFailure('no_video_track', 'This clip has no pictures.');
  const chosen = new Set(task.fixes);
  job.stages.expect(expectedCost(chosen, source.info));
  outcomes.working(task.fixes.slice(0, 1));
  const measured = await measureFacts(job, source.info, stream);
  const steps = new Map(task.fixes.map((fix) => [fix, FIX_BUILDERS[fix](measured.facts, chosen)]));
  for (const [fix, step] of steps) {
    if (step.kind === 'skip') outcomes.settle(fix, step.state, step.detail, step.figures);
  }
  const toDo = task.fixes.filter((fix) => steps.get(fix)?.kind !== 'skip');
  job.stages.leave(makingCost(new Set(toDo), source.info));
  const pictures = await changeAll(job, measured, [...steps.values()]);
  let clip: Clip = pictures ?? source;
  const findings = [...steps.values()].flatMap((step) => (step.kind === 'repair-sound' ? step.findings : []));
  clip = await repairSound(job, source, clip, findings);
  if (steps.get('voice-enhance')?.kind === 'voice') clip = await enhanceVoice(job, clip);
  clip = await keepOtherTracks(job, source, clip);
  await keepRecord(job, source, clip);
  const known = clip.path === source.path ? measured.facts.loudness : undefined;
  const made = await makeExports(createExportWork(job, clip, known), steps);
  return {
    ok: true,
    clip: clip.path === source.path ? null : await describeClip(job, clip, pictures),
    exports: await Promise.all(
      made.map(async ({ fix, path: file }) => ({ fix, ...(await describeFile(file)) })),
    ),
    fixes: outcomes.list(),
  };
}

/** @throws MediaFailure `not_a_video` */
export async function openClip({ task, signal }: FixJob): Promise<Clip> {
  const format = await sniffFile(task.inputPath);
  if (!format) throw new MediaFailure('not_a_video', 'The stored clip cannot be read.');
  return { path: task.inputPath, info: await probe(task.tools, task.inputPath, format, signal) };
}

async function changeAll(
  job: FixJob,
  { facts, looked }: Measured,
  steps: readonly FixStep[],
): Promise<ChangedPictures | null> {
  const visual = VISUAL_ORDER.flatMap((fix) =>
    steps.filter((step): step is VisualStep => step.kind === 'visual' && step.fix === fix),
  );
  if (visual.length === 0) return null;
  if (!looked) throw new MediaFailure('damaged_beyond_repair', 'No frame of this clip can be read.');
  return changePictures(job, facts, looked, visual);
}

/**
 * Keeps in a new version what its source records of earlier repairs, as a new upload of it would not show what they were.
 * @param soundMovedMs how far the sound was moved by hand, ms
 */
export async function keepRecord(job: FixJob, source: Clip, clip: Clip, soundMovedMs = 0): Promise<void> {
  if (clip.path === source.path) return;
  // Most clips have no record; only for one are the pictures of both files counted.
  if (soundMovedMs === 0 && (await readEndNote(source.path)) === null) return;
  const counted = async (one: Clip) => ({ path: one.path, pictures: await countShown(job, one) });
  await carryMended(await counted(source), await counted(clip), soundMovedMs);
}

/** How many pictures of a clip are shown; those that an edit list hides do not count. */
export async function countShown({ task, signal }: FixJob, { path: file, info }: Clip): Promise<number> {
  const listed = await listPackets(file, info);
  const { video } = listed ?? (await readPackets({ inputPath: file, info, tools: task.tools, signal }));
  return video.filter(({ shown }) => shown).length;
}

/** Subtitles, chapters and telemetry of the clip are kept; silently dropped if they cannot be carried over. */
export async function keepOtherTracks({ task, signal }: FixJob, source: Clip, clip: Clip): Promise<Clip> {
  if (clip.path === source.path || source.info.format !== 'mov') return clip;
  const outputPath = path.join(task.workDir, 'tracks.mp4');
  try {
    const files = { fromPath: source.path, intoPath: clip.path, outputPath };
    if (!(await carryOtherTracks({ ...files, signal }))) return clip;
  } catch (error) {
    if (!(error instanceof Mp4Error)) throw error;
    return clip;
  }
  return { path: outputPath, info: await probe(task.tools, outputPath, 'mov', signal) };
}

async function makeExports(work: ExportWork, steps: ReadonlyMap<FixId, FixStep>): Promise<MadeExport[]> {
  const made: MadeExport[] = [];
  for (const [fix, step] of steps) {
    if (step.kind !== 'export') continue;
    const one = await makeExport(work, fix, step.platform);
    if (one) made.push(one);
  }
  return made;
}

export async function describeFile(file: string) {
  return { path: file, sha256: await hashFile(file), sizeBytes: (await stat(file)).size };
}

async function describeClip({ task, signal }: FixJob, clip: Clip, pictures: ChangedPictures | null) {
  const outputPath = path.join(task.workDir, 'poster.jpg');
  const atMs = pictures ? (pictures.posterMs ?? 0) : null;
  const { tools } = task;
  const posted =
    atMs !== null &&
    (await makePoster({ inputPath: clip.path, info: clip.info, atMs, outputPath, tools, signal }));
  return {
    ...(await describeFile(clip.path)),
    media: summarise(clip.info, null),
    posterPath: posted ? outputPath : null,
  };
}
