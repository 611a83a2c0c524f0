import { expect, it } from 'vitest';
import { createBitWriter } from '../h264/bits.ts';
import { fromRbsp, toRbsp } from '../h264/nal.ts';
import { PLAIN_PPS, PLAIN_SPS, PREVENTED_DATA } from '#server/test/hevc-sets.ts';
import type { CodingSps } from './hevc-coding-sets.ts';
import { HEVC_NAL } from './hevc-nal.ts';
import { readSliceSegment, SLICE } from './hevc-slice-header.ts';
import { writeHeld } from './intra-slice.ts';
import { scaleOrders } from './scale-orders.ts';

const SPS: CodingSps = { ...PLAIN_SPS, shortTermSets: [[{ delta: -1, used: true }]] };
const sets = {
  sps: new Map([[0, SPS]]),
  pps: new Map([[0, PLAIN_PPS]]),
  of: () => ({ sps: SPS, pps: PLAIN_PPS }),
};

/** A P slice that refers to the picture before, by the set of its sequence or one of its own. */
function slice(pocLsb: number, isOwnSet: boolean): Buffer {
  const writer = createBitWriter();
  writer.bits(16, (HEVC_NAL.trailR << 9) | 1);
  writer.flag(true);
  writer.ue(0);
  writer.ue(SLICE.p);
  writer.bits(SPS.pocBits, pocLsb);
  if (isOwnSet) writeHeld(writer, SPS, { held: [-1, -3, 4] }, [-1, 4]);
  else writer.flag(true);
  writer.flag(true);
  // As many references as the picture parameter set says, then the collocated one, merge candidates and the quantiser.
  writer.flag(false);
  writer.ue(0);
  writer.se(-6);
  writer.flag(true);
  writer.stop();
  return fromRbsp(Buffer.concat([writer.bytes(), PREVENTED_DATA]));
}

it('a slice states a larger count and larger distances, and keeps everything else', () => {
  const other = Buffer.from([HEVC_NAL.prefixSei << 1, 1, 0x80]);
  for (const isOwnSet of [true, false]) {
    const [beside, scaled = Buffer.alloc(0)] = scaleOrders([other, slice(250, isOwnSet)], sets, 250, 3);
    expect(beside).toBe(other);
    const rbsp = toRbsp(scaled);
    const { header, dataAt } = readSliceSegment(rbsp, sets.of, null);
    expect(header.references).toEqual({
      pocLsb: (3 * 250) % 256,
      deltas: isOwnSet ? [-3, 12] : [-3],
      held: isOwnSet ? [-3, -9, 12] : [-3],
      longTerm: [],
      used: isOwnSet ? 2 : 1,
    });
    expect(header).toMatchObject({ type: SLICE.p, qp: 20, active: [1, 0], mergeCandidates: 5 });
    expect(rbsp.subarray(dataAt)).toEqual(PREVENTED_DATA);
  }
});
