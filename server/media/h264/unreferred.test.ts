import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isUnreferred } from './unreferred.ts';

let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'reelmend-unreferred-'));
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** A sample of NAL units with lengths of four bytes, behind three bytes of something else. */
async function ask(units: readonly (readonly number[])[], sizeBytes?: number): Promise<boolean> {
  const sample = Buffer.concat(
    units.map((unit) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(unit.length);
      return Buffer.concat([length, Buffer.from(unit)]);
    }),
  );
  const name = path.join(folder, 'sample');
  await writeFile(name, Buffer.concat([Buffer.from([9, 9, 9]), sample]));
  const file = await open(name, 'r');
  try {
    return await isUnreferred(file, { offset: 3, sizeBytes: sizeBytes ?? sample.length }, 4);
  } finally {
    await file.close();
  }
}

const DELIMITER = [0x09, 0xf0];
const MESSAGE = [0x06, 5, 1, 0, 0x80];

describe('isUnreferred', () => {
  it('recognises pictures that no other refers to by the first slice, whatever precedes it', async () => {
    expect(await ask([[0x01, 0x9a, 1]])).toBe(true);
    expect(await ask([DELIMITER, MESSAGE, [0x01, 0x9a, 1]])).toBe(true);
    expect(await ask([[0x41, 0x9a, 1]])).toBe(false);
    expect(await ask([DELIMITER, MESSAGE, [0x21, 0x9a, 1]])).toBe(false);
  });

  it('does not for key pictures, partitioned slices, samples without a slice and slices far from the start', async () => {
    expect(await ask([[0x65, 0x88, 1]])).toBe(false);
    expect(await ask([[0x02, 0x88, 1]])).toBe(false);
    expect(await ask([DELIMITER])).toBe(false);
    expect(await ask([])).toBe(false);
    expect(await ask([Array.from({ length: 300 }, () => 6), [0x01, 0x9a, 1]])).toBe(false);
    expect(await ask([[0x01, 0x9a]], 4)).toBe(false);
  });
});
