import { describe, expect, it } from 'vitest';
import { cutBlocks } from './splice-blocks.ts';

async function* inParts(count: number, channels: number, partSamples: number): AsyncGenerator<Float32Array> {
  for (let first = 0; first < count; first += partSamples) {
    const length = Math.min(partSamples, count - first);
    yield Float32Array.from({ length: length * channels }, (_, at) => first + Math.floor(at / channels) + 1);
  }
}

async function cut(count: number, channels: number, partSamples: number, starts: number[], size: number) {
  const blocks: number[][] = [];
  for await (const block of cutBlocks(inParts(count, channels, partSamples), channels, starts, size)) {
    blocks.push([...block]);
  }
  return blocks;
}

describe('cutBlocks', () => {
  it.each([1, 3, 5, 100])('cuts blocks out of parts of %i samples', async (partSamples) => {
    expect(await cut(30, 1, partSamples, [2, 6, 20], 4)).toEqual([
      [3, 4, 5, 6],
      [7, 8, 9, 10],
      [21, 22, 23, 24],
    ]);
  });

  it('is silent before the sound and after it', async () => {
    expect(await cut(6, 1, 4, [-6, -2, 4, 8], 4)).toEqual([
      [0, 0, 0, 0],
      [0, 0, 1, 2],
      [5, 6, 0, 0],
      [0, 0, 0, 0],
    ]);
  });

  it('keeps channels together', async () => {
    expect(await cut(6, 2, 4, [3], 2)).toEqual([[4, 4, 5, 5]]);
  });
});
