import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { encodeSource, sharedFolder } from '#server/test/rendered-clips.ts';
import { createAnnexBSplitter } from '../h264/nal.ts';
import { isHevcParameterSet, isHevcSlice, opensPicture } from './hevc-nal.ts';
import { createOrderReader } from './hevc-references.ts';

const folder = sharedFolder();
const SOURCE = 'testsrc2=s=208x136:r=25:d=1';

/** Slices that open the pictures of a clip, decode order, and its parameter sets. */
async function code(name: string, options: string) {
  const params = `log-level=error:pools=1:wpp=0:${options}`;
  const coding = ['-c:v', 'libx265', '-preset', 'fast', '-x265-params', params, '-f', 'hevc'];
  const stream = await readFile(await encodeSource(SOURCE, path.join(folder.path, `${name}.hevc`), coding));
  const splitter = createAnnexBSplitter();
  const units = [...splitter.push(stream), ...splitter.end()];
  return {
    sets: units.filter(isHevcParameterSet),
    slices: units.filter((unit) => isHevcSlice(unit) && opensPicture(unit)),
  };
}

describe('createOrderReader', () => {
  it('resolves a pyramid of B pictures: who refers to whom, by order counts', async () => {
    const { sets, slices } = await code(
      'pyramid',
      'keyint=25:bframes=3:b-adapt=0:b-pyramid=1:ref=1:scenecut=0',
    );
    const read = createOrderReader(sets);
    if (!read) throw new Error('The parameter sets were not read.');
    const pictures = slices.map((slice) => read(slice, true));
    const orders = pictures.map((picture) => picture?.order);
    expect(orders.slice(0, 5)).toEqual([0, 4, 2, 1, 3]);
    expect([...orders].sort((a, b) => (a ?? 0) - (b ?? 0))).toEqual(slices.map((_, order) => order));
    // The one in the middle refers to both sides; nobody refers to those beside it.
    const named = pictures.map((picture) => [...(picture?.refersTo ?? [])].sort((a, b) => a - b));
    expect(named.slice(0, 3)).toEqual([[], [0], [0, 4]]);
    expect(named[3]).toEqual(expect.arrayContaining([0, 2]));
    expect(named[4]).toEqual(expect.arrayContaining([2, 4]));
    expect(named.flat().filter((order) => order % 2 === 1)).toEqual([]);
    expect(pictures.map((picture) => picture?.restarts)).toEqual(slices.map((_, place) => place === 0));
  });

  it('continues counting when the last bits of the count wrap, and restarts after a refresh', async () => {
    const { sets, slices } = await code(
      'turning',
      'keyint=20:min-keyint=20:open-gop=0:scenecut=0:bframes=0:log2-max-poc-lsb=4',
    );
    const read = createOrderReader(sets);
    const orders = slices.map((slice) => read?.(slice, true)?.order);
    expect(orders).toEqual(slices.map((_, place) => place % 20));
  });

  it('says nothing about a damaged header, or without parameter sets', async () => {
    const { sets, slices } = await code('damaged', 'bframes=0');
    const [, slice = Buffer.alloc(0)] = slices;
    const harmed = Buffer.from(slice);
    harmed.fill(0, 2, 12);
    expect(createOrderReader(sets)?.(harmed, true)).toBeNull();
    expect(createOrderReader(sets.map((unit) => unit.subarray(0, 4)))).toBeNull();
  });
});
