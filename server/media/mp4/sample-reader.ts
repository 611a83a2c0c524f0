import type { FileHandle } from 'node:fs/promises';
import { readUpTo } from './file-bytes.ts';
import type { Sample } from './sample-table.ts';

/** Where a sample lies in its file. */
export type SamplePlace = Pick<Sample, 'offset' | 'sizeBytes'>;

/** Bytes read at once, so that reads are few and cost nothing compared with the work on the samples. */
const WINDOW_BYTES = 1 << 20;
/** Most bytes of other tracks between two samples that are read along. */
const MAX_HOLE_BYTES = 1 << 16;

/**
 * Reads samples one after another, many in one read where they lie close together.
 * @returns a function that gives the bytes of a sample by its place, fewer at the end of the file
 */
export function createSampleReader(
  file: FileHandle,
  samples: readonly SamplePlace[],
): (place: number) => Promise<Buffer> {
  let window: Buffer = Buffer.alloc(0);
  let windowStart = 0;
  return async (place) => {
    const sample = samples[place];
    if (!sample) return Buffer.alloc(0);
    const { offset, sizeBytes } = sample;
    const isInside = offset >= windowStart && offset + sizeBytes <= windowStart + window.length;
    if (!isInside) {
      windowStart = offset;
      window = await readUpTo(file, offset, stretch(samples, place));
    }
    return window.subarray(offset - windowStart, offset - windowStart + sizeBytes);
  };
}

/** Bytes from the start of a sample to the end of the last one that fits, without a larger gap between them. */
function stretch(samples: readonly SamplePlace[], place: number): number {
  const start = samples[place]?.offset ?? 0;
  let end = start + (samples[place]?.sizeBytes ?? 0);
  for (let next = place + 1; next < samples.length; next += 1) {
    const { offset, sizeBytes } = samples[next] ?? { offset: 0, sizeBytes: 0 };
    if (offset < end || offset - end > MAX_HOLE_BYTES || offset + sizeBytes - start > WINDOW_BYTES) break;
    end = offset + sizeBytes;
  }
  return end - start;
}
