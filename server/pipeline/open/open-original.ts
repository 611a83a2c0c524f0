import { open, rename, rm, stat } from 'node:fs/promises';
import { findHiddenMoov } from '#server/media/mp4/find-moov.ts';
import { ALLOWED_DECODERS, probe, type MediaInfo } from '#server/media/probe/probe.ts';
import { countLeadingZeros, describeEmptyTail } from '#server/media/probe/empty-bytes.ts';
import { sniffFile } from '#server/media/probe/sniff-container.ts';
import { isToolFailure, type MediaToolError, type ToolPaths } from '#server/media/ffmpeg/tools.ts';
import { countWhole, type Whole } from './count-whole.ts';
import { MediaFailure } from '../media-failure.ts';
import { mendSettings } from '../repair/rebuild-index/rebuild-index-description.ts';
import {
  NO_INDEX,
  rebuildIndex,
  replaceIndex,
  rewriteIndex,
  WHOLE_INDEX,
} from '../repair/rebuild-index/rebuild-index.ts';
import { formatSize } from '../repair/rebuild-index/rebuild-index-types.ts';
import { withAviTimes } from './avi-times.ts';
import { lengthsForStartCodes } from './lengths-for-start-codes.ts';
import { longestMs, withListedLengths } from './listed-lengths.ts';
import { mendAvi } from './mend-avi.ts';
import { withOwnSoundRate } from './own-sound-rate.ts';
import { noVideo, refuseHopeless, refuseUnknown, unsupportedPictures } from './refuse-hopeless.ts';
import { withOwnLostEnds } from './own-lost-ends.ts';
import { restoreBytes } from './restore-bytes.ts';
import { rewrapAvi } from './rewrap-avi.ts';
import type { MediaLimits } from '../worker-protocol.ts';

/** The clip as the rest of the job reads it. */
export interface OpenedClip {
  /** The original, or a copy of its media data with a rebuilt index, or in MP4. */
  readonly path: string;
  readonly info: MediaInfo;
  /** What was lost and found again when the index was rebuilt; null if the original is readable as it is. */
  readonly rebuilt: { readonly notes: readonly string[] } | null;
}

export interface OpenInput {
  readonly inputPath: string;
  /** Where to write a copy with a rebuilt index. */
  readonly rebuiltPath: string;
  readonly referencePaths: readonly string[];
  readonly tools: ToolPaths;
  readonly limits: MediaLimits;
  readonly signal?: AbortSignal;
}

const READABLE = new Set<string>(ALLOWED_DECODERS);
/** ffprobe names codecs, the allow-list names decoders; these names differ. */
const CODEC_OF_DECODER = new Set(['msmpeg4v3', 'msmpeg4v1', 'av1']);

/**
 * Reads what the file declares, and refuses what cannot be repaired with its true reason. A file whose index is
 * damaged, cut off or missing gets a new one if its data allow.
 * @throws MediaFailure with the reason
 */
export async function openOriginal(input: OpenInput): Promise<OpenedClip> {
  const { size } = await stat(input.inputPath);
  if (size === 0) throw new MediaFailure('empty_file', 'The file is empty.');
  const restored = await restoreBytes({ ...input, restoredPath: `${input.rebuiltPath}.restored` });
  const { note } = restored;
  try {
    const clip = await withEmptyTail(await openRestored({ ...input, inputPath: restored.path }), input);
    if (note === null) return clip;
    const copied = clip.path !== restored.path;
    if (copied) await rm(restored.path);
    return { ...clip, rebuilt: { notes: [note, ...(clip.rebuilt?.notes ?? [])] } };
  } catch (error) {
    if (note !== null) await rm(restored.path, { force: true });
    if (!isHarmed(error)) throw error;
    if (restored.harm) throw refusal(restored.harm, `${error.message}\n${error.detail}`);
    const emptyTail = await describeEmptyTail(input.inputPath);
    throw emptyTail === null
      ? error
      : new MediaFailure(error.code, `${error.message} ${emptyTail}`, error.detail);
  }
}

/**
 * If the file has an empty end that the clip with its new index lacks, the missing part was never copied; adds a note.
 */
async function withEmptyTail(clip: OpenedClip, { inputPath }: OpenInput): Promise<OpenedClip> {
  if (!clip.rebuilt || (await describeEmptyTail(clip.path)) !== null) return clip;
  const emptyTail = await describeEmptyTail(inputPath);
  return emptyTail === null ? clip : { ...clip, rebuilt: { notes: [...clip.rebuilt.notes, emptyTail] } };
}

/** Damage from a transfer explains why a clip is damaged, not what kind of clip it is. */
const isHarmed = (error: unknown): error is MediaFailure =>
  error instanceof MediaFailure && error.code === 'damaged_beyond_repair';

async function openRestored(input: OpenInput): Promise<OpenedClip> {
  // A movie that lost its first bytes is still recognised by its index.
  const format = (await sniffFile(input.inputPath)) ?? (await holdsMovie(input));
  if (format === null) {
    const emptyBytes = await countLeadingZeros(input.inputPath);
    if (emptyBytes >= MIN_EMPTY_BYTES) throw refusal(emptyHead(emptyBytes), '');
    throw new MediaFailure(
      'not_a_video',
      'This is not a video file. Use a clip from a phone or camera (MP4, MOV or AVI).',
    );
  }
  if (format !== 'mov') {
    const mendedPath = `${input.rebuiltPath}.mended`;
    const note = format === 'avi' ? await mendAvi({ ...input, outputPath: mendedPath }) : null;
    if (note === null) return openOther(input, format);
    const mended = { ...input, inputPath: mendedPath };
    return withNotes([note], mended, await openOther(mended, format));
  }

  const framedPath = `${input.rebuiltPath}.framed`;
  const framed = await lengthsForStartCodes({ ...input, outputPath: framedPath });
  if (framed === null) return openMovie(input, await tryProbe(input, input.inputPath, format));
  const inside = { ...input, inputPath: framedPath };
  return withNotes(framed, inside, await openMovie(inside, await tryProbe(inside, framedPath, format)));
}

/** Opens a file of another kind than MP4, as it is or copied into MP4. */
async function openOther(input: OpenInput, format: MediaInfo['format']): Promise<OpenedClip> {
  if (format !== 'avi') return openRead(input, format);
  const ratedPath = `${input.rebuiltPath}.rated`;
  const note = await withOwnSoundRate({ ...input, outputPath: ratedPath });
  if (note === null) return openRead(input, format);
  const clip = await openRead({ ...input, inputPath: ratedPath }, format, [note]);
  if (clip.path !== ratedPath) await rm(ratedPath);
  return clip;
}

async function openRead(
  input: OpenInput,
  format: MediaInfo['format'],
  notes?: readonly string[],
): Promise<OpenedClip> {
  const read = await tryProbe(input, input.inputPath, format);
  if (!('info' in read) || !isReadable(read.info)) {
    throw unsupported(read) ?? refusal('The file has no part that can be played.', detailOf(read));
  }
  const timed = format === 'avi' ? await withAviTimes(input.inputPath, read.info) : read.info;
  const info = notes ? { ...timed, notes } : timed;
  return rewrapped(await checked({ path: input.inputPath, info, rebuilt: null }, input), input);
}

/** Opens a movie whose settings or index may be damaged. */
async function openMovie(input: OpenInput, read: Read): Promise<OpenedClip> {
  await refuseHopeless(input.inputPath);
  const settingsPath = `${input.rebuiltPath}.settings`;
  const note = await mendSettings({ ...input, outputPath: settingsPath });
  if (note === null) return checked(await withReadableIndex(input, read), input);
  const mended = { ...input, inputPath: settingsPath };
  const clip = await withReadableIndex(mended, await tryProbe(mended, settingsPath, 'mov'));
  return withNotes([note], mended, await checked(clip, mended));
}

/**
 * Adds notes to a clip that was opened from a copy of the original; the copy is removed if the clip is another file.
 */
async function withNotes(
  notes: readonly string[],
  { inputPath }: Pick<OpenInput, 'inputPath'>,
  clip: OpenedClip,
): Promise<OpenedClip> {
  if (clip.path !== inputPath) await rm(inputPath);
  return { ...clip, rebuilt: { notes: [...notes, ...(clip.rebuilt?.notes ?? [])] } };
}

/** Gentlest first; the later ones are only used if the file cannot be read well as it is. */
const ATTEMPTS = [rebuildIndex, rewriteIndex, replaceIndex] as const;
/**
 * Of two readings of a damaged file, the rebuilt one is used if it has this many times as many intact pictures, or as
 * much intact sound.
 */
const CLEARLY_MORE = 1.05;

const isClearlyMore = (one: Whole, other: Whole) =>
  one.pictures > CLEARLY_MORE * other.pictures ||
  (one.pictures >= other.pictures && one.soundBytes > CLEARLY_MORE * other.soundBytes);

function hasShorterSound({ audio }: MediaInfo, read: MediaInfo | null): boolean {
  return CLEARLY_MORE * (audio[0]?.durationMs ?? 0) < (read?.audio[0]?.durationMs ?? 0);
}

/**
 * A movie as it is if its index is intact; else with an index that can be read and leads to pictures.
 * @throws MediaFailure with the reason of the first attempt
 */
async function withReadableIndex(input: OpenInput, read: Read): Promise<OpenedClip> {
  const info = 'info' in read && isReadable(read.info) ? read.info : null;
  const asItIs = info && { path: input.inputPath, info, rebuilt: null };
  const hasPictures = info !== null && info.video.length > 0;
  const reasons: string[] = [];
  /** The first attempt's judgement of the index. */
  let isWhole: boolean | null = null;
  for (const attempt of ATTEMPTS) {
    const rebuilt = await attempt({ ...input, outputPath: input.rebuiltPath });
    if (!rebuilt.rebuilt && rebuilt.reason !== WHOLE_INDEX) reasons.push(rebuilt.reason);
    const again = rebuilt.rebuilt ? await probeRebuilt(input) : null;
    if (rebuilt.rebuilt && again) {
      const notes = [...again.notes, ...rebuilt.notes];
      const told = { ...again.info, lostEnds: rebuilt.lostEnds };
      const mended = { path: input.rebuiltPath, info: told, rebuilt: { notes } };
      // An index that ffmpeg reads despite its faults may be better than one without all of the sound, or than none
      // that fits.
      const isDoubtful = reasons.length > 0 || again.info.audio.length < (info?.audio.length ?? 0);
      if (!asItIs || !hasPictures || (!isDoubtful && !hasShorterSound(again.info, info))) return mended;
      const whole = await countWhole(asItIs, mended, input.tools, input.signal);
      if (whole && isClearlyMore(whole.mended, whole.asItIs)) return mended;
      // The rebuilt index of a cut-off clip states the duration that it had.
      if (!isDoubtful && !(whole && isClearlyMore(whole.asItIs, whole.mended))) return mended;
      break;
    }
    const refused = unsupported(read);
    if (refused) throw refused;
    isWhole ??= reasons.length === 0;
    if (hasPictures && isWhole) break;
  }
  await rm(input.rebuiltPath, { force: true });
  if (asItIs && (hasPictures || isWhole === true)) {
    return { ...asItIs, info: await withOwnLostEnds(asItIs) };
  }
  if (isWhole === true && 'info' in read) await refuseUnknown(input.inputPath, read.info);
  // A missing part is a better reason than that nothing can be read.
  const reason = reasons.find((one) => one !== NO_INDEX) ?? reasons[0] ?? UNREADABLE;
  throw refusal(reason, detailOf(read));
}

/**
 * Reads a file with a rebuilt index, with other settings if its own do not fit; the settings of an unreadable index
 * were not checked before. Null if there are no pictures.
 */
async function probeRebuilt(
  input: OpenInput,
): Promise<{ readonly info: MediaInfo; readonly notes: readonly string[] } | null> {
  const outputPath = `${input.rebuiltPath}.settings`;
  const note = await mendSettings({ ...input, inputPath: input.rebuiltPath, outputPath });
  const notes = note === null ? [] : [note];
  if (note !== null) {
    // With fitting settings, the order of the pictures can be determined.
    const again = await rebuildIndex({ ...input, inputPath: outputPath, outputPath: input.rebuiltPath });
    if (again.rebuilt) notes.push(...again.notes);
    await (again.rebuilt ? rm(outputPath) : rename(outputPath, input.rebuiltPath));
  }
  const read = await tryProbe(input, input.rebuiltPath, 'mov');
  return 'info' in read && read.info.video.length > 0 ? { info: read.info, notes } : null;
}

const UNREADABLE = 'Its index can be read, but leads to nothing that can be played.';

/** The clip in MP4 if that gives its pictures display times; else unchanged. */
async function rewrapped(clip: OpenedClip, input: OpenInput): Promise<OpenedClip> {
  const outputPath = input.rebuiltPath;
  const info = await rewrapAvi({ ...input, inputPath: clip.path, info: clip.info, outputPath });
  if (info) return { ...clip, path: outputPath, info };
  await rm(outputPath, { force: true });
  return clip;
}

/** No format begins with a sector of zeros, but copies of failing disks and broken transfers do. */
const MIN_EMPTY_BYTES = 512;

const emptyHead = (bytes: number) =>
  `The first ${formatSize(bytes)} of the file are nothing but zeros, and no index is in what follows.`;

async function holdsMovie({ inputPath, signal }: OpenInput): Promise<'mov' | null> {
  const file = await open(inputPath, 'r');
  try {
    return (await findHiddenMoov(file, (await file.stat()).size, signal)) ? 'mov' : null;
  } finally {
    await file.close();
  }
}

type Read = { readonly info: MediaInfo } | { readonly error: MediaToolError };

async function tryProbe(input: OpenInput, filePath: string, format: MediaInfo['format']): Promise<Read> {
  try {
    return { info: await probe(input.tools, filePath, format, input.signal) };
  } catch (error) {
    if (isToolFailure(error)) return { error };
    throw error;
  }
}

function isReadable(info: MediaInfo): boolean {
  return info.video.length > 0 || info.audio.length > 0;
}

function refusal(reason: string, detail: string): MediaFailure {
  return new MediaFailure(
    'damaged_beyond_repair',
    `This clip cannot be repaired: ${lowerFirst(reason)}`,
    detail,
  );
}

/** ffprobe's message about a codec that it may not decode; it then reports nothing else about the file. */
const NOT_ALLOWED = /Codec \((\w+)\) not on whitelist/;

function unsupported(read: Read): MediaFailure | null {
  const detail = detailOf(read);
  const codec = NOT_ALLOWED.exec(detail)?.[1];
  if (codec === undefined) return null;
  return new MediaFailure(
    'unsupported_codec',
    `A part of this clip is coded as ${codec}, which cannot be repaired here. Export the clip as H.264 with AAC sound and try again.`,
    detail,
  );
}

const detailOf = (read: Read) =>
  'error' in read ? read.error.stderrTail : `streams: ${read.info.others.join(', ')}`;

function lowerFirst(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1);
}

const lengthOf = ({ info }: OpenedClip): number => longestMs(info) ?? 0;

async function asListed(clip: OpenedClip): Promise<OpenedClip> {
  if (clip.info.format !== 'mov') return clip;
  return { ...clip, info: await withListedLengths(clip.path, clip.info) };
}

async function checked(opened: OpenedClip, input: OpenInput): Promise<OpenedClip> {
  const clip = lengthOf(opened) > input.limits.maxDurationMs ? await asListed(opened) : opened;
  const { info } = clip;
  const stream = info.video[0];
  if (!stream) {
    throw noVideo(info.audio.length > 0 ? 'It has sound only.' : 'It has no picture.');
  }
  if (!READABLE.has(stream.codec) && !CODEC_OF_DECODER.has(stream.codec)) {
    throw unsupportedPictures(stream.codec);
  }
  const durationMs = lengthOf(clip);
  if (durationMs > input.limits.maxDurationMs) {
    const minutes = Math.floor(input.limits.maxDurationMs / 60_000);
    throw new MediaFailure(
      'too_long',
      `The clip is longer than ${minutes} minutes, the most this server takes. Cut it into shorter parts.`,
    );
  }
  const pictures = stream.frameCount ?? (durationMs / 1000) * (stream.frameRate ?? 0);
  if (pictures > input.limits.maxPictures) {
    const minutes = Math.floor(((input.limits.maxPictures / pictures) * durationMs) / 60_000);
    throw new MediaFailure(
      'too_long',
      `The clip has ${Math.round(pictures)} frames; the memory of this server is enough for ${input.limits.maxPictures}. Cut it into parts of ${minutes < 1 ? 'less than a minute' : `up to ${minutes} minutes`}.`,
    );
  }
  return clip;
}
