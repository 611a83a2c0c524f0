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
  /**
   * Sample rate of a sound as its format states it, and bytes per sample of all channels together; 0 where there is
   * none.
   */
  readonly ownRateHz: number;
  readonly sampleBytes: number;
}

/** The headers in front of the pictures and sound of an AVI file. Places count bytes from the start of the file. */
export interface AviHead {
  readonly streams: readonly AviStream[];
  /** Where the list of pictures and sound (`LIST movi`) begins. */
  readonly moviAt: number;
  /** Where that list ends by its stated size; the end of the file where it states none, or more than the file holds. */
  readonly moviEnd: number;
  /** Places of the indexes of OpenDML in the header (`indx`). */
  readonly superIndexes: readonly number[];
  /** Whether the file is shorter than it states. */
  readonly isCutOff: boolean;
  readonly fileBytes: number;
}

/**
 * Most bytes of headers that are read. Headers with OpenDML indexes take some ten kilobytes; anything larger than this
 * is not a header.
 */
const MAX_HEADER_BYTES = 4 << 20;
/** Most lists and chunks in front of `movi`: headers, tags, padding. */
const MAX_LISTS = 64;
/** A start later than this is taken for damage, as ffmpeg's demuxer does, ms. */
const LATEST_START_MS = 3_600_000;

/**
 * Reads the headers of an AVI file ("AVI RIFF File Reference", Microsoft).
 * @returns null where the file is no AVI file, or has no list of pictures and sound behind readable headers
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
      // A capture that was never closed states no size, or only the 4 bytes of the list's name.
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

/** Sound formats (`wFormatTag`) whose units are single samples of all channels. */
export const UNCOMPRESSED: ReadonlySet<number> = new Set([1, 3]);

/** The four letters that name a chunk. */
export const tag = (bytes: Buffer, at: number): string => bytes.toString('latin1', at, at + 4);
