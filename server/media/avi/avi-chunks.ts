import type { FileHandle } from 'node:fs/promises';
import { readUpTo } from '../mp4/file-bytes.ts';
import { tag, type AviHead } from './avi-head.ts';

/** A picture or a piece of sound, as it lies in the file. */
export interface AviChunk {
  /** Stream number and kind of content: `00dc`, `01wb`. */
  readonly name: string;
  /** Where its 8-byte header begins. */
  readonly at: number;
  /** Size of its content as the header states it. */
  readonly sizeBytes: number;
}

export interface AviWalk {
  readonly chunks: readonly AviChunk[];
  /** Number of places where a header should stand but none did. */
  readonly breaks: number;
  /** Whether the file goes on in another part (`RIFF AVIX`, OpenDML), so that these chunks are not all. */
  readonly isMultiPart: boolean;
}

/**
 * Bytes read at once. Headers lie some kilobytes apart, so reading more would mostly read content that nobody needs.
 */
const LOOK_BYTES = 4096;
const SCAN_BYTES = 1 << 20;
/** Chunks that may lie among pictures and sound, or directly behind them. */
const BESIDE = /^(JUNK|idx1|ix\d\d|LIST)$/;

/**
 * Lists what lies in the file, header by header. Where no header stands, the next one is looked for from the last good
 * one on, because bytes may be missing inside that one. A header counts as found only if it leads to another.
 * @throws the signal's reason when aborted
 */
export async function walkChunks(file: FileHandle, head: AviHead, signal?: AbortSignal): Promise<AviWalk> {
  const look = createLook(file);
  const isChunk = ofStreams(head.streams.length);
  const chunks: AviChunk[] = [];
  let breaks = 0;
  let at = head.moviAt + 12;
  while (at + 8 <= head.moviEnd) {
    signal?.throwIfAborted();
    const header = await look(at);
    const next = step(header, at, head, isChunk);
    if (next?.chunk) chunks.push(next.chunk);
    if (next) {
      if (next.endsPart) return { chunks, breaks, isMultiPart: true };
      at = next.at;
      continue;
    }
    // Some writers leave out the byte that pads an odd size to an even one.
    if ((chunks.at(-1)?.sizeBytes ?? 0) & 1 && step(await look(at - 1), at - 1, head, isChunk)) {
      at -= 1;
      continue;
    }
    breaks += 1;
    const from = chunks.at(-1)?.at ?? at;
    const resumed = await findHeader(file, from + 8, head, isChunk);
    if (resumed === null) break;
    at = resumed;
  }
  return { chunks, breaks, isMultiPart: false };
}

type IsChunk = (name: string) => boolean;

function ofStreams(count: number): IsChunk {
  return (name) => /^\d\d[a-zA-Z_]{2}$/.test(name) && Number(name.slice(0, 2)) < count;
}

interface Step {
  readonly chunk: AviChunk | null;
  readonly at: number;
  readonly endsPart: boolean;
}

/** The header at a place and where the next begins; null where there is no header. */
function step(header: Buffer, at: number, head: AviHead, isChunk: IsChunk): Step | null {
  if (header.length < 8) return null;
  const [name, sizeBytes] = [tag(header, 0), header.readUInt32LE(4)];
  const next = at + 8 + sizeBytes + (sizeBytes & 1);
  if (name === 'RIFF') return { chunk: null, at: next, endsPart: true };
  if (name === 'LIST' && header.length >= 12 && tag(header, 8) === 'rec ') {
    return { chunk: null, at: at + 12, endsPart: false };
  }
  // The last chunk of a file may be cut off.
  if (next - (sizeBytes & 1) > head.fileBytes) return null;
  if (isChunk(name)) return { chunk: { name, at, sizeBytes }, at: next, endsPart: false };
  return BESIDE.test(name) ? { chunk: null, at: next, endsPart: false } : null;
}

/** The first header, from a place on, that leads to another header or to the end. */
async function findHeader(
  file: FileHandle,
  from: number,
  head: AviHead,
  isChunk: IsChunk,
): Promise<number | null> {
  for (let base = from; base + 8 <= head.moviEnd; base += SCAN_BYTES) {
    const piece = await readUpTo(file, base, Math.min(SCAN_BYTES + 12, head.moviEnd - base));
    for (let i = 0; i + 8 <= Math.min(piece.length, SCAN_BYTES + 8); i += 1) {
      const digit = piece[i] ?? 0;
      if (digit < 0x30 || digit > 0x39 || !isChunk(tag(piece, i))) continue;
      const found = step(piece.subarray(i), base + i, head, isChunk);
      if (!found?.chunk) continue;
      if (found.at >= head.moviEnd) return base + i;
      if (step(await readUpTo(file, found.at, 12), found.at, head, isChunk)) return base + i;
    }
  }
  return null;
}

/** Reads headers, each time with some more bytes than asked for. */
function createLook(file: FileHandle): (at: number) => Promise<Buffer> {
  let [from, bytes]: [number, Buffer] = [0, Buffer.alloc(0)];
  return async (at) => {
    if (at < from || at + 12 > from + bytes.length) {
      [from, bytes] = [at, await readUpTo(file, at, LOOK_BYTES)];
    }
    return bytes.subarray(at - from, at - from + 12);
  };
}
