import { open } from 'node:fs/promises';
import { walkChunks } from './avi-chunks.ts';
import { readAviHead } from './avi-head.ts';

/**
 * Number of pictures that an AVI file lists but does not hold at its end. AVI counts one clock tick per index entry. An
 * entry without a picture shows the picture before it again and is no loss, so pictures may lie several ticks apart.
 * @param listed number of entries that the stream's header states
 * @param lastTick decode time of the last picture, ticks
 * @param pictures number of pictures in the file
 */
export function missingInAvi(listed: number, lastTick: number, pictures: number): number {
  const stride = pictures > 1 ? Math.max(1, lastTick / (pictures - 1)) : 1;
  return Math.max(0, Math.floor((listed - 1 - lastTick) / stride));
}

export interface ListedPictures {
  readonly inputPath: string;
  /** Number of its stream. */
  readonly stream: number;
  /** Number of entries that the stream's header states. */
  readonly listed: number;
  /** Decode time of the last picture, ticks. */
  readonly lastTick: number;
  /** Number of pictures in the file. */
  readonly pictures: number;
}

/**
 * Number of pictures that an AVI file lists but does not hold at its end, by `missingInAvi`. Entries without a picture
 * at the very end look as if they were missing, so all are counted where some seem to be.
 * @throws the signal's reason when aborted
 */
export async function missingPictures(
  { inputPath, stream, listed, lastTick, pictures }: ListedPictures,
  signal?: AbortSignal,
): Promise<number> {
  const missing = missingInAvi(listed, lastTick, pictures);
  if (missing === 0) return 0;
  const file = await open(inputPath, 'r');
  try {
    const head = await readAviHead(file);
    if (!head) return missing;
    const { chunks } = await walkChunks(file, head, signal);
    const entries = chunks.filter(({ name }) => Number(name.slice(0, 2)) === stream).length;
    return entries >= listed ? 0 : missing;
  } finally {
    await file.close();
  }
}
