import { describe, expect, it } from 'vitest';
import { HEVC_NAL } from '#server/media/hevc/hevc-nal.ts';
import { displayOrder } from '#server/media/mp4/display-order.ts';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';
import { ridersOrNear } from './smart-render-hevc-riders.ts';

/** In decode order: I0 P4 B2 b1 b3. */
const order = displayOrder(
  [0, 4, 2, 1, 3].map((pts) => ({ pts })),
  0,
  5,
);
const dataOf = (sample: number) => Buffer.from([HEVC_NAL.dolbyVision << 1, 1, 0x19, 1 + sample, 0x80]);

/** A clip with some lost samples and Dolby Vision data in all others. */
const clip = (lost: readonly number[], dolbyVision = true) => ({
  dolbyVision,
  units(sample: number) {
    const slice = Buffer.from([HEVC_NAL.trailR << 1, 1, 0x80]);
    if (lost.includes(sample)) return Promise.reject(new Mp4Error('A NAL unit length is cut off.'));
    return Promise.resolve(dolbyVision ? [slice, dataOf(sample)] : [slice]);
  },
});

describe('ridersOrNear', () => {
  it('returns the data of the picture itself', async () => {
    expect(await ridersOrNear(clip([1]), order, 2)).toEqual({ before: [], behind: [dataOf(2)] });
  });

  it('gives a lost picture the Dolby Vision data of the one shown before it', async () => {
    expect((await ridersOrNear(clip([4]), order, 4)).behind).toEqual([dataOf(2)]);
    expect((await ridersOrNear(clip([4, 2]), order, 4)).behind).toEqual([dataOf(3)]);
  });

  it('needs none in other clips, and says when none is near', async () => {
    expect((await ridersOrNear(clip([4], false), order, 4)).behind).toEqual([]);
    await expect(ridersOrNear(clip([0, 3]), order, 3)).rejects.toThrow(/no Dolby Vision data/);
  });
});
