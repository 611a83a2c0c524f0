import { open, rm, type FileHandle } from 'node:fs/promises';
import { findSampleFault } from '#server/media/h264/check-sample.ts';
import { createAnnexBSplitter, joinSample, NAL, nalType } from '#server/media/h264/nal.ts';
import { findHevcSampleFault } from '#server/media/hevc/check-sample.ts';
import { needBox, replaceBox } from '#server/media/mp4/box.ts';
import { readUpTo, writeFully } from '#server/media/mp4/file-bytes.ts';
import { type Movie, readMovie, type Track } from '#server/media/mp4/movie.ts';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';
import {
  readAvcConfig,
  readHevcConfig,
  type SampleEntry,
  singleEntryStsd,
  withEntryBox,
  writeAvcConfig,
} from '#server/media/mp4/sample-entry.ts';
import { createSampleReader } from '#server/media/mp4/sample-reader.ts';
import { MAX_SAMPLE_BYTES, readChunks, readSamples, type Sample } from '#server/media/mp4/sample-table.ts';
import { trimTrack } from '#server/media/mp4/trim-track.ts';
import { carryTrack, rebuildTrack, writeMovie } from '#server/media/mp4/write-movie.ts';
import { type NewSample, readDuration, withDuration } from '#server/media/mp4/write-tables.ts';
import { missingNotes, sampleName } from '../repair/rebuild-index/rebuild-index-types.ts';

export interface LengthsInput {
  readonly inputPath: string;
  /** Where to write the clip with lengths. */
  readonly outputPath: string;
  readonly signal?: AbortSignal;
}

/**
 * Number of pictures examined, and the share that must be intact after start codes but not after lengths; others may be
 * damaged.
 */
const LOOKED_AT = 16;
const LEAST_WHOLE = 0.75;
/** Bytes of each length that is written. */
const LENGTH_SIZE = 4;

/**
 * Checks whether the coded pictures of a movie (H.264, HEVC) use start codes as in streams (ITU-T H.264, annex B)
 * instead of lengths (ISO/IEC 14496-15, 5.3.2). Some writers leave them so; ffmpeg reads that, browsers do not. It
 * writes the same pictures with lengths to `outputPath`, without samples missing from the file.
 * @returns what was done, in sentences; null if nothing was
 * @throws the signal's reason when aborted
 */
export async function lengthsForStartCodes(input: LengthsInput): Promise<string[] | null> {
  const trimmedPath = `${input.outputPath}.trimmed`;
  const file = await open(input.inputPath, 'r');
  try {
    const movie = await readMovie(file);
    const found = await findStartCodes(file, movie);
    if (!found) return null;
    const losses = await writeTrimmed(file, movie, { ...input, outputPath: trimmedPath });
    const whole = losses.length === 0 ? file : await open(trimmedPath, 'r');
    try {
      await writeWithLengths(whole, found, input);
    } finally {
      if (whole !== file) await whole.close();
    }
    return [
      'The frames were stored in a form that players do not expect (start codes instead of lengths) and were rewritten in the usual one.',
      ...losses,
    ];
  } catch (error) {
    if (!(error instanceof Mp4Error)) throw error;
    await rm(input.outputPath, { force: true });
    return null;
  } finally {
    await rm(trimmedPath, { force: true });
    await file.close();
  }
}

interface Found {
  /** The description of the pictures, with lengths of `LENGTH_SIZE` bytes. */
  readonly entry: Buffer;
}

async function findStartCodes(file: FileHandle, movie: Movie): Promise<Found | null> {
  const video = movie.tracks.find(({ handler }) => handler === 'vide');
  const [entry] = video?.entries ?? [];
  const isHevc = entry?.boxes.some(({ type }) => type === 'hvcC') === true;
  if (!video || !entry || movie.fragmented || video.entries.length > 1) return null;
  if (!isHevc && !entry.boxes.some(({ type }) => type === 'avcC')) return null;
  const samples = listed(video).filter(({ offset, sizeBytes }) => {
    return sizeBytes > 0 && sizeBytes <= MAX_SAMPLE_BYTES && offset + sizeBytes <= movie.fileBytes;
  });
  const looked = samples.slice(0, LOOKED_AT);
  const findFault = isHevc ? findHevcSampleFault : findSampleFault;
  const units: Buffer[] = [];
  let whole = 0;
  for (const { offset, sizeBytes } of looked) {
    const bytes = await readUpTo(file, offset, sizeBytes);
    if (!beginsWithStartCode(bytes)) continue;
    const own = splitUnits(bytes);
    units.push(...own);
    // A length of 256 to 511 begins like a start code.
    const isListed = findFault(bytes, LENGTH_SIZE) === null;
    if (!isListed && findFault(joinSample(own, LENGTH_SIZE), LENGTH_SIZE) === null) whole += 1;
  }
  if (looked.length === 0 || whole < LEAST_WHOLE * looked.length) return null;
  const described = isHevc ? hevcEntry(entry) : avcEntry(entry, units);
  return described && { entry: described };
}

/** Samples of a track; none if its tables cannot be read. */
function listed({ stbl }: Track): Sample[] {
  try {
    return readSamples(stbl);
  } catch (error) {
    if (error instanceof Mp4Error) return [];
    throw error;
  }
}

const beginsWithStartCode = (bytes: Buffer): boolean =>
  [4, 3].some((size) => bytes.length > size && bytes.readUIntBE(0, size) === 1);

function splitUnits(sample: Buffer): Buffer[] {
  const splitter = createAnnexBSplitter();
  return [...splitter.push(sample), ...splitter.end()];
}

/** The description of H.264 pictures. Their settings may have start codes as well, or stand only among the pictures. */
function avcEntry(entry: SampleEntry, units: readonly Buffer[]): Buffer | null {
  const payload = entry.boxes.find(({ type }) => type === 'avcC')?.payload ?? Buffer.alloc(0);
  const config = readConfig(payload) ?? toConfig([...splitUnits(payload), ...units]);
  return config && withEntryBox(entry, 'avcC', writeAvcConfig({ ...config, lengthSize: LENGTH_SIZE }));
}

function readConfig(payload: Buffer) {
  try {
    const config = readAvcConfig(payload);
    return config.sps.length > 0 && config.pps.length > 0 ? config : null;
  } catch (error) {
    if (error instanceof Mp4Error) return null;
    throw error;
  }
}

function toConfig(units: readonly Buffer[]) {
  const sps = units.find((unit) => nalType(unit) === NAL.sps);
  const pps = units.find((unit) => nalType(unit) === NAL.pps);
  const [, profile, compatibility, level] = sps ?? [];
  if (!sps || !pps || profile === undefined || compatibility === undefined || level === undefined)
    return null;
  return { profile, compatibility, level, sps: [sps], pps: [pps], tail: Buffer.alloc(0) };
}

/** Offset of the length size in the settings (ISO/IEC 14496-15, 8.3.3.1). */
const HEVC_LENGTH_AT = 21;

function hevcEntry(entry: SampleEntry): Buffer | null {
  const payload = entry.boxes.find(({ type }) => type === 'hvcC')?.payload;
  if (!payload || readHevcConfig(payload).parameterSets.length === 0) return null;
  const changed = Buffer.from(payload);
  changed[HEVC_LENGTH_AT] = (payload[HEVC_LENGTH_AT] ?? 0) | (LENGTH_SIZE - 1);
  return withEntryBox(entry, 'hvcC', changed);
}

/**
 * Writes the movie without the samples missing from the file, if there are any.
 * @returns what is missing
 */
async function writeTrimmed(file: FileHandle, movie: Movie, input: LengthsInput): Promise<string[]> {
  const reach = Math.max(...movie.tracks.flatMap(({ stbl }) => readChunks(stbl)).map(endOf));
  if (reach <= movie.fileBytes) return [];
  const losses = [`The file ends ${reach - movie.fileBytes} bytes before the last of its media.`];
  const tracks = movie.tracks.flatMap((track) => {
    const trimmed = trimTrack(track, file, { endOffset: movie.fileBytes, movieTimescale: movie.timescale });
    const name = sampleName(track);
    if (!trimmed) losses.push(`None of the ${name} of a track are in the file.`);
    if (trimmed) losses.push(...missingNotes(trimmed, name));
    return trimmed ? [trimmed.track] : [];
  });
  const longest = Math.max(...tracks.map(({ trak }) => readDuration(needBox(trak, 'tkhd'))));
  const moov = replaceBox(movie.moov, 'mvhd', (header) => withDuration(header, longest));
  await writeMovie(input.outputPath, { ...input, ftyp: movie.ftyp, moov, tracks, temporary: true });
  return losses;
}

const endOf = ({ offset, sizeBytes }: { readonly offset: number; readonly sizeBytes: number }) =>
  offset + sizeBytes;

/** Writes a movie whose samples are all in the file. */
async function writeWithLengths(file: FileHandle, { entry }: Found, input: LengthsInput): Promise<void> {
  const movie = await readMovie(file);
  const unitsPath = `${input.outputPath}.units`;
  const spool = await open(unitsPath, 'w+');
  try {
    const tracks = [];
    for (const track of movie.tracks) {
      if (track.handler !== 'vide') tracks.push(carryTrack(track, file));
      else tracks.push(await converted(track, file, spool, entry, input.signal));
    }
    await writeMovie(input.outputPath, { ...input, ftyp: movie.ftyp, moov: movie.moov, tracks });
  } finally {
    await spool.close();
    await rm(unitsPath, { force: true });
  }
}

async function converted(
  track: Track,
  file: FileHandle,
  spool: FileHandle,
  entry: Buffer,
  signal: AbortSignal | undefined,
) {
  const samples = readSamples(track.stbl);
  const readSample = createSampleReader(file, samples);
  const made: NewSample[] = [];
  let offset = 0;
  for (const [at, { dts, pts, durationTicks, sync }] of samples.entries()) {
    signal?.throwIfAborted();
    const bytes = await readSample(at);
    // Damaged pictures without any start code stay as they are and are found like other damage.
    const units = beginsWithStartCode(bytes) ? splitUnits(bytes) : [];
    const framed = units.length > 0 ? joinSample(units, LENGTH_SIZE) : bytes;
    await writeFully(spool, framed, offset);
    made.push({
      bytes: { file: spool, offset, sizeBytes: framed.length },
      dts,
      pts,
      durationTicks,
      sync,
    });
    offset += framed.length;
  }
  const stsd = singleEntryStsd(entry);
  const trak = replaceBox(track.trak, 'mdia/minf/stbl/stsd', () => stsd);
  return rebuildTrack(trak, track.timescale, made);
}
