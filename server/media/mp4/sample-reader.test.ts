import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createSampleReader } from './sample-reader.ts';
import type { Sample } from './sample-table.ts';

const folder = await mkdtemp(path.join(tmpdir(), 'samples-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

const content = Buffer.from(Uint32Array.from({ length: 1 << 20 }, (_, i) => i * 2_654_435_761).buffer);

function sample([offset, sizeBytes]: readonly [number, number]): Sample {
  return { offset, sizeBytes, dts: 0, pts: 0, durationTicks: 1, sync: true, chunk: 0, description: 1 };
}

describe('createSampleReader', () => {
  it('gives every sample its bytes, whatever their order, their size and the holes between them', async () => {
    const places = [
      [1000, 500],
      [1500, 70_000],
      [72_000, 10],
      [900_000, 1_500_000],
      [900_000, 20],
      [2_400_000, 0],
      [2_400_000, 900_000],
      [3_300_000, 300_000],
      [5, 40],
      [content.length - 10, 10],
      [content.length - 10, 30],
      [content.length + 5, 30],
    ] as const;
    const name = path.join(folder, 'samples');
    await writeFile(name, content);
    const file = await open(name, 'r');
    try {
      const read = createSampleReader(file, places.map(sample));
      for (const [place, [offset, sizeBytes]] of places.entries()) {
        expect((await read(place)).equals(content.subarray(offset, offset + sizeBytes))).toBe(true);
      }
    } finally {
      await file.close();
    }
  });
});
