import { open, type FileHandle } from 'node:fs/promises';
import { readExactly, writeFully } from '../mp4/file-bytes.ts';
import { type AviHead, type AviStream, UNCOMPRESSED } from './avi-head.ts';
import type { AviPiece } from './avi-reconcile.ts';

export interface WriteAviInput {
  readonly file: FileHandle;
  readonly head: AviHead;
  readonly pieces: readonly AviPiece[];
  readonly outputPath: string;
  readonly signal?: AbortSignal | undefined;
}

/** Bytes gathered before they are written. */
const WRITE_BYTES = 1 << 20;

/**
 * Writes pictures and sound one after another under the headers of the file, with an index. A picture without bytes
 * becomes an empty one, for which AVI shows the picture before it again. The missing part of a piece of sound becomes
 * silence. So does a piece of uncompressed sound without its header, because anything may stand there; for compressed
 * sound the bytes found there are kept, which decoders skip. Everything behind keeps its time.
 * @throws Mp4Error where the file ends before its pieces do, the signal's reason when aborted
 */
export async function writeAvi({ file, head, pieces, outputPath, signal }: WriteAviInput): Promise<void> {
  const output = await open(outputPath, 'w');
  try {
    const front = Buffer.concat([
      await readExactly(file, 0, head.moviAt),
      Buffer.from('LIST    movi', 'latin1'),
    ]);
    for (const at of head.superIndexes) front.write('JUNK', at, 'latin1');
    const index: Buffer[] = [];
    let gathered: Buffer[] = [front];
    let [waiting, written, place] = [front.length, 0, 4];
    const flush = async () => {
      await writeFully(output, Buffer.concat(gathered), written);
      [written, waiting, gathered] = [written + waiting, 0, []];
    };
    const put = async (bytes: Buffer) => {
      gathered.push(bytes);
      waiting += bytes.length;
      if (waiting >= WRITE_BYTES) await flush();
    };
    for (const piece of pieces) {
      signal?.throwIfAborted();
      const content = await contentOf(file, piece, head.streams[Number(piece.name.slice(0, 2))]);
      const line = Buffer.alloc(16);
      line.write(piece.name, 0, 'latin1');
      [piece.flags, place, content.length].forEach((value, at) => line.writeUInt32LE(value, 4 * (at + 1)));
      index.push(line);
      await put(chunk(piece.name, content));
      place += 8 + content.length + (content.length & 1);
    }
    await put(chunk('idx1', Buffer.concat(index)));
    await flush();
    await writeFully(output, sized(place), head.moviAt + 4);
    await writeFully(output, sized(written - 8), 4);
  } finally {
    await output.close();
  }
}

const EMPTY = Buffer.alloc(0);
/**
 * The start code of a unit (ITU-T H.264, annex B). Without it, nothing shows that a picture lies there, and copying it
 * leaves no trace.
 */
const START_CODE = Buffer.of(0, 0, 1);
const beginsUnit = (bytes: Buffer) => [0, 1].includes(bytes.subarray(0, 4).indexOf(START_CODE));
const isH264 = (stream: AviStream | undefined) => /^([hx]264|avc1)$/i.test(stream?.coding ?? '');

async function contentOf(file: FileHandle, piece: AviPiece, stream: AviStream | undefined): Promise<Buffer> {
  const { state, sizeBytes, from, end } = piece;
  const isSound = stream?.kind === 'sound';
  const isRaw = stream !== undefined && UNCOMPRESSED.has(stream.soundFormat);
  if (!isSound || state === 'whole') {
    const bytes = await readExactly(file, from, end - from);
    return state === 'headless' && isH264(stream) && !beginsUnit(bytes) ? EMPTY : bytes;
  }
  // 8-bit samples are unsigned: 128 is the middle.
  const silence = Buffer.alloc(sizeBytes, isRaw && stream.bitsPerSample === 8 ? 0x80 : 0);
  if (state === 'gone' || (state === 'headless' && isRaw)) return silence;
  silence.set(await readExactly(file, from, end - from));
  return silence;
}

function chunk(name: string, content: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from(name, 'latin1'),
    sized(content.length),
    content,
    Buffer.alloc(content.length & 1),
  ]);
}

function sized(bytes: number): Buffer {
  const field = Buffer.alloc(4);
  field.writeUInt32LE(bytes);
  return field;
}
