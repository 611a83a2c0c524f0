import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { encodeSource, sharedFolder } from '#server/test/rendered-clips.ts';
import { createAnnexBSplitter, isSlice, NAL, nalType } from '../nal.ts';
import { parsePps } from '../pps.ts';
import { parseSps } from '../sps.ts';
import { restoreAvcUnits } from './restore-slices.ts';

const folder = sharedFolder();
const NOISE = 'testsrc2=s=1280x720:r=25:d=0.6,noise=alls=9:allf=t';
/** Calm pictures, in which wrong data soon look odd. */
const CALM = 'mandelbrot=s=1280x720:r=25,trim=duration=0.6';
/** The picture that is damaged, in the order of decoding. */
const TORN = 5;

/** NAL units of pictures that refer to the one before, and what they name. */
async function code(name: string, params: string, source = NOISE) {
  const coding = ['-pix_fmt', 'yuv420p', ...'-c:v libx264 -preset fast -x264-params'.split(' ')];
  const file = path.join(folder.path, `${name}.h264`);
  const options = [...coding, `bframes=0:keyint=100:ref=1:${params}`, '-f', 'h264'];
  const splitter = createAnnexBSplitter();
  const stream = await readFile(await encodeSource(source, file, options));
  const units = [...splitter.push(stream), ...splitter.end()];
  const ofType = (type: number) => units.filter((unit) => nalType(unit) === type);
  const sps = ofType(NAL.sps).map((unit) => parseSps(unit))[0];
  if (!sps) throw new Error('the clip has no settings');
  const slices = units.filter(isSlice);
  // first_mb_in_slice 0 is a single one bit.
  const starts = slices.flatMap((slice, at) => (((slice[1] ?? 0) & 0x80) > 0 ? [at] : []));
  const sets = { sps, pps: ofType(NAL.pps).map((unit) => parsePps(unit, sps.chromaFormat)) };
  const pictures = starts.map((start, at) => slices.slice(start, starts[at + 1]));
  const others = pictures.filter((_, at) => at !== TORN);
  return { sets, picture: pictures[TORN] ?? [], others };
}

function withChange(units: readonly Buffer[], share: number, bits = 0x10): Buffer[] {
  const [first, ...others] = units.map((unit) => Buffer.from(unit));
  if (!first) return [];
  const at = Math.floor(share * first.length);
  first[at] = (first[at] ?? 0) ^ bits;
  return [first, ...others];
}

async function* one<T>(values: readonly T[]): AsyncGenerator<T> {
  for (const value of values) yield await Promise.resolve(value);
}

describe('restoreAvcUnits', () => {
  it.each([
    ['one slice', 'cabac=1:slices=1:8x8dct=1'],
    ['three slices', 'cabac=1:slices=3:8x8dct=0'],
  ])('puts a changed bit of a slice back (%s)', async (name, params) => {
    const { sets, picture } = await code(name, params);
    let count = 0;
    for (const share of [0.2, 0.5]) {
      const changed = withChange(picture, share);
      const restored = await restoreAvcUnits(changed, sets, one([]), { bytes: 12e6 });
      // Where little is left to read other values fit as well, and none is taken.
      if (restored === null) continue;
      expect(restored).toEqual({ units: picture, changes: 1 });
      count += 1;
    }
    expect(count).toBeGreaterThan(0);
  });

  it('finds a changed byte within its budget where other pictures tell what is usual', async () => {
    const { sets, picture, others } = await code('usual', 'cabac=1:slices=1:8x8dct=1', CALM);
    const changed = withChange(picture, 0.3, 0x5a);
    expect(await restoreAvcUnits(changed, sets, one([]), { bytes: 9e6 })).toBeNull();
    const restored = await restoreAvcUnits(changed, sets, one(others), { bytes: 9e6 });
    expect(restored).toEqual({ units: picture, changes: 1 });
  });

  it('leaves variable-length codes, which find back into step behind a wrong bit', async () => {
    const { sets, picture } = await code('cavlc', 'cabac=0:8x8dct=0');
    expect(await restoreAvcUnits(withChange(picture, 0.3), sets, one([]), { bytes: 50e6 })).toBeNull();
  });

  it('says that nothing has changed in a whole picture', async () => {
    const { sets, picture } = await code('whole', 'cabac=1');
    const restored = await restoreAvcUnits(picture, sets, one([]), { bytes: 1e6 });
    expect(restored).toEqual({ units: picture, changes: 0 });
  });
});
