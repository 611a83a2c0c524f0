import { readFile, rm, truncate } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeFolder } from '#server/test/media-job.ts';
import { createPictureKeeper, readKept, renumbered, sliceRuns } from './kept-pictures.ts';

const size = { width: 16, height: 8 };
const BYTES = size.width * size.height;
const picture = (value: number) => new Uint8Array(BYTES).fill(value);
let folder: Awaited<ReturnType<typeof makeFolder>>;
const at = (name: string) => path.join(folder.path, name);

beforeAll(async () => {
  folder = await makeFolder();
});
afterAll(() => folder.remove());

async function keep(name: string, values: readonly number[]) {
  const keeper = await createPictureKeeper(at(name), BYTES);
  const room = picture(0);
  for (const value of values) {
    // The same buffer each time, as when the decoder's output is cut into pictures.
    room.fill(value);
    keeper.add(room);
  }
  return keeper.finish();
}

describe('kept pictures', () => {
  it('reads back the requested pictures', async () => {
    const runs = await keep('whole', [1, 2, 3, 4, 5]);
    const read = await readKept({ size, runs }, [4, 1, 9]);
    expect([...read.keys()].sort()).toEqual([1, 4]);
    expect(read.get(1)).toEqual(Buffer.from(picture(2)));
    expect(read.get(4)).toEqual(Buffer.from(picture(5)));
  });

  it('keeps more than is written at once, in order', async () => {
    const values = Array.from({ length: 20_000 }, (_, index) => index % 251);
    const runs = await keep('long', values);
    const bytes = await readFile(at('long'));
    expect(bytes.length).toBe(values.length * BYTES);
    expect(values.findIndex((value, index) => bytes[index * BYTES] !== value)).toBe(-1);
    expect(runs).toEqual([{ path: at('long'), at: 0, first: 0, count: values.length }]);
  });

  it('numbers a part of two files as one sequence of displayed pictures', async () => {
    const head = await keep('head', [10, 11, 12, 13]);
    const tail = await keep('tail', [12, 13, 14, 15]);
    const joined = [...sliceRuns(head, 0, 3, 0), ...sliceRuns(tail, 1, Infinity, 3)];
    // The third decoded picture is not displayed, so later ones have a higher number.
    const runs = renumbered(joined, [0, 1, 3, 4, 5, 6]);
    const read = await readKept({ size, runs }, [0, 1, 2, 3, 4, 5, 6]);
    expect(
      [...read].map(([frame, pixels]) => [frame, pixels[0]]).sort((a, b) => (a[0] ?? 0) - (b[0] ?? 0)),
    ).toEqual([
      [0, 10],
      [1, 11],
      [3, 12],
      [4, 13],
      [5, 14],
      [6, 15],
    ]);
  });

  it('returns what exists when a file is short or gone', async () => {
    const runs = await keep('short', [1, 2, 3]);
    await truncate(at('short'), 2 * BYTES);
    const read = await readKept({ size, runs }, [0, 1, 2]);
    expect([...read.keys()]).toEqual([0, 1]);
    await rm(at('short'));
    expect((await readKept({ size, runs }, [0])).size).toBe(0);
  });

  it('keeps nothing, and throws nothing, if it may not write', async () => {
    expect(await keep('missing-folder/pictures', [1, 2])).toEqual([]);
  });
});
