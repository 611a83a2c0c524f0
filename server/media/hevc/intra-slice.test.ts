import { describe, expect, it } from 'vitest';
import { createBitWriter } from '../h264/bits.ts';
import { fromRbsp, toRbsp } from '../h264/nal.ts';
import { PLAIN_PPS, PLAIN_SPS, PREVENTED_DATA } from '#server/test/hevc-sets.ts';
import type { CodingSps } from './hevc-coding-sets.ts';
import { HevcError } from './hevc-error.ts';
import { HEVC_NAL } from './hevc-nal.ts';
import { readSliceSegment, SLICE } from './hevc-slice-header.ts';
import { moveIntraSlice, readsIntraAlike } from './intra-slice.ts';

const CLIP_SPS: CodingSps = {
  ...PLAIN_SPS,
  pocBits: 5,
  interDepth: 2,
  amp: true,
  sao: true,
  shortTermSets: [[{ delta: -1, used: true }]],
  longTerm: [],
};
const ctbs = 60;

/** The only slice of an IDR picture, quantiser 20. */
function encoded(type: number = SLICE.i): Buffer {
  const writer = createBitWriter();
  writer.bits(16, (HEVC_NAL.idrWithLeading << 9) | 1);
  writer.bits(2, 0b10);
  writer.ue(0);
  writer.ue(type);
  writer.se(-6);
  writer.flag(true);
  writer.stop();
  return fromRbsp(Buffer.concat([writer.bytes(), PREVENTED_DATA]));
}

const move = { own: { sps: PLAIN_SPS, pps: PLAIN_PPS }, sps: CLIP_SPS, ppsId: 3 };
const nalHead = Buffer.from([HEVC_NAL.raslN << 1, 2]);

describe('moveIntraSlice', () => {
  it('writes a header that states the place, and keeps the data byte for byte', () => {
    const heldLong = [
      { pocLsb: 9, cyclesBelow: 2 },
      { pocLsb: 4, cyclesBelow: 0 },
    ];
    const place = { nalHead, pocLsb: 21, held: [3, -1, -4, 8], heldLong };
    const rbsp = toRbsp(moveIntraSlice(encoded(), { ...move, place }));
    const named: number[] = [];
    const read = readSliceSegment(
      rbsp,
      (id) => {
        named.push(id);
        return { sps: CLIP_SPS, pps: PLAIN_PPS, ctbs };
      },
      null,
    );
    expect(named).toEqual([3]);
    expect(rbsp.subarray(0, 2)).toEqual(nalHead);
    expect(read.isFirst).toBe(true);
    expect(read.header.type).toBe(SLICE.i);
    expect(read.header.qp).toBe(20);
    expect(read.header.saoLuma || read.header.saoChroma).toBe(false);
    expect(read.header.references).toEqual({
      pocLsb: 21,
      deltas: [],
      held: [-1, -4, 3, 8],
      longTerm: [
        { pocLsb: 4, cyclesBelow: 0, used: false },
        { pocLsb: 9, cyclesBelow: 2, used: false },
      ],
      used: 0,
    });
    expect(rbsp.subarray(read.dataAt)).toEqual(PREVENTED_DATA);
  });

  it('rejects a slice that refers to others, and a place among key pictures', () => {
    const place = { nalHead, pocLsb: 0, held: [] };
    expect(() => moveIntraSlice(encoded(SLICE.p), { ...move, place })).toThrow(HevcError);
    const key = { ...place, nalHead: Buffer.from([HEVC_NAL.cra << 1, 1]) };
    expect(() => moveIntraSlice(encoded(), { ...move, place: key })).toThrow(HevcError);
  });

  it('rejects a slice whose header needs more than it writes', () => {
    const place = { nalHead, pocLsb: 0, held: [] };
    const own = { sps: PLAIN_SPS, pps: { ...PLAIN_PPS, headerExtension: true } };
    expect(() => moveIntraSlice(encoded(), { ...move, own, place })).toThrow(HevcError);
  });
});

describe('readsIntraAlike', () => {
  it('requires everything that intra data depend on, and nothing else', () => {
    expect(readsIntraAlike(PLAIN_SPS, CLIP_SPS)).toBe(true);
    const others: Partial<CodingSps>[] = [
      { ctbLog2: 4 },
      { minCbLog2: 4 },
      { maxTbLog2: 4 },
      { intraDepth: 1 },
      { strongSmoothing: true },
      { scalingLists: 'standard' },
      { scalingLists: 'own' },
      { bitDepthLuma: 10 },
      { height: 200 },
      { pcm: { lumaBits: 8, chromaBits: 8, minLog2: 3, maxLog2: 5 } },
    ];
    for (const other of others) expect(readsIntraAlike(PLAIN_SPS, { ...CLIP_SPS, ...other })).toBe(false);
    expect(readsIntraAlike({ ...PLAIN_SPS, sao: true }, CLIP_SPS)).toBe(false);
  });
});
