import type { FileHandle } from 'node:fs/promises';
import { readUpTo } from '../mp4/file-bytes.ts';

/** One stream as its header (`strh`) states it; lengths count units of `scale / rate` seconds. */
export interface AviStream {
  readonly kind: 'picture' | 'sound' | 'other';
  /** When its first unit is shown or heard, ms. */
  readonly startMs: number;
  /** Four letters that name how pictures are coded; empty for others. */
  readonly coding: string;
  /** Format tag of a sound (`wFormatTag`), 0 where there is none. */
  readonly soundFormat: number;
  readonly bitsPerSample: number;
  /** Place of its scale, which its rate follows. */
  readonly scaleAt: number;
  readonly scale: number;
  readonly rate: number;
  /** Samples a second of a sound by its format, and bytes of one of all channels; 0 where there is none. */
  readonly ownRateHz: number;
  readonly sampleBytes: number;
}

/** What stands in front of the pictures and sound of an AVI file; places count bytes from the start of the file. */
export interface AviHead {
  readonly streams: readonly AviStream[];
  /** Where the list of pictures and sound (`LIST movi`) begins. */
  readonly moviAt: number;
  /** Where it ends as it states; the end of the file where it states nothing, or more than there is. */
  readonly moviEnd: number;
  /** Places of the indexes of OpenDML in the header (`indx`). */
  readonly superIndexes: readonly number[];
  /** Whether the file is shorter than it states. */
  readonly isCutOff: boolean;
  readonly fileBytes: number;
}

/** Headers with indexes of OpenDML take some ten kilobytes; more is none. */
const MAX_HEADER_BYTES = 4 << 20;
/** Lists and chunks in front of `movi`: headers, tags, padding. */
const MAX_LISTS = 64;
/** Later starts are taken for damage, as ffmpeg's reader takes them, ms. */
const LATEST_START_MS = 3_600_000;

/**
 * Reads the headers of an AVI file ("AVI RIFF File Reference", Microsoft).
 * @returns null where the file is none, or has no list of pictures and sound behind readable headers
 */
export async function readAviHead(file: FileHandle): Promise<AviHead | null> {
  const { size: fileBytes } = await file.stat();
  const riff = await readUpTo(file, 0, 12);
  if (riff.length < 12 || tag(riff, 0) !== 'RIFF' || tag(riff, 8) !== 'AVI ') return null;
  const riffBytes = riff.readUInt32LE(4);
  const streams: AviStream[] = [];
  const superIndexes: number[] = [];
  for (let [at, lists] = [12, 0]; lists < MAX_LISTS && at + 12 <= fileBytes; lists += 1) {
    const head = await readUpTo(file, at, 12);
    const [name, sizeBytes] = [tag(head, 0), head.readUInt32LE(4)];
    const list = name === 'LIST' ? tag(head, 8) : null;
    if (list === 'movi') {
      const stated = at + 8 + sizeBytes;
      // Captures that were never ended state nothing, or nothing but the name of the list.
      const isStated = sizeBytes > 4 && stated <= fileBytes;
      const isCutOff = (riffBytes > 4 && 8 + riffBytes > fileBytes) || (sizeBytes > 4 && stated > fileBytes);
      const moviEnd = isStated ? stated : fileBytes;
      return { streams, moviAt: at, moviEnd, superIndexes, isCutOff, fileBytes };
    }
    if (list === 'hdrl' && sizeBytes <= MAX_HEADER_BYTES) {
      const header = await readUpTo(file, at + 12, Math.max(0, sizeBytes - 4));
      readStreams(header, at + 12, streams, superIndexes);
    }
    at += 8 + sizeBytes + (sizeBytes & 1);
  }
  return null;
}

function readStreams(header: Buffer, base: number, streams: AviStream[], superIndexes: number[]): void {
  for (const list of chunksOf(header, 0, header.length)) {
    if (list.name !== 'LIST' || tag(header, list.at) !== 'strl') continue;
    const chunks = chunksOf(header, list.at + 4, list.end);
    const find = (name: string) => chunks.find((chunk) => chunk.name === name);
    superIndexes.push(...chunks.filter(({ name }) => name === 'indx').map(({ at }) => base + at - 8));
    const [stated, format] = [find('strh'), find('strf')];
    if (!stated || stated.end - stated.at < 36) continue;
    const [scale, rate] = [header.readUInt32LE(stated.at + 20), header.readUInt32LE(stated.at + 24)];
    const startMs = rate === 0 ? 0 : (header.readUInt32LE(stated.at + 28) * scale * 1000) / rate;
    const kind = KINDS[tag(header, stated.at)] ?? 'other';
    const hasFormat = kind === 'sound' && format !== undefined && format.end - format.at >= 16;
    const isNamed = kind === 'picture' && format !== undefined && format.end - format.at >= 20;
    streams.push({
      kind,
      startMs: startMs > LATEST_START_MS ? 0 : startMs,
      coding: isNamed ? tag(header, format.at + 16) : '',
      soundFormat: hasFormat ? header.readUInt16LE(format.at) : 0,
      bitsPerSample: hasFormat ? header.readUInt16LE(format.at + 14) : 0,
      scaleAt: base + stated.at + 20,
      scale,
      rate,
      sampleBytes: hasFormat ? header.readUInt16LE(format.at + 12) : 0,
      ownRateHz: hasFormat ? header.readUInt32LE(format.at + 4) : 0,
    });
  }
}

const KINDS: Readonly<Record<string, AviStream['kind']>> = { vids: 'picture', auds: 'sound' };

interface HeaderChunk {
  readonly name: string;
  /** Where its content begins and ends in the buffer. */
  readonly at: number;
  readonly end: number;
}

function chunksOf(bytes: Buffer, from: number, end: number): HeaderChunk[] {
  const chunks: HeaderChunk[] = [];
  for (let at = from; at + 8 <= end;) {
    const sizeBytes = bytes.readUInt32LE(at + 4);
    chunks.push({ name: tag(bytes, at), at: at + 8, end: Math.min(end, at + 8 + sizeBytes) });
    at += 8 + sizeBytes + (sizeBytes & 1);
  }
  return chunks;
}

/** Formats of sound (`wFormatTag`) whose units are single samples of all channels. */
export const UNCOMPRESSED: ReadonlySet<number> = new Set([1, 3]);

/** The four letters that name a chunk. */
export const tag = (bytes: Buffer, at: number): string => bytes.toString('latin1', at, at + 4);
