import { expect, it } from 'vitest';
import type { SliceHeader } from '#server/media/h264/slice-header.ts';
import type { ChangedSpan } from '../picture-edit.ts';
import { spansWithoutRoom } from './smart-render-room.ts';

const plain: SliceHeader = {
  idr: false,
  refIdc: 1,
  firstMb: 0,
  kind: 'P',
  ppsId: 0,
  frameNum: 0,
  idrPicId: null,
  pocLsb: 0,
};
const sps = { pocType: 0, pocBits: 4 };

/** A clip whose pictures have these order counts, in display order. */
function clipOf(counts: readonly (number | null)[], keys: readonly number[] = []) {
  const samples = counts.map((_, at) => ({
    offset: 0,
    sizeBytes: 9,
    dts: at * 10,
    pts: at * 10,
    durationTicks: 10,
    sync: at === 0,
    chunk: 0,
    description: 1,
  }));
  const head = async (sample: number) => {
    const pocLsb = counts[sample];
    return pocLsb === null || pocLsb === undefined ? null : { ...plain, pocLsb, idr: keys.includes(sample) };
  };
  return { samples, shownEdit: { startTicks: 0, endTicks: Infinity, offsetTicks: 0 }, sps, head };
}

/** Inserts this many pictures before picture 2. */
const putIn = (count: number): ChangedSpan => ({
  firstFrame: 2,
  endFrame: 2,
  pictures: Array.from({ length: count }, (_, index) => ({
    ptsTicks: 11 + index,
    pixels: { kind: 'raw', path: 'new.raw', index },
  })),
  shiftAfterTicks: 0,
});

const isWithout = async (counts: readonly (number | null)[], count: number, keys?: readonly number[]) => {
  const span = putIn(count);
  return (await spansWithoutRoom(clipOf(counts, keys), [span])).has(span);
};

it('pictures that were counted have room, and others none', async () => {
  expect(await isWithout([0, 2, 10, 12], 3)).toBe(false);
  expect(await isWithout([0, 2, 4, 6], 3)).toBe(true);
  // Between counts by two, one more fits.
  expect(await isWithout([0, 2, 4, 6], 1)).toBe(false);
  expect(await isWithout([12, 14, 0, 2], 3)).toBe(true);
});

it('says nothing when a head cannot be read, or a key picture restarts the count', async () => {
  expect(await isWithout([0, null, 4, 6], 3)).toBe(false);
  expect(await isWithout([0, 2, 0, 2], 3, [2])).toBe(false);
});
