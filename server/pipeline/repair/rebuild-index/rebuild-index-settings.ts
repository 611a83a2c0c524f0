import type { FileHandle } from 'node:fs/promises';
import { H264Error } from '#server/media/h264/h264-error.ts';
import { NAL, nalType } from '#server/media/h264/nal.ts';
import { HevcError } from '#server/media/hevc/hevc-error.ts';
import { HEVC_NAL, isHevcParameterSet } from '#server/media/hevc/hevc-nal.ts';
import { readUpTo } from '#server/media/mp4/file-bytes.ts';
import type { Track } from '#server/media/mp4/movie.ts';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';
import { readAvcConfig, readHevcConfig } from '#server/media/mp4/sample-entry.ts';
import { avcCoding } from './rebuild-index-avc.ts';
import type { PictureCoding } from './rebuild-index-coding.ts';
import { hevcCoding } from './rebuild-index-hevc.ts';
import { readHealthyClip, type Reference } from './rebuild-index-reference.ts';

/** What is needed to recognise and describe the coded pictures of a clip without an index. */
export interface PictureSettings {
  readonly coding: PictureCoding;
  /** Bytes of the length before each NAL unit. */
  readonly lengthSize: number;
  /** The healthy clip that they come from; null if the file itself carries them. */
  readonly reference: Reference | null;
}

/** Settings of a track with H.264 or HEVC pictures and one description; null for others and damaged ones. */
export function readTrackSettings({ entries }: Track): PictureSettings | null {
  const boxes = entries.length === 1 ? (entries[0]?.boxes ?? []) : [];
  for (const { type, payload } of boxes) {
    const settings = readRecord(type, payload);
    if (settings) return settings;
  }
  return null;
}

/** Settings in a decoder record, `avcC` or `hvcC` (ISO/IEC 14496-15); null for other boxes and damaged ones. */
export function readRecord(type: string, payload: Buffer): PictureSettings | null {
  return unlessDamaged(() => {
    if (type === 'avcC') {
      const { sps, pps, lengthSize } = readAvcConfig(payload);
      return sps[0] ? { coding: avcCoding(sps[0], pps), lengthSize, reference: null } : null;
    }
    if (type !== 'hvcC') return null;
    const { parameterSets, lengthSize } = readHevcConfig(payload);
    return { coding: hevcCoding(parameterSets), lengthSize, reference: null };
  });
}

function unlessDamaged<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof Mp4Error || error instanceof H264Error || error instanceof HevcError) return null;
    throw error;
  }
}

/** A healthy MP4 clip with H.264 or HEVC pictures and their settings; null for other files. */
export async function readReference(path: string): Promise<PictureSettings | null> {
  const reference = await readHealthyClip(path);
  const settings = reference && readTrackSettings(reference.video);
  return settings ? { ...settings, reference } : null;
}

const PIECE_BYTES = 4 << 20;
const MAX_SET_BYTES = 512;

/**
 * Searches for parameter sets among the coded pictures: a sequence parameter set (H.264) or a video parameter set
 * (HEVC) after its 4-byte length, and the others right after it.
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
      if (piece[at] !== 0 || piece[at + 1] !== 0) continue;
      const settings = tryInBand(piece, at);
      if (settings) return settings;
    }
  }
  return null;
}

/** First byte of a video parameter set of the base layer (ITU-T H.265, 7.3.1.2). */
const VPS_HEAD = HEVC_NAL.vps << 1;

function tryInBand(piece: Buffer, at: number): PictureSettings | null {
  const head = piece[at + 4] ?? 0;
  const isAvc = (head & 0x9f) === NAL.sps;
  if (!isAvc && head !== VPS_HEAD) return null;
  const belongs = (unit: Buffer) => (isAvc ? nalType(unit) === NAL.pps : isHevcParameterSet(unit));
  const first = unitAt(piece, at);
  if (!first) return null;
  const units = [Buffer.from(first)];
  let position = at + 4 + first.length;
  for (let unit = unitAt(piece, position); unit && belongs(unit); unit = unitAt(piece, position)) {
    units.push(Buffer.from(unit));
    position += 4 + unit.length;
  }
  const [spsUnit, ...others] = units;
  if (!spsUnit || others.length === 0) return null;
  return unlessDamaged(() => {
    return { coding: isAvc ? avcCoding(spsUnit, others) : hevcCoding(units), lengthSize: 4, reference: null };
  });
}

function unitAt(piece: Buffer, position: number): Buffer | null {
  if (position + 4 > piece.length) return null;
  const length = piece.readUInt32BE(position);
  if (length < 3 || length > MAX_SET_BYTES || position + 4 + length > piece.length) return null;
  return piece.subarray(position + 4, position + 4 + length);
}

/** Most bytes of a record; some encoders store all their settings in messages next to the parameter sets. */
const MAX_CONFIG_BYTES = 16_384;
const RECORDS = ['avcC', 'hvcC'] as const;

/** Settings in decoder records anywhere in a file; an index that is cut off or renamed still holds its own. */
export async function findStoredSettings(file: FileHandle, signal?: AbortSignal): Promise<PictureSettings[]> {
  const fileBytes = (await file.stat()).size;
  const found: PictureSettings[] = [];
  for (let from = 0; from < fileBytes; from += PIECE_BYTES - MAX_CONFIG_BYTES) {
    signal?.throwIfAborted();
    const piece = await readUpTo(file, from, Math.min(PIECE_BYTES, fileBytes - from));
    for (const type of RECORDS) {
      for (let at = piece.indexOf(type, 4, 'latin1'); at >= 4; at = piece.indexOf(type, at + 4, 'latin1')) {
        const size = piece.readUInt32BE(at - 4);
        if (size < 16 || size > MAX_CONFIG_BYTES || at - 4 + size > piece.length) continue;
        const settings = readRecord(type, Buffer.from(piece.subarray(at + 4, at - 4 + size)));
        if (settings) found.push(settings);
      }
    }
  }
  return found;
}
