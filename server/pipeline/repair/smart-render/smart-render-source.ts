import type { FileHandle } from 'node:fs/promises';
import { H264Error } from '#server/media/h264/h264-error.ts';
import { NAL, isSlice, nalType, splitSample } from '#server/media/h264/nal.ts';
import { type Pps, parsePps } from '#server/media/h264/pps.ts';
import { parseSliceHeader, type SliceHeader } from '#server/media/h264/slice-header.ts';
import { parseSps, type Sps } from '#server/media/h264/sps.ts';
import { findBox } from '#server/media/mp4/box.ts';
import { type SimpleEdit, startedAt, toSimpleEdit } from '#server/media/mp4/edit-list.ts';
import { readExactly, type ByteRange } from '#server/media/mp4/file-bytes.ts';
import { readListedMovie } from '#server/media/mp4/listed-movie.ts';
import { findVideoTrack, type Movie, type Track } from '#server/media/mp4/movie.ts';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';
import {
  type AvcConfig,
  readAvcConfig,
  type SampleEntry,
  withEntryBox,
  writeAvcConfig,
} from '#server/media/mp4/sample-entry.ts';
import { MAX_SAMPLE_BYTES, readSamples, type Sample } from '#server/media/mp4/sample-table.ts';
import { isSelfContained } from '#server/media/mp4/write-tables.ts';
import type { MediaInfo } from '#server/media/probe/probe.ts';

/** An MP4 clip with one description of its pictures, whatever their coding. */
export interface ClipSource {
  readonly file: FileHandle;
  readonly movie: Movie;
  readonly track: Track;
  readonly entry: SampleEntry;
  readonly samples: readonly Sample[];
  readonly shownEdit: SimpleEdit;
  /** Samples whose bytes lie elsewhere, because they were replaced before. */
  readonly replaced?: ReadonlyMap<number, ByteRange>;
  /** Samples that are lost from the file: they have a place and times, but no bytes until they are replaced. */
  readonly vacant?: ReadonlySet<number>;
  /** Factor by which order counts may be farther apart than their encoder made them; absent for 1. */
  readonly countStep?: number;
}

/** An MP4 clip whose H.264 pictures can be replaced one by one. */
export interface SmartSource extends ClipSource {
  readonly config: AvcConfig;
  readonly sps: Sps;
  /** Picture parameter sets of the sample description. */
  readonly pps: readonly Pps[];
  /** NAL units of a sample. */
  units(sample: number): Promise<Buffer[]>;
  /** Header of the first slice of a sample; null if the sample is damaged or has no slice. */
  head(sample: number): Promise<SliceHeader | null>;
}

export type SourceAnswer<Source = SmartSource> =
  | { readonly ok: true; readonly source: Source }
  | { readonly ok: false; readonly reason: string };

/** Reads everything that decides whether single pictures can be replaced, or says why they cannot. */
export async function openSmartSource(file: FileHandle, info: MediaInfo): Promise<SourceAnswer> {
  try {
    return await inspect(file, info);
  } catch (error) {
    if (error instanceof Mp4Error || error instanceof H264Error) return decline(error.message);
    throw error;
  }
}

const decline = (reason: string) => ({ ok: false, reason }) as const;

/**
 * Reads what does not depend on the codec, or says why single pictures cannot be replaced.
 * @param codings names of sample descriptions that can be cut
 * @throws Mp4Error when the index of the file is damaged
 */
export async function openClip(
  file: FileHandle,
  info: MediaInfo,
  codings: readonly string[],
): Promise<SourceAnswer<ClipSource>> {
  const stream = info.video[0];
  if (info.format !== 'mov')
    return decline('Only in MP4 and QuickTime files can single pictures be replaced.');
  if (!stream) return decline('The file has no video track.');
  const movie = await readListedMovie(file);
  if (movie.fragmented) return decline('The file is made of fragments.');
  const track = findVideoTrack(movie, stream.index);
  for (const { trak } of movie.tracks) {
    const minf = findBox(trak, 'mdia/minf');
    if (minf && !isSelfContained(minf)) return decline('A track of the file keeps its data in another file.');
  }
  const [entry] = track.entries;
  if (!entry || track.entries.length > 1) return decline('The video track has several sample descriptions.');
  if (!codings.includes(entry.coding)) {
    return decline(`The video track is stored as ${entry.coding}, which cannot be cut.`);
  }
  const edit = toSimpleEdit(track.edits, movie.timescale, track.timescale);
  if (!edit) return decline('The edit list of the video has several parts.');
  const samples = readSamples(track.stbl);
  return { ok: true, source: { file, movie, track, entry, samples, shownEdit: startedAt(edit, samples) } };
}

/**
 * Where the bytes of a sample are.
 * @throws Mp4Error when there is no sample with this number
 */
export function bytesOf({ file, samples, replaced }: ClipSource, sample: number): ByteRange {
  const found = samples[sample];
  if (!found) throw new Mp4Error('The file has no such picture.');
  return replaced?.get(sample) ?? { file, offset: found.offset, sizeBytes: found.sizeBytes };
}

/**
 * NAL units of a sample.
 * @throws Mp4Error or H264Error when they cannot be read
 */
export async function readUnits(clip: ClipSource, sample: number, lengthSize: number): Promise<Buffer[]> {
  const { file, offset, sizeBytes } = bytesOf(clip, sample);
  if (sizeBytes > MAX_SAMPLE_BYTES) throw new Mp4Error('A picture of the file is impossibly large.');
  return splitSample(await readExactly(file, offset, sizeBytes), lengthSize);
}

async function inspect(file: FileHandle, info: MediaInfo): Promise<SourceAnswer> {
  const stream = info.video[0];
  if (info.format === 'mov' && stream && stream.codec !== 'h264')
    return decline(`Single pictures cannot be replaced in ${stream.codec} video.`);
  const opened = await openClip(file, info, ['avc1', 'avc3']);
  if (!opened.ok || !stream) return opened.ok ? decline('The file has no video track.') : opened;
  const clip = opened.source;
  const avcC = clip.entry.boxes.find((box) => box.type === 'avcC');
  if (!avcC) return decline('The video track has no decoder settings.');
  const config = readAvcConfig(avcC.payload);
  const [spsUnit] = config.sps;
  if (!spsUnit || config.sps.length > 1) return decline('The video has several sequence parameter sets.');
  const sps = parseSps(spsUnit);
  const refusal = refuseSequence(sps, stream.width, stream.height);
  if (refusal) return decline(refusal);
  return { ok: true, source: withReaders(clip, config, sps) };
}

function withReaders(clip: ClipSource, config: AvcConfig, sps: Sps): SmartSource {
  const pps = config.pps.map((unit) => parsePps(unit, sps.chromaFormat));
  const units = (index: number) => readUnits(clip, index, config.lengthSize);
  const head = async (index: number) => {
    try {
      const slice = (await units(index)).find(isSlice);
      return slice ? parseSliceHeader(slice, sps) : null;
    } catch (error) {
      // A damaged sample is no place to cut; nothing else matters here.
      if (error instanceof Mp4Error || error instanceof H264Error) return null;
      throw error;
    }
  };
  return { ...clip, config, sps, pps, units, head };
}

/**
 * The clip with some of its samples replaced.
 * @param replaced bytes by sample
 * @param sets picture parameter sets that they use
 */
export function withReplaced(
  source: SmartSource,
  replaced: ReadonlyMap<number, ByteRange>,
  sets: readonly Buffer[],
): SmartSource {
  const { entry, sps } = source;
  const config = withSets(source.config, sets);
  const bytes = withEntryBox(entry, 'avcC', writeAvcConfig(config));
  const all = new Map([...(source.replaced ?? []), ...replaced]);
  return withReaders({ ...source, entry: { ...entry, bytes }, replaced: all }, config, sps);
}

/**
 * The clip with places for samples that are lost from it.
 * @param samples all, decode order
 * @param vacant numbers of those without bytes
 */
export function withVacant(
  source: SmartSource,
  samples: readonly Sample[],
  vacant: ReadonlySet<number>,
): SmartSource {
  return withReaders({ ...source, samples, vacant }, source.config, source.sps);
}

/** Whether a sample is lost and not replaced yet. */
export const isVacant = ({ vacant, replaced }: ClipSource, sample: number): boolean =>
  vacant?.has(sample) === true && replaced?.has(sample) !== true;

/** Decoder settings with additional picture parameter sets, each once. */
export function withSets(config: AvcConfig, sets: readonly Buffer[]): AvcConfig {
  const units = [...config.pps, ...sets];
  const pps = units.filter((unit, at) => units.findIndex((other) => other.equals(unit)) === at);
  return { ...config, pps };
}

/** Why slices of our encoder do not fit this sequence; null if they do. */
function refuseSequence(sps: Sps, width: number, height: number): string | null {
  if (!sps.frameMbsOnly) return 'The video is interlaced.';
  if (sps.pocType === 1) return 'The video orders its pictures in a way (type 1) that cannot be continued.';
  if (sps.chromaFormat !== 1 && sps.chromaFormat !== 2) return 'The colour format of the video is unusual.';
  if (sps.bitDepthLuma !== sps.bitDepthChroma) return 'The video has different depths for light and colour.';
  if (sps.bitDepthLuma !== 8 && sps.bitDepthLuma !== 10) return 'The bit depth of the video is unusual.';
  if (sps.losslessBypass) return 'The video is coded without loss.';
  if (!encoderProfile(sps)) return `The H.264 profile of the video (${sps.profile}) is unusual.`;
  const { crop } = sps;
  if (crop.left > 0 || crop.top > 0) return 'The video is cropped at its left or upper edge.';
  const fits =
    sps.widthMbs === Math.ceil(width / 16) &&
    sps.heightMbs === Math.ceil(height / 16) &&
    isCut(sps.widthMbs, crop.right, width) &&
    isCut(sps.heightMbs, crop.bottom, height);
  return fits ? null : 'The coded size of the video does not fit its pictures.';
}

/**
 * Whether whole macroblocks are cropped to a length: by the sequence, or, if it crops nothing, by the container alone,
 * which decoders follow within one macroblock (ffmpeg, `init_dimensions` in h264_slice.c). New slices cover whole
 * macroblocks either way.
 */
function isCut(macroblocks: number, cropped: number, length: number): boolean {
  return cropped === 0 || macroblocks * 16 - cropped === length;
}

/** x264's name for the profile of a sequence; null if there is none. */
export function encoderProfile(sps: Sps): string | null {
  const deep = sps.bitDepthLuma > 8;
  if (sps.profile === 66) return 'baseline';
  if (sps.profile === 77) return 'main';
  if (sps.profile === 100) return 'high';
  if (sps.profile === 110) return deep ? 'high10' : 'high';
  if (sps.profile === 122) {
    if (sps.chromaFormat === 2) return 'high422';
    return deep ? 'high10' : 'high';
  }
  return null;
}

/** Whether a sample can be decoded without anything before it: an IDR picture of the described sequence. */
export async function isIdr(source: SmartSource, sample: number): Promise<boolean> {
  const head = await source.head(sample);
  return head?.idr === true && source.pps.some((pps) => pps.id === head.ppsId && pps.spsId === source.sps.id);
}

/**
 * Whether any parameter set inside a sample differs from the sample description's. The stream then changes midway, and
 * a slice moved to the described sequence would be wrong.
 */
export function hasForeignParameterSets(source: SmartSource, units: readonly Buffer[]): boolean {
  const known = new Set([...source.config.sps, ...source.config.pps].map((unit) => unit.toString('latin1')));
  return units.some((unit) => {
    const type = nalType(unit);
    return (type === NAL.sps || type === NAL.pps) && !known.has(unit.toString('latin1'));
  });
}
