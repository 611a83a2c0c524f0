import { Buffer } from 'node:buffer';

/** One file of an archive. Its size must be known in advance, because it gives the length of the whole archive. */
export interface TarEntry {
  /** Path inside the archive with `/` as separator; any Unicode text. */
  readonly path: string;
  readonly sizeBytes: number;
  /** Time of last change, epoch ms. */
  readonly modifiedMs: number;
  /** Called once, when the archive reaches this file. */
  readonly open: () => AsyncIterable<Uint8Array> | Promise<AsyncIterable<Uint8Array>>;
}

const BLOCK_BYTES = 512;
const FIELD_NAME_BYTES = 100;
/** Largest size in eleven octal digits; POSIX.1-2017, pax interchange format. */
const MAX_ENTRY_BYTES = 8 ** 11 - 1;

/** A file whose text or bytes are in memory. */
export function memoryEntry(path: string, content: string | Uint8Array, modifiedMs: number): TarEntry {
  const bytes = typeof content === 'string' ? Buffer.from(content, 'utf8') : content;
  return { path, sizeBytes: bytes.byteLength, modifiedMs, open: () => oneChunk(bytes) };
}

/** Exact length of the archive with these entries, bytes. */
export function tarSizeBytes(entries: readonly TarEntry[]): number {
  const files = entries.reduce((sum, entry) => sum + headOf(entry).byteLength + padded(entry.sizeBytes), 0);
  return files + 2 * BLOCK_BYTES;
}

/**
 * Streams the archive in chunks, in the POSIX.1-2017 pax interchange format (ustar blocks, names beyond 100 ASCII bytes
 * in a pax header). Does not hold any file in memory.
 * @throws Error when a file has more or fewer bytes than declared, which would break the archive
 */
export async function* tarArchive(entries: Iterable<TarEntry>): AsyncGenerator<Uint8Array> {
  for (const entry of entries) {
    yield headOf(entry);
    let left = entry.sizeBytes;
    for await (const chunk of await entry.open()) {
      left -= chunk.byteLength;
      if (left < 0) break;
      yield chunk;
    }
    if (left !== 0) throw new Error(`archive: ${entry.path} does not have ${entry.sizeBytes} bytes`);
    const rest = padded(entry.sizeBytes) - entry.sizeBytes;
    if (rest > 0) yield Buffer.alloc(rest);
  }
  yield Buffer.alloc(2 * BLOCK_BYTES);
}

async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.byteLength > 0) yield bytes;
}

function padded(sizeBytes: number): number {
  return Math.ceil(sizeBytes / BLOCK_BYTES) * BLOCK_BYTES;
}

/** All header blocks of one file. */
function headOf(entry: TarEntry): Buffer {
  if (entry.sizeBytes > MAX_ENTRY_BYTES) throw new Error(`archive: ${entry.path} is larger than 8 GiB`);
  const plain = /^[\x20-\x7e]+$/.test(entry.path) && entry.path.length <= FIELD_NAME_BYTES;
  if (plain) return headerBlock(entry.path, entry.sizeBytes, entry.modifiedMs, '0');
  const record = Buffer.from(paxRecord('path', entry.path), 'utf8');
  const body = Buffer.alloc(padded(record.byteLength));
  record.copy(body);
  // Readers without pax support see the shortened ASCII name.
  const fallback = entry.path.replaceAll(/[^\x20-\x7e]/g, '_').slice(-FIELD_NAME_BYTES);
  return Buffer.concat([
    headerBlock('PaxHeader', record.byteLength, entry.modifiedMs, 'x'),
    body,
    headerBlock(fallback, entry.sizeBytes, entry.modifiedMs, '0'),
  ]);
}

/** Formats `<length> <key>=<value>\n`, where the length includes its own digits. */
function paxRecord(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  const restBytes = Buffer.byteLength(rest, 'utf8');
  let total = restBytes;
  while (String(total).length + restBytes !== total) total = String(total).length + restBytes;
  return `${total}${rest}`;
}

function headerBlock(name: string, sizeBytes: number, modifiedMs: number, type: '0' | 'x'): Buffer {
  const block = Buffer.alloc(BLOCK_BYTES);
  const octal = (value: number, offset: number, digits: number) =>
    void block.write(value.toString(8).padStart(digits, '0'), offset, 'ascii');
  block.write(name, 0, FIELD_NAME_BYTES, 'ascii');
  octal(0o644, 100, 7);
  octal(0, 108, 7);
  octal(0, 116, 7);
  octal(sizeBytes, 124, 11);
  octal(Math.max(0, Math.floor(modifiedMs / 1000)), 136, 11);
  // The checksum is computed with its own field filled with blanks.
  block.write(' '.repeat(8), 148, 'ascii');
  block.write(type, 156, 'ascii');
  block.write('ustar\0' + '00', 257, 'ascii');
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'ascii');
  return block;
}
