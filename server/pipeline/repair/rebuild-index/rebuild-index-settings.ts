import { open, type FileHandle } from 'node:fs/promises';
import { H264Error } from '#server/media/h264/h264-error.ts';
import { NAL, nalType } from '#server/media/h264/nal.ts';
import { parsePps } from '#server/media/h264/pps.ts';
import { parseSps, type Sps } from '#server/media/h264/sps.ts';
import { readUpTo } from '#server/media/mp4/file-bytes.ts';
import { type Movie, readMovie, type Track } from '#server/media/mp4/movie.ts';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';
import { readAvcConfig } from '#server/media/mp4/sample-entry.ts';
import { readSamples } from '#server/media/mp4/sample-table.ts';

/** What is needed to recognise and describe the coded pictures of a clip without an index. */
export interface PictureSettings {
  readonly spsUnit: Buffer;
  readonly ppsUnits: readonly Buffer[];
  readonly sps: Sps;
  readonly ppsIds: ReadonlySet<number>;
  readonly lengthSize: number;
  /** The healthy clip that they come from; null when the file itself carries them. */
  readonly reference: Reference | null;
}

export interface Reference {
  readonly path: string;
  readonly movie: Movie;
  readonly video: Track;
  /** Its sound track when that is the only other track; null otherwise. */
  readonly sound: Track | null;
  /** Usual distance of its pictures, ticks of its video track. */
  readonly intervalTicks: number;
}

/**
 * Settings made from parameter set NAL units.
 * @throws H264Error when they are damaged or do not belong together.
 */
export function toSettings(
  spsUnit: Buffer,
  ppsUnits: readonly Buffer[],
  lengthSize: number,
  reference: Reference | null,
): PictureSettings {
  const sps = parseSps(spsUnit);
  if (!sps.frameMbsOnly) throw new H264Error('Interlaced pictures cannot be found without an index.');
  const sets = ppsUnits.map((unit) => parsePps(unit, sps.chromaFormat));
  const ppsIds = new Set(sets.filter((pps) => pps.spsId === sps.id).map((pps) => pps.id));
  if (ppsIds.size === 0) throw new H264Error('The parameter sets do not belong together.');
  return { spsUnit, ppsUnits, sps, ppsIds, lengthSize, reference };
}

/** Settings of a healthy MP4 clip with H.264 pictures, or null when it is none. */
export async function readReference(path: string): Promise<PictureSettings | null> {
  let file: FileHandle;
  try {
    file = await open(path, 'r');
  } catch {
    return null;
  }
  try {
    const movie = await readMovie(file);
    const video = movie.tracks.find((track) => track.handler === 'vide' && track.entries.length === 1);
    const avcC = video?.entries[0]?.boxes.find((box) => box.type === 'avcC');
    if (!video || !avcC) return null;
    const config = readAvcConfig(avcC.payload);
    const [spsUnit] = config.sps;
    const durations = readSamples(video.stbl)
      .map((sample) => sample.durationTicks)
      .sort((a, b) => a - b);
    const intervalTicks = durations[durations.length >> 1] ?? 0;
    if (!spsUnit || intervalTicks === 0) return null;
    const sounds = movie.tracks.filter((track) => track.handler === 'soun');
    const sound = movie.tracks.length === 2 ? (sounds[0] ?? null) : null;
    const reference = { path, movie, video, sound, intervalTicks };
    return toSettings(spsUnit, config.pps, config.lengthSize, reference);
  } catch (error) {
    if (error instanceof Mp4Error || error instanceof H264Error) return null;
    throw error;
  } finally {
    await file.close();
  }
}

const PIECE_BYTES = 4 << 20;
const MAX_SET_BYTES = 512;

/**
 * Looks for parameter sets among the coded pictures: a sequence parameter set behind its 4-byte length, and a
 * picture parameter set right behind it.
 */
export async function findInBandSettings(
  file: FileHandle,
  start: number,
  end: number,
  signal?: AbortSignal,
): Promise<PictureSettings | null> {
  for (let from = start; from < end; from += PIECE_BYTES - 2 * MAX_SET_BYTES) {
    signal?.throwIfAborted();
    const piece = await readUpTo(file, from, Math.min(PIECE_BYTES, end - from));
    for (let at = 0; at + 8 < piece.length; at++) {
      if (piece[at] !== 0 || piece[at + 1] !== 0 || ((piece[at + 4] ?? 0) & 0x9f) !== NAL.sps) continue;
      const settings = tryInBand(piece, at);
      if (settings) return settings;
    }
  }
  return null;
}

function tryInBand(piece: Buffer, at: number): PictureSettings | null {
  const unitAt = (position: number) => {
    if (position + 4 > piece.length) return null;
    const length = piece.readUInt32BE(position);
    if (length < 3 || length > MAX_SET_BYTES || position + 4 + length > piece.length) return null;
    return piece.subarray(position + 4, position + 4 + length);
  };
  const spsUnit = unitAt(at);
  if (!spsUnit) return null;
  const ppsUnits: Buffer[] = [];
  let position = at + 4 + spsUnit.length;
  for (let unit = unitAt(position); unit && nalType(unit) === NAL.pps; unit = unitAt(position)) {
    ppsUnits.push(Buffer.from(unit));
    position += 4 + unit.length;
  }
  if (ppsUnits.length === 0) return null;
  try {
    return toSettings(Buffer.from(spsUnit), ppsUnits, 4, null);
  } catch (error) {
    if (error instanceof H264Error) return null;
    throw error;
  }
}

const MAX_CONFIG_BYTES = 1024;

/** Settings in decoder records (`avcC`) anywhere in a file: an index that is cut off or renamed still holds its own. */
export async function findStoredSettings(file: FileHandle, signal?: AbortSignal): Promise<PictureSettings[]> {
  const fileBytes = (await file.stat()).size;
  const found: PictureSettings[] = [];
  for (let from = 0; from < fileBytes; from += PIECE_BYTES - MAX_CONFIG_BYTES) {
    signal?.throwIfAborted();
    const piece = await readUpTo(file, from, Math.min(PIECE_BYTES, fileBytes - from));
    for (let at = piece.indexOf('avcC', 4, 'latin1'); at >= 4; at = piece.indexOf('avcC', at + 4, 'latin1')) {
      const size = piece.readUInt32BE(at - 4);
      if (size < 16 || size > MAX_CONFIG_BYTES || at - 4 + size > piece.length) continue;
      const settings = tryStored(Buffer.from(piece.subarray(at + 4, at - 4 + size)));
      if (settings) found.push(settings);
    }
  }
  return found;
}

function tryStored(record: Buffer): PictureSettings | null {
  try {
    const { sps, pps, lengthSize } = readAvcConfig(record);
    return sps[0] ? toSettings(sps[0], pps, lengthSize, null) : null;
  } catch (error) {
    if (error instanceof Mp4Error || error instanceof H264Error) return null;
    throw error;
  }
}
