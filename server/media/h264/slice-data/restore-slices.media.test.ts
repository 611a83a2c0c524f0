import { describe, expect, it } from 'vitest';
import { CALM, codePictures } from '#server/test/h264-streams.ts';
import { sharedFolder } from '#server/test/rendered-clips.ts';
import { restoreAvcUnits } from './restore-slices.ts';

const folder = sharedFolder();
/** The picture that is damaged, in the order of decoding. */
const TORN = 5;
const code = (name: string, params: string, source?: string) =>
  codePictures(folder.path, name, params, TORN, source);

function withChange(units: readonly Buffer[], share: number, bits = 0x10): Buffer[] {
  const [first, ...others] = units.map((unit) => Buffer.from(unit));
  if (!first) return [];
  const at = Math.floor(share * first.length);
  first[at] = (first[at] ?? 0) ^ bits;
  return [first, ...others];
}

describe('restoreAvcUnits', () => {
  it.each([
    ['one slice', 'cabac=1:slices=1:8x8dct=1'],
    ['three slices', 'cabac=1:slices=3:8x8dct=0'],
  ])('restores a changed bit of a slice (%s)', async (name, params) => {
    const { sets, picture } = await code(name, params);
    let count = 0;
    for (const share of [0.2, 0.5]) {
      const changed = withChange(picture, share);
      const restored = await restoreAvcUnits(changed, sets, [], { bytes: 12e6 });
      // Where little is left to read other values fit as well, and none is taken.
      if (restored === null) continue;
      expect(restored).toEqual({ units: picture, changes: 1 });
      count += 1;
    }
    expect(count).toBeGreaterThan(0);
  });

  it('finds a changed byte within its budget when other pictures show what is usual', async () => {
    const { sets, picture, others } = await code('usual', 'cabac=1:slices=1:8x8dct=1', CALM);
    const changed = withChange(picture, 0.3, 0x5a);
    expect(await restoreAvcUnits(changed, sets, [], { bytes: 9e6 })).toBeNull();
    const restored = await restoreAvcUnits(changed, sets, others, { bytes: 9e6 });
    expect(restored).toEqual({ units: picture, changes: 1 });
  });

  it('skips variable-length codes, which get back into step after a wrong bit', async () => {
    const { sets, picture } = await code('cavlc', 'cabac=0:8x8dct=0');
    expect(await restoreAvcUnits(withChange(picture, 0.3), sets, [], { bytes: 50e6 })).toBeNull();
  });

  it('says that nothing has changed in an intact picture', async () => {
    const { sets, picture } = await code('whole', 'cabac=1');
    const restored = await restoreAvcUnits(picture, sets, [], { bytes: 1e6 });
    expect(restored).toEqual({ units: picture, changes: 0 });
  });
});
