import { constants } from 'node:fs';
import { copyFile, open } from 'node:fs/promises';
import { walkChunks } from '#server/media/avi/avi-chunks.ts';
import { type AviStream, readAviHead } from '#server/media/avi/avi-head.ts';
import { soundsAtWrongRate, statesOtherRate } from '#server/media/avi/sound-rate.ts';
import { writeFully } from '#server/media/mp4/file-bytes.ts';
import type { MendAviInput } from './mend-avi.ts';

/**
 * Copies an AVI file with the sample rate of its uncompressed sound, if its header counts the sound at a rate that
 * makes it drift from the picture (`soundsAtWrongRate`).
 * @returns what was done, in a sentence; null if nothing was written
 * @throws the signal's reason when aborted
 */
export async function withOwnSoundRate({
  inputPath,
  outputPath,
  signal,
}: MendAviInput): Promise<string | null> {
  const wrong = await findWrong(inputPath, signal);
  const [first] = wrong;
  if (!first) return null;
  await copyFile(inputPath, outputPath, constants.COPYFILE_FICLONE);
  const file = await open(outputPath, 'r+');
  try {
    for (const { scaleAt, ownRateHz } of wrong) {
      const fields = Buffer.alloc(8);
      fields.writeUInt32LE(1, 0);
      fields.writeUInt32LE(ownRateHz, 4);
      await writeFully(file, fields, scaleAt);
    }
  } finally {
    await file.close();
  }
  const statedHz = Math.round(first.rate / first.scale);
  return `The file states ${statedHz} Hz for the sound and the sound itself ${first.ownRateHz} Hz, at which it ends with the picture: that one is used.`;
}

async function findWrong(inputPath: string, signal: AbortSignal | undefined): Promise<readonly AviStream[]> {
  const file = await open(inputPath, 'r');
  try {
    const head = await readAviHead(file);
    // Most headers show that no counting is needed.
    if (!head?.streams.some(statesOtherRate)) return [];
    const { chunks, breaks, isMultiPart } = await walkChunks(file, head, signal);
    return breaks > 0 || isMultiPart ? [] : soundsAtWrongRate(head.streams, chunks);
  } finally {
    await file.close();
  }
}
