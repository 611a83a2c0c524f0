import type { FileHandle } from 'node:fs/promises';
import { readUpTo } from '../mp4/file-bytes.ts';
import { tag, type AviHead } from './avi-head.ts';

/** A picture, or a piece of sound, as it lies in the file. */
export interface AviChunk {
  /** Number of its stream and what it holds: `00dc`, `01wb`. */
  readonly name: string;
  /** Where its header of 8 bytes begins. */
  readonly at: number;
  /** What the header states of its content. */
  readonly sizeBytes: number;
}

export interface AviWalk {
  readonly chunks: readonly AviChunk[];
  /** Places at which no header stood where one had to. */
  readonly breaks: number;
  /** The file goes on in another part (`RIFF AVIX`, OpenDML): these chunks are not all. */
  readonly isMultiPart: boolean;
}

/** Headers lie some kilobytes apart: a larger look reads what is not asked for. */
const LOOK_BYTES = 4096;
const SCAN_BYTES = 1 << 20;
/** Where pictures and sound end, and what else may lie among them. */
const BESIDE = /^(JUNK|idx1|ix\d\d|LIST)$/;

/**
 * Lists what lies in the file, header by header. Behind a place where none stands the next is looked for from the last good one
 * on, as bytes may be missing inside of it; it must lead to another.
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
    // Some writers leave the byte out that makes sizes even.
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

/** What stands at a place and where the next begins; null where it is no header. */
function step(header: Buffer, at: number, head: AviHead, isChunk: IsChunk): Step | null {
  if (header.length < 8) return null;
  const [name, sizeBytes] = [tag(header, 0), header.readUInt32LE(4)];
  const next = at + 8 + sizeBytes + (sizeBytes & 1);
  if (name === 'RIFF') return { chunk: null, at: next, endsPart: true };
  if (name === 'LIST' && header.length >= 12 && tag(header, 8) === 'rec ') {
    return { chunk: null, at: at + 12, endsPart: false };
  }
  // The last one of a file may be cut off.
  if (next - (sizeBytes & 1) > head.fileBytes) return null;
  if (isChunk(name)) return { chunk: { name, at, sizeBytes }, at: next, endsPart: false };
  return BESIDE.test(name) ? { chunk: null, at: next, endsPart: false } : null;
}

/** The first header from a place on that leads to another, or to the end. */
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

/** Reads headers, some bytes more at once than asked for. */
function createLook(file: FileHandle): (at: number) => Promise<Buffer> {
  let [from, bytes]: [number, Buffer] = [0, Buffer.alloc(0)];
  return async (at) => {
    if (at < from || at + 12 > from + bytes.length) {
      [from, bytes] = [at, await readUpTo(file, at, LOOK_BYTES)];
    }
    return bytes.subarray(at - from, at - from + 12);
  };
}
