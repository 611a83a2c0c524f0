import { link, rename, rm } from 'node:fs/promises';
import type { StreamTreatment } from '#common/report.ts';
import { hideTail } from '#server/media/mp4/hide-tail.ts';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';
import { carryOtherTracks } from '#server/media/mp4/carry-other-tracks.ts';
import { shiftAudioTrack } from '#server/media/mp4/shift-track.ts';
import { probe, type MediaInfo } from '#server/media/probe/probe.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { isToolFailure, MediaToolError, type ToolPaths } from '#server/media/ffmpeg/tools.ts';
import type { PictureTimes } from '../analyse/analysis.ts';
import type { KeptRun } from '../analyse/decode/kept-pictures.ts';
import { fullEncode } from '../repair/full-encode/full-encode.ts';
import { lostByCoding } from '../repair/full-encode/lost-by-coding.ts';
import type { PictureEdit } from '../repair/picture-edit.ts';
import type { RepairedAudio } from '../repair/sound/repair-audio.ts';
import { smartRender } from '../repair/smart-render/smart-render.ts';
import { MediaFailure } from '../media-failure.ts';
import type { MediaLimits } from '../worker-protocol.ts';
import { remuxPlan, type RemuxInput } from './export-plans.ts';
import { withoutLeftOut } from './kept-units.ts';
import type { PlaybackNeeds } from './playback.ts';

export interface ExportInput {
  /** The original, or its copy with a rebuilt index. */
  readonly inputPath: string;
  readonly info: MediaInfo;
  /** Times of the original's pictures as the analysis found them. */
  readonly pictures: PictureTimes | null;
  readonly edit: PictureEdit;
  readonly audio: RepairedAudio;
  readonly needs: PlaybackNeeds;
  /** Encode all pictures even if the damaged groups alone would do. */
  readonly encodeAll: boolean;
  readonly workDir: string;
  /** Base name of the files made in `workDir`. */
  readonly name: string;
  readonly tools: ToolPaths;
  readonly limits: MediaLimits;
  readonly signal?: AbortSignal;
  readonly onProgress?: (share: number) => void;
}

export interface ExportedClip {
  readonly path: string;
  /** What the finished file declares, if it was already read; else null. */
  readonly info: MediaInfo | null;
  /** What is missing from the result, in words for the report. */
  readonly notes: readonly string[];
  readonly video: StreamTreatment;
  readonly audio: StreamTreatment;
  /** Pictures of the original that were encoded again although they were not damaged, `[first, end)`. */
  readonly reencodedSpans: readonly { readonly firstFrame: number; readonly endFrame: number }[];
  /** Originals in whose places other pictures may be shown now; null if unknown. */
  readonly altered: ReadonlySet<number> | null;
  /** Originals before which lost reference pictures were filled in like damaged ones. */
  readonly concealedLost: readonly number[];
  /** Originals of which only the order counts changed; they show what they showed. */
  readonly recounted: readonly number[];
  /** Small grey pictures of the altered ones that a strict decode has shown, by display number of the original. */
  readonly seen: readonly KeptRun[];
}

/** Share of the export that goes into the pictures; copying streams is as fast as the disk. */
const PICTURE_SHARE = 0.95;

/**
 * Writes the repaired clip in the gentlest way. Coded pictures are copied unless an edit or their codec prevents it,
 * only damaged groups are encoded again if possible, and sound is copied unless it was repaired or cannot be played.
 * @throws MediaFailure `too_large` when the pictures must be encoded but are larger than allowed
 * @throws MediaToolError when ffmpeg cannot run
 */
export async function exportVideo(input: ExportInput): Promise<ExportedClip> {
  const pictures = await exportPictures(input);
  const written = await exportSound(input, pictures);
  const { path, info, notes } = await addOtherTracks(input, written);
  input.onProgress?.(1);
  const lost = pictures.video.treatment === 'full_encode' ? lostByCoding(input.info.video[0]) : null;
  const recounted = pictures.recounted ?? [];
  return {
    path,
    info,
    notes: [
      ...notes,
      ...(lost === null ? [] : [lost]),
      ...(recounted.length > 0 ? [recountedNote(recounted.length)] : []),
    ],
    video: written.video,
    audio: soundTreatment(input),
    reencodedSpans: pictures.reencodedSpans,
    altered: pictures.altered,
    concealedLost: pictures.concealedLost ?? [],
    recounted,
    seen: pictures.seen,
  };
}

const recountedNote = (count: number) =>
  `${count === 1 ? '1 frame has a new number' : `${count} frames have new numbers`} in the playing order, because there was none left for the missing frames; everything else in ${count === 1 ? 'it' : 'them'} is as it was, and looks exactly the same.`;

/** Carries other tracks into the finished clip that ffmpeg or a full encode left out. */
async function addOtherTracks(
  input: ExportInput,
  written: Pick<ExportedClip, 'path' | 'info'>,
): Promise<Pick<ExportedClip, 'path' | 'info' | 'notes'>> {
  if (input.info.format !== 'mov') return { ...written, notes: [] };
  const outputPath = `${input.workDir}/${input.name}.tracks.mp4`;
  const files = { fromPath: input.inputPath, intoPath: written.path, outputPath };
  try {
    if (!(await carryOtherTracks({ ...files, signal: input.signal }))) return { ...written, notes: [] };
  } catch (error) {
    if (!(error instanceof Mp4Error)) throw error;
    return { ...written, notes: [LEFT_OUT] };
  }
  await rename(outputPath, written.path);
  return { path: written.path, info: null, notes: [] };
}

const LEFT_OUT =
  'The result has picture and sound only: the other tracks (subtitles, chapters, time code or sensor data) could not be carried over.';

interface PictureStage extends Pick<ExportedClip, 'path' | 'video' | 'reencodedSpans' | 'altered' | 'seen'> {
  readonly info: MediaInfo;
  readonly concealedLost?: readonly number[];
  readonly recounted?: readonly number[];
}

async function exportPictures(input: ExportInput): Promise<PictureStage> {
  const { info, edit, needs } = input;
  const stream = info.video[0];
  const total = stream?.frameCount ?? null;
  const onProgress = (share: number) => input.onProgress?.(share * PICTURE_SHARE);
  const outputPath = `${input.workDir}/${input.name}.pictures.mp4`;
  const job = { ...input, outputPath, onProgress };
  const copied: PictureStage = {
    path: input.inputPath,
    info,
    video: { treatment: 'copied', reason: null, unitsKept: total, unitsTotal: total },
    reencodedSpans: [],
    altered: new Set(),
    seen: [],
  };
  if (edit.length === 0 && needs.video === null && !input.encodeAll) {
    return needs.container === null ? copied : repack(input, copied, outputPath);
  }
  let reason = needs.video ?? 're-encoding only the damaged frames did not pass its checks';
  if (needs.video === null && !input.encodeAll) {
    const rendered = await smartRender(job);
    if (rendered.done) {
      return {
        path: outputPath,
        info: await probe(input.tools, outputPath, 'mov', input.signal),
        video: {
          treatment: 'smart_render',
          reason: null,
          unitsKept: rendered.framesKept,
          unitsTotal: rendered.framesTotal,
        },
        reencodedSpans: rendered.reencodedSpans,
        altered: rendered.altered,
        concealedLost: rendered.concealedLost,
        recounted: rendered.recounted,
        seen: rendered.seen,
      };
    }
    reason = rendered.reason;
  }
  return encodeAll(input, outputPath, onProgress, reason);
}

/** Copies into MP4 without touching coded pictures; encodes them if the stream cannot be carried over. */
async function repack(input: ExportInput, copied: PictureStage, outputPath: string): Promise<PictureStage> {
  const { tools, signal } = input;
  const reason = input.needs.container;
  try {
    const stream = input.info.audio[0];
    const sound: RemuxInput['sound'] =
      stream && input.needs.audio !== null ? { kind: 'convert' } : { kind: 'copy' };
    const plan = remuxPlan({ videoPath: input.inputPath, videoInfo: input.info, sound, outputPath });
    await runFfmpeg(plan, { tools, signal });
    const info = await probe(tools, outputPath, 'mov', signal);
    if (info.video.length === 0) throw new MediaToolError('tool_failed', 'nothing was carried over');
    return { ...copied, path: outputPath, info };
  } catch (error) {
    if (!isToolFailure(error)) throw error;
  }
  return encodeAll(input, outputPath, input.onProgress, reason);
}

async function encodeAll(
  input: ExportInput,
  outputPath: string,
  onProgress: ExportInput['onProgress'],
  reason: string | null,
): Promise<PictureStage> {
  const stream = input.info.video[0];
  if (stream && stream.width * stream.height > input.limits.maxEncodePixels) {
    throw new MediaFailure(
      'too_large',
      `Mending this clip means encoding every frame of it anew, and frames of ${stream.width} × ${stream.height} are larger than this server can encode. Export it in a smaller size and try again.`,
      reason ?? '',
    );
  }
  const pictures = input.pictures ?? undefined;
  const encoded = await fullEncode({ ...input, pictures, outputPath, onProgress });
  return {
    path: outputPath,
    info: await probe(input.tools, outputPath, 'mov', input.signal),
    video: { treatment: 'full_encode', reason, unitsKept: 0, unitsTotal: encoded.framesTotal },
    reencodedSpans: [{ firstFrame: 0, endFrame: Number.MAX_SAFE_INTEGER }],
    altered: null,
    seen: [],
  };
}

/** Adds the repaired, shifted or converted sound to the pictures and returns the finished file. */
async function exportSound(
  input: ExportInput,
  pictures: PictureStage,
): Promise<Pick<ExportedClip, 'path' | 'info' | 'video'>> {
  const { audio, needs, tools, signal } = input;
  const { video } = pictures;
  const outputPath = `${input.workDir}/${input.name}.mp4`;
  if (audio.kind === 'copy' && audio.shiftMs !== 0) {
    if (becomesAac(input, pictures)) {
      const moved = await movedFirst(input, pictures, audio.shiftMs);
      if (moved) return moved;
    } else if (await shiftByEditList(pictures.path, outputPath, audio.shiftMs, signal)) {
      return { path: outputPath, info: null, video };
    }
  }
  const sound = soundSource(input, pictures);
  // A tool that copies pictures without sound may declare the last one shorter than it was.
  const isSilent = sound.kind === 'none' && pictures.info.audio.length === 0;
  const isKept = (sound.kind === 'copy' || isSilent) && !needs.brokenSound;
  if (pictures.path === input.inputPath && isKept) {
    // If only the index was rebuilt or bytes restored, that file is complete and carries all tracks.
    await rm(outputPath, { force: true });
    await link(pictures.path, outputPath);
    return { path: outputPath, info: pictures.info, video };
  }
  if (isKept) {
    await rename(pictures.path, outputPath);
    return { path: outputPath, info: pictures.info, video };
  }
  const videoInfo = withSway(pictures.info, input.info);
  const plan = remuxPlan({ videoPath: pictures.path, videoInfo, sound, outputPath });
  await runFfmpeg(plan, {
    tools,
    signal,
    onProgress: ({ share }) => {
      if (share !== null) input.onProgress?.(PICTURE_SHARE + share * (1 - PICTURE_SHARE));
    },
  });
  const index = pictures.info.video[0]?.index ?? 0;
  if (pictures.info.format === 'mov') await hideTail(pictures.path, index, outputPath);
  return { path: outputPath, info: null, video: await withoutLeftOut(video, pictures, outputPath) };
}

/**
 * Moves sound that players cannot play as it is, and encodes it afterwards.
 * @returns null for files whose edit lists cannot carry the shift
 */
async function movedFirst(
  input: ExportInput,
  pictures: PictureStage,
  shiftMs: number,
): Promise<Pick<ExportedClip, 'path' | 'info' | 'video'> | null> {
  const { tools, signal } = input;
  const movedPath = `${input.workDir}/${input.name}.moved.mp4`;
  if (!(await shiftByEditList(pictures.path, movedPath, shiftMs, signal))) return null;
  try {
    const info = await probe(tools, movedPath, 'mov', signal);
    return await exportSound(
      { ...input, audio: { kind: 'copy', shiftMs: 0 } },
      { ...pictures, path: movedPath, info },
    );
  } finally {
    await rm(movedPath, { force: true });
  }
}

/** @returns false for files whose edit lists cannot carry the shift (fragments); a remux then moves the times */
async function shiftByEditList(
  inputPath: string,
  outputPath: string,
  shiftMs: number,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  try {
    await shiftAudioTrack({ inputPath, outputPath, shiftMs, signal });
    return true;
  } catch (error) {
    if (error instanceof Mp4Error) return false;
    throw error;
  }
}

function soundSource(input: ExportInput, pictures: PictureStage): RemuxInput['sound'] {
  const { audio } = input;
  if (audio.kind === 'file') {
    const { path, startMs, shiftMs } = audio;
    return { kind: 'file', path, startMs, shiftMs };
  }
  if (audio.shiftMs !== 0 && input.needs.audio === null) {
    return { kind: 'file', path: pictures.path, startMs: audio.shiftMs, shiftMs: audio.shiftMs };
  }
  if (pictures.info.audio.length === 0 || input.needs.brokenSound) return { kind: 'none' };
  return becomesAac(input, pictures) ? { kind: 'convert' } : { kind: 'copy' };
}

/** Marks sound tracks that were copied beside the pictures like those that they were copied from. */
function withSway(copy: MediaInfo, { audio }: MediaInfo): MediaInfo {
  return {
    ...copy,
    audio: copy.audio.map((stream, at) =>
      stream.codec === audio[at]?.codec ? { ...stream, timesSway: audio[at].timesSway } : stream,
    ),
  };
}

/** Whether the sound must still be encoded; a full encode has already converted unplayable sound to AAC. */
function becomesAac({ needs }: ExportInput, { info }: PictureStage): boolean {
  const stream = info.audio[0];
  return needs.audio !== null && !needs.brokenSound && stream !== undefined && stream.codec !== 'aac';
}

function soundTreatment(input: ExportInput): StreamTreatment {
  const none = { unitsKept: null, unitsTotal: null };
  if (input.info.audio.length === 0) return { treatment: 'absent', reason: null, ...none };
  if (input.audio.kind === 'file') {
    const { spliced } = input.audio;
    return spliced
      ? {
          treatment: 'smart_render',
          reason: null,
          unitsKept: spliced.framesKept,
          unitsTotal: spliced.framesTotal,
        }
      : { treatment: 'full_encode', reason: 'the sound was repaired', ...none };
  }
  if (input.needs.audio !== null) return { treatment: 'full_encode', reason: input.needs.audio, ...none };
  return { treatment: 'copied', reason: null, ...none };
}
