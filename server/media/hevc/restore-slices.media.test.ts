import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { encodeSource, sharedFolder } from '#server/test/rendered-clips.ts';
import { createAnnexBSplitter } from '../h264/nal.ts';
import { isHevcParameterSet, isHevcSlice } from './hevc-nal.ts';
import { restoreHevcUnits } from './restore-slices.ts';

const folder = sharedFolder();
const SOURCE = 'testsrc2=s=640x360:r=25:d=0.4,noise=alls=9:allf=t';
/** The picture that is damaged, in the order of decoding. */
const TORN = 5;

const KINDS = [
  ['rows of their own', 'wpp=1:ctu=32', 'yuv420p'],
  ['one stream, ten bits', 'wpp=0:ctu=32', 'yuv420p10le'],
  ['small blocks', 'wpp=0:ctu=16:min-cu-size=8', 'yuv420p'],
] as const;

/** NAL units of pictures that refer to the one before. */
async function code(name: string, params: string, pixelFormat: string) {
  const options = `log-level=error:pools=1:bframes=0:keyint=100:ref=1:${params}`;
  const coding = ['-pix_fmt', pixelFormat, ...'-c:v libx265 -preset fast -x265-params'.split(' '), options];
  const stream = await readFile(
    await encodeSource(SOURCE, path.join(folder.path, `${name}.hevc`), [...coding, '-f', 'hevc']),
  );
  const splitter = createAnnexBSplitter();
  const units = [...splitter.push(stream), ...splitter.end()];
  const slices = units.filter(isHevcSlice);
  const starts = slices.flatMap((slice, at) => (((slice[2] ?? 0) & 0x80) > 0 ? [at] : []));
  return { sets: units.filter(isHevcParameterSet), picture: slices.slice(starts[TORN], starts[TORN + 1]) };
}

const withChange = (units: readonly Buffer[], share: number, bits: number): Buffer[] => {
  const [first, ...others] = units.map((unit) => Buffer.from(unit));
  if (!first) return [];
  const at = Math.floor(share * first.length);
  first[at] = (first[at] ?? 0) ^ bits;
  return [first, ...others];
};

describe('restoreHevcUnits', () => {
  it.each(KINDS)('restores a changed byte of a slice (%s)', async (name, params, pixelFormat) => {
    const { sets, picture } = await code(name, params, pixelFormat);
    let exact = 0;
    for (const share of [0.2, 0.6]) {
      const torn = withChange(picture, share, 0x20);
      const changed = Math.floor(share * (picture[0]?.length ?? 0));
      const restored = await restoreHevcUnits(torn, sets, { bytes: 20e6 });
      // Where little is left to read other values fit as well, and none is taken.
      if (restored === null) continue;
      expect(restored.changes).toBe(1);
      const [bytes, wanted] = [Buffer.concat(restored.units), Buffer.concat(picture)];
      expect(bytes.length).toBe(wanted.length);
      const other = [...bytes.keys()].filter((place) => bytes[place] !== wanted[place]);
      // What some encoders write leaves two bits of one byte that lead to the end alike.
      expect([[], [changed]]).toContainEqual(other);
      exact += other.length === 0 ? 1 : 0;
    }
    expect(exact).toBeGreaterThan(0);
  });

  it('says that nothing has changed in an intact picture', async () => {
    const { sets, picture } = await code('whole', 'wpp=1:ctu=32', 'yuv420p');
    expect(await restoreHevcUnits(picture, sets, { bytes: 1e6 })).toEqual({ units: picture, changes: 0 });
  });

  it('does not search when many bytes are zero', async () => {
    const { sets, picture } = await code('zeros', 'wpp=0:ctu=32', 'yuv420p');
    const torn = picture.map((unit) => Buffer.from(unit));
    torn[0]?.fill(0, 200, 300);
    const budget = { bytes: 1e6 };
    expect(await restoreHevcUnits(torn, sets, budget)).toBeNull();
    expect(budget.bytes).toBe(1e6);
  });
});
