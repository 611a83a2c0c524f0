import type { FileHandle } from 'node:fs/promises';
import { readUpTo } from '../mp4/file-bytes.ts';
import { tag, type AviHead } from './avi-head.ts';
import type { AviChunk } from './avi-chunks.ts';

/** A line of the index (`idx1`): a chunk, and where it should lie. */
export interface AviEntry extends AviChunk {
  readonly flags: number;
}

export interface AviIndex {
  /** Where the name of the index stands. */
  readonly at: number;
  readonly entries: readonly AviEntry[];
}

const ENTRY_BYTES = 16;
/** Most bytes of an index. Even that of the longest clip that is accepted is smaller. */
const MAX_INDEX_BYTES = 32 << 20;

/**
 * Reads the index behind pictures and sound. Where bytes were lost or inserted, it is not where it should be, and the
 * last one in the file is taken. Lines that name lists (`rec `) are left out.
 * @param chunks what lies in the file; shows from which place the lines count
 */
export async function readAviIndex(
  file: FileHandle,
  head: AviHead,
  chunks: readonly AviChunk[],
): Promise<AviIndex | null> {
  const at = (await isIndex(file, head.moviEnd + (head.moviEnd & 1), head))
    ? head.moviEnd + (head.moviEnd & 1)
    : await lastIndex(file, head);
  if (at === null) return null;
  const [sizeBytes] = [(await readUpTo(file, at + 4, 4)).readUInt32LE(0)];
  const bytes = await readUpTo(file, at + 8, Math.min(sizeBytes, MAX_INDEX_BYTES));
  const lines: AviEntry[] = [];
  for (let i = 0; i + ENTRY_BYTES <= bytes.length; i += ENTRY_BYTES) {
    const name = tag(bytes, i);
    if (name === 'rec ') continue;
    const place = { at: bytes.readUInt32LE(i + 8), sizeBytes: bytes.readUInt32LE(i + 12) };
    lines.push({ name, flags: bytes.readUInt32LE(i + 4), ...place });
  }
  const base = findBase(lines, chunks, head);
  return { at, entries: lines.map((line) => ({ ...line, at: line.at + base })) };
}

async function isIndex(file: FileHandle, at: number, { fileBytes }: AviHead): Promise<boolean> {
  const header = await readUpTo(file, at, 8);
  if (header.length < 8 || tag(header, 0) !== 'idx1') return false;
  const sizeBytes = header.readUInt32LE(4);
  return sizeBytes > 0 && sizeBytes % ENTRY_BYTES === 0 && at + 8 + sizeBytes <= fileBytes;
}

async function lastIndex(file: FileHandle, head: AviHead): Promise<number | null> {
  const from = Math.max(head.moviAt, head.fileBytes - MAX_INDEX_BYTES);
  const tail = await readUpTo(file, from, head.fileBytes - from);
  for (let i = tail.lastIndexOf('idx1', undefined, 'latin1'); i >= 0;) {
    if (await isIndex(file, from + i, head)) return from + i;
    if (i === 0) break;
    i = tail.lastIndexOf('idx1', i - 1, 'latin1');
  }
  return null;
}

/** How many lines are compared with the chunks for each place that they may count from. */
const TRIED = 2000;

/**
 * The place from which the lines count. It should be the name of the list, but may be the start of the file or anything
 * else: the place is taken from which most lines lead to a chunk of their kind and size.
 */
function findBase(lines: readonly AviEntry[], chunks: readonly AviChunk[], head: AviHead): number {
  const byPlace = new Map(chunks.map((chunk) => [chunk.at, chunk]));
  const [line, chunk] = [lines.find(({ sizeBytes }) => sizeBytes > 0), chunks[0]];
  const own = line && chunk ? [chunk.at - line.at] : [];
  let [best, most] = [head.moviAt + 8, -1];
  for (const base of [head.moviAt + 8, 0, ...own]) {
    const fits = lines.slice(0, TRIED).filter((entry) => {
      const there = byPlace.get(entry.at + base);
      return there?.name === entry.name && there.sizeBytes === entry.sizeBytes;
    }).length;
    if (fits > most) [best, most] = [base, fits];
  }
  return best;
}
