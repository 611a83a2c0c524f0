import { open } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { createJpegChecker } from '#server/media/jpeg/check-jpeg.ts';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';
import { createSampleReader } from '#server/media/mp4/sample-reader.ts';
import { MediaToolError } from '#server/media/tools.ts';
import type { ParseInput } from './parse-hevc-pictures.ts';

/** Coded bytes of the pictures of a clip that are read at most: half a minute of work. */
const MOST_BYTES = 500e6;

export interface ParsedJpegs {
  /** Places in the packets, rising, of pictures whose data do not end as they should. */
  readonly damaged: readonly number[];
  /** Number of pictures that were read to their end. */
  readonly whole: number;
}

/**
 * Reads every picture of a Motion JPEG clip to its end (`createJpegChecker`), in one pass over the file.
 * @returns null for other clips, for larger ones, and where a picture is coded in a way that is not supported
 * @throws MediaToolError when the job is cancelled
 */
export async function parseJpegPictures(input: ParseInput): Promise<ParsedJpegs | null> {
  const { packets, info, signal } = input;
  if (info.video[0]?.codec !== 'mjpeg') return null;
  if (packets.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) > MOST_BYTES) return null;
  const file = await open(input.inputPath, 'r');
  try {
    const check = createJpegChecker();
    const places = packets.map(({ offsetBytes, sizeBytes }) => ({ offset: offsetBytes ?? 0, sizeBytes }));
    const read = createSampleReader(file, places);
    const damaged: number[] = [];
    for (const [place, { offsetBytes, sizeBytes }] of packets.entries()) {
      if (signal?.aborted) throw new MediaToolError('cancelled', 'read the coded pictures: cancelled.');
      if (offsetBytes === null) return null;
      const sample = await read(place);
      const verdict = sample.length < sizeBytes ? 'damaged' : check(sample);
      if (verdict === 'unknown') return null;
      if (verdict === 'damaged') damaged.push(place);
      await setImmediate();
    }
    return { damaged, whole: packets.length - damaged.length };
  } catch (error) {
    if (error instanceof Mp4Error) return null;
    throw error;
  } finally {
    await file.close();
  }
}
