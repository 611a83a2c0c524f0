import { constants } from 'node:fs';
import { copyFile, open, type FileHandle } from 'node:fs/promises';

// Layout of ELF files: System V ABI, chapters 4 and 5; GNU's additions: `elf.h` of glibc.
const ELF64_LITTLE_ENDIAN = Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1]);
const HEADER_BYTES = 64;
const SEGMENT_NONE = 0;
const SEGMENT_DYNAMIC = 2;
const SEGMENT_READ_ONLY_ONCE_BOUND = 0x6474e552;
const ENTRY_BYTES = 16;
/** DT_FLAGS and DT_FLAGS_1, with the bit in each that asks for everything to be bound at the start. */
const BIND_NOW: ReadonlyMap<number, number> = new Map([
  [30, 8],
  [0x6ffffffb, 1],
]);

/** A number of 32 bits to write. */
interface Change {
  readonly offsetBytes: number;
  readonly value: number;
}

/**
 * Copies a program or library of Linux (ELF, 64 bit, little endian) that asks the loader to look up all functions of
 * other libraries at the start, so that each is looked up when it is called first. Only flags for the loader change:
 * the two that ask for it, and the type of the segment that keeps the table of looked-up functions from being written.
 * @returns whether it asks for that; only then is there a copy
 * @throws Error of the file system
 */
export async function copyBoundLate(file: string, copy: string): Promise<boolean> {
  const source = await open(file);
  const changes = await findChanges(source).finally(() => source.close());
  if (changes.length === 0) return false;
  await copyFile(file, copy, constants.COPYFILE_FICLONE);
  const target = await open(copy, 'r+');
  try {
    for (const { offsetBytes, value } of changes) {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32LE(value);
      await target.write(bytes, 0, bytes.length, offsetBytes);
    }
  } finally {
    await target.close();
  }
  return true;
}

async function findChanges(file: FileHandle): Promise<Change[]> {
  const header = await read(file, 0, HEADER_BYTES);
  if (!header.subarray(0, ELF64_LITTLE_ENDIAN.length).equals(ELF64_LITTLE_ENDIAN)) return [];
  const tableOffset = Number(header.readBigUInt64LE(32));
  const segmentBytes = header.readUInt16LE(54);
  const table = await read(file, tableOffset, segmentBytes * header.readUInt16LE(56));
  const flags: Change[] = [];
  const segments: Change[] = [];
  for (let at = 0; at < table.length; at += segmentBytes) {
    const type = table.readUInt32LE(at);
    if (type === SEGMENT_READ_ONLY_ONCE_BOUND)
      segments.push({ offsetBytes: tableOffset + at, value: SEGMENT_NONE });
    if (type !== SEGMENT_DYNAMIC) continue;
    const start = Number(table.readBigUInt64LE(at + 8));
    flags.push(...askingNow(await read(file, start, Number(table.readBigUInt64LE(at + 32))), start));
  }
  return flags.length === 0 ? [] : [...flags, ...segments];
}

/** The flags of a dynamic segment, with the bit taken away where it is set. */
function askingNow(entries: Buffer, startBytes: number): Change[] {
  const changes: Change[] = [];
  for (let at = 0; at + ENTRY_BYTES <= entries.length; at += ENTRY_BYTES) {
    const tag = Number(entries.readBigUInt64LE(at));
    if (tag === 0) break;
    const [bit = 0, value] = [BIND_NOW.get(tag), entries.readUInt32LE(at + 8)];
    if (value & bit) changes.push({ offsetBytes: startBytes + at + 8, value: value & ~bit });
  }
  return changes;
}

async function read(file: FileHandle, offsetBytes: number, sizeBytes: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(sizeBytes), 0, sizeBytes, offsetBytes);
  return buffer.subarray(0, bytesRead);
}
