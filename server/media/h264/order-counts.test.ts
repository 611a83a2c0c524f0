import { expect, it } from 'vitest';
import { areTold, orderCounts, withOrderCount } from './order-counts.ts';
import { createBitWriter } from './bits.ts';
import { fromRbsp, toRbsp } from './nal.ts';
import { parseSliceHeader } from './slice-header.ts';
import { parseSps } from './sps.ts';

const head = (pocLsb: number, refIdc = 1, idr = false) => ({ pocLsb, refIdc, idr });

it('order counts continue beyond the range of their low bits', () => {
  const heads = [head(0, 1, true), head(6), head(2, 0), null, head(12), head(2), head(14, 0)];
  expect(orderCounts(heads, 4)).toEqual([0, 6, 2, null, 12, 18, 14]);
});

it('a count farther than half the range from the preceding reference is not determined by its low bits', () => {
  const heads = [head(0, 1, true), head(6), head(2, 0), head(12)];
  expect(areTold([0, 6, 2, 12], heads, 4)).toBe(true);
  expect(areTold([0, 7, 2, 14], heads, 4)).toBe(true);
  expect(areTold([0, 8, 2, 16], heads, 4)).toBe(false);
});

it('a slice gets another order count and keeps everything else, also when its bytes then look like a start code', () => {
  const sps = {
    ...parseSps(Buffer.from('6742c00ad902716c0440000003004000000c83c489920000', 'hex')),
    pocType: 0,
    pocBits: 16,
    frameNumBits: 8,
  };
  const writer = createBitWriter();
  writer.bits(8, 0x41);
  for (const value of [0, 5, 0]) writer.ue(value);
  writer.bits(8, 3);
  writer.bits(16, 0xffff);
  writer.bits(24, 0x123456);
  writer.stop();
  const slice = fromRbsp(writer.bytes());
  const changed = withOrderCount(slice, sps, 0);
  expect(parseSliceHeader(slice, sps)).toMatchObject({ frameNum: 3, pocLsb: 0xffff });
  expect(parseSliceHeader(changed, sps)).toMatchObject({ frameNum: 3, pocLsb: 0 });
  expect(toRbsp(withOrderCount(changed, sps, 0xffff))).toEqual(toRbsp(slice));
});
