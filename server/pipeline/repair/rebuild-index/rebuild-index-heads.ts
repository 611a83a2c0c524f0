import type { FileHandle } from 'node:fs/promises';
import { firstUnit, readSampleHead } from '#server/media/mp4/sample-head.ts';
import type { FoundPicture } from './rebuild-index-scan.ts';
import type { PictureSettings } from './rebuild-index-settings.ts';

/**
 * Reads what the first slices of listed pictures say about their order, from the heads of their samples alone.
 * @returns null when one of them cannot be read
 * @throws the signal's reason when aborted
 */
export async function readHeads(
  file: FileHandle,
  samples: readonly { readonly offset: number; readonly sizeBytes: number }[],
  { coding, lengthSize }: Pick<PictureSettings, 'coding' | 'lengthSize'>,
  signal?: AbortSignal,
): Promise<FoundPicture[] | null> {
  const pictures: FoundPicture[] = [];
  const isSlice = (unit: Buffer) => coding.headOf(unit) !== null;
  for (const sample of samples) {
    signal?.throwIfAborted();
    const found = firstUnit(await readSampleHead(file, sample), lengthSize, isSlice);
    const head = found && coding.headOf(found.unit);
    if (!head?.opens) return null;
    pictures.push({ offset: sample.offset, sizeBytes: sample.sizeBytes, isKey: head.isKey, mark: head.mark });
  }
  return pictures;
}
