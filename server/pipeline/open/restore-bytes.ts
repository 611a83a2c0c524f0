import { createReadStream, createWriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { findContainerStart } from '#server/media/probe/find-container.ts';
import { readUpTo } from '#server/media/mp4/file-bytes.ts';
import { sniffContainer } from '#server/media/probe/sniff-container.ts';
import {
  detectTextTransfer,
  type TextTransfer,
  undoTextTransfer,
} from '#server/media/ffmpeg/text-transfer.ts';

export interface RestoreInput {
  readonly inputPath: string;
  /** Where to write the restored file, if it can be restored. */
  readonly restoredPath: string;
  readonly signal?: AbortSignal;
}

export interface RestoredBytes {
  /** The file as it was sent, or the input if nothing could be undone. */
  readonly path: string;
  /** What was undone, in a sentence; null if nothing was. */
  readonly note: string | null;
  /** What was done to the file and cannot be undone, in a sentence. */
  readonly harm: string | null;
}

const HEAD_BYTES = 256 << 10;

const HARM: Record<Exclude<TextTransfer, 'line_ends' | 'utf8'>, string> = {
  seven_bits: 'The file was sent as text on its way, and every byte has lost its highest bit.',
  replaced: 'The file was read as text on its way, and all bytes that are no text were replaced by one mark.',
  no_line_feeds:
    'The file was sent as text on its way, and its line feeds were changed so that none is left.',
};

/**
 * Undoes changes to a whole file on its way: other data put before it, and text transfers that can be reversed byte for
 * byte. An intact file costs reading its first bytes.
 * @throws the signal's reason when aborted
 */
export async function restoreBytes(input: RestoreInput): Promise<RestoredBytes> {
  const head = await readHead(input.inputPath);
  const transfer = detectTextTransfer(head);
  if (transfer === 'line_ends' || transfer === 'utf8') {
    await pipeline(
      createReadStream(input.inputPath),
      undoTextTransfer(transfer),
      createWriteStream(input.restoredPath),
      { signal: input.signal },
    );
    // Real text looks the same.
    if (sniffContainer(await readHead(input.restoredPath)) === null) return asItIs(input);
    const how =
      transfer === 'line_ends' ? 'its line ends were changed' : 'its bytes were written as characters';
    return {
      path: input.restoredPath,
      note: `The file was sent as text on its way, and ${how}; every byte was put back.`,
      harm: null,
    };
  }
  if (sniffContainer(head) !== null) return { ...asItIs(input), harm: transfer ? HARM[transfer] : null };
  const start = await findContainerStart(input.inputPath, input.signal);
  if (start === null) return asItIs(input);
  await pipeline(createReadStream(input.inputPath, { start }), createWriteStream(input.restoredPath), {
    signal: input.signal,
  });
  return {
    path: input.restoredPath,
    note: `The clip begins ${start} bytes into the file; what stands in front of it was left out.`,
    harm: null,
  };
}

const asItIs = ({ inputPath }: RestoreInput): RestoredBytes => ({ path: inputPath, note: null, harm: null });

async function readHead(path: string): Promise<Buffer> {
  const file = await open(path, 'r');
  try {
    return await readUpTo(file, 0, HEAD_BYTES);
  } finally {
    await file.close();
  }
}
