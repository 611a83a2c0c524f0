import { open } from 'node:fs/promises';
import { leaf, serializeBox } from './box.ts';
import { readUpTo, writeFully } from './file-bytes.ts';

/** Identifies our `uuid` box (ISO/IEC 14496-12, 11.1). The value is random, so no other program uses it. */
const OWN_TYPE = Buffer.from('b557f8263bf74b00ba666576ac679561', 'hex');
const BOX_HEAD_BYTES = 8;
const LENGTH_BYTES = 4;
const LEAST_BYTES = BOX_HEAD_BYTES + OWN_TYPE.length + LENGTH_BYTES;
/** Most bytes of a note. A file that states more is not ours. */
const MOST_BYTES = 1 << 20;

/**
 * Appends a note in the program's words to a finished MP4, as a box that players skip and that is not copied along with
 * the streams into another file. Its last four bytes are its length, so that it can be found from the end of the file.
 */
export async function appendEndNote(filePath: string, note: string): Promise<void> {
  const body = Buffer.concat([OWN_TYPE, Buffer.from(note, 'utf8'), Buffer.alloc(LENGTH_BYTES)]);
  const box = serializeBox(leaf('uuid', body));
  box.writeUInt32BE(box.length, box.length - LENGTH_BYTES);
  const file = await open(filePath, 'r+');
  try {
    await writeFully(file, box, (await file.stat()).size);
  } finally {
    await file.close();
  }
}

/** Our note at the end of a file, or null where there is none. */
export async function readEndNote(filePath: string): Promise<string | null> {
  const file = await open(filePath, 'r');
  try {
    const { size } = await file.stat();
    if (size < LEAST_BYTES) return null;
    const length = (await readUpTo(file, size - LENGTH_BYTES, LENGTH_BYTES)).readUInt32BE(0);
    if (length < LEAST_BYTES || length > Math.min(size, MOST_BYTES)) return null;
    const box = await readUpTo(file, size - length, length);
    const isBox = box.readUInt32BE(0) === length && box.toString('latin1', 4, BOX_HEAD_BYTES) === 'uuid';
    const from = BOX_HEAD_BYTES + OWN_TYPE.length;
    if (!isBox || !box.subarray(BOX_HEAD_BYTES, from).equals(OWN_TYPE)) return null;
    return box.toString('utf8', from, length - LENGTH_BYTES);
  } finally {
    await file.close();
  }
}
