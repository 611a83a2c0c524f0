import { describe, expect, it } from 'vitest';
import { seededRandom } from '#server/test/seeded-random.ts';
import { createBitReader } from '../h264/bits.ts';
import { H264Error } from '../h264/h264-error.ts';
import { toRbsp } from '../h264/nal.ts';
import { Mp4Error } from '../mp4/mp4-error.ts';
import { readHevcConfig } from '../mp4/sample-entry.ts';
import { withHevcParameterSets } from './hevc-config.ts';
import { HevcError } from './hevc-error.ts';
import { HEVC_NAL, hevcNalType } from './hevc-nal.ts';
import { parseHevcSps } from './hevc-sps.ts';
import { craToBla, MOVED_PPS_IDS, movePps, moveSlice, moveSps, moveVps } from './move-units.ts';

/**
 * Made by: ffmpeg -f lavfi -i testsrc2=s=64x48:r=25:d=0.2 -pix_fmt yuv420p10le -c:v libx265 -preset ultrafast
 * -x265-params info=0:bframes=0:colorprim=9:transfer=18:colormatrix=9:range=full:chromaloc=2:sar=2 -f hevc t.hevc
 */
const VPS = Buffer.from('40010c01ffff02200000030090000003000003001eba0240', 'hex');
const SPS = Buffer.from(
  '42010102200000030090000003000003001ea020831365ba4a4c2f026e1224136c2000000300200000030321',
  'hex',
);
const PPS = Buffer.from('4401c073c089', 'hex');
const IDR = Buffer.from('2801ac76a0e6048a1f00da43e7954fb4db29f440ae79a8d9ca79733eaa87', 'hex');
const TRAIL = Buffer.from('0201d0097883b09e5c', 'hex');

const IDS = { vps: 3, sps: 5, pps: 26 };

/** A record with one set of each kind in arrays, as muxers write it. */
function config(level: number): Buffer {
  const head = Buffer.from('01022000000090000000000000f000fcfdfafa00000f03', 'hex');
  head[12] = level;
  const arrays = [VPS, SPS, PPS].map((unit) => {
    const start = Buffer.from([0x80 | hevcNalType(unit), 0, 1, 0, unit.length]);
    return Buffer.concat([start, unit]);
  });
  return Buffer.concat([head, ...arrays]);
}

/** slice_pic_parameter_set_id of a slice. */
function ppsIdOf(slice: Buffer): number {
  const reader = createBitReader(toRbsp(slice).subarray(2));
  reader.bits(hevcNalType(slice) >= 16 ? 2 : 1);
  return reader.ue();
}

describe('HEVC parameter sets', () => {
  it('reads the size, depth and colours that an encoder states', () => {
    expect(parseHevcSps(SPS)).toEqual({
      id: 0,
      vpsId: 0,
      subLayers: 1,
      ptl: { profileSpace: 0, highTier: false, profile: 2, level: 30 },
      chromaFormat: 1,
      width: 64,
      height: 48,
      cropLeft: 0,
      cropTop: 0,
      bitDepthLuma: 10,
      bitDepthChroma: 10,
      vui: {
        aspect: { idc: 2, width: 0, height: 0 },
        overscan: null,
        signal: { videoFormat: 5, fullRange: true, colour: { primaries: 9, transfer: 18, matrix: 9 } },
        chromaPlace: { top: 2, bottom: 2 },
        fieldSequence: false,
        displayWindow: false,
        pictureRate: 25,
      },
    });
  });

  it('gives sets other ids and changes nothing else', () => {
    const moved = moveSps(SPS, IDS);
    expect(parseHevcSps(moved)).toEqual({ ...parseHevcSps(SPS), id: 5, vpsId: 3 });
    expect(moveSps(moved, { vps: 0, sps: 0, pps: 0 })).toEqual(SPS);
    expect(moveVps(moveVps(VPS, IDS), { vps: 0, sps: 0, pps: 0 })).toEqual(VPS);
    expect(moveVps(VPS, IDS)[2]).toBe(((VPS[2] ?? 0) & 15) | (3 << 4));
    const pps = createBitReader(toRbsp(movePps(PPS, IDS)).subarray(2));
    expect([pps.ue(), pps.ue()]).toEqual([26, 5]);
    expect(movePps(movePps(PPS, IDS), { vps: 0, sps: 0, pps: 0 })).toEqual(PPS);
  });

  it('makes slices refer to another set and copies every byte after the first', () => {
    for (const id of MOVED_PPS_IDS) {
      for (const slice of [IDR, TRAIL]) {
        const moved = moveSlice(slice, id);
        expect(ppsIdOf(slice)).toBe(0);
        expect(ppsIdOf(moved)).toBe(id);
        expect(moved.length).toBe(slice.length + 1);
        expect(moved.subarray(0, 2)).toEqual(slice.subarray(0, 2));
        expect(moved.subarray(4)).toEqual(slice.subarray(3));
        expect(moved[2]).not.toBe(0);
        expect(moved[3]).not.toBe(0);
      }
    }
  });

  it('rejects slices that already refer to another set, and ids with codes of another length', () => {
    expect(() => moveSlice(moveSlice(TRAIL, 30), 30)).toThrow(HevcError);
    expect(() => moveSlice(TRAIL, 3)).toThrow(HevcError);
    expect(() => moveSlice(SPS, 30)).toThrow(HevcError);
  });

  it('turns a CRA picture into one that begins a sequence, only in its header', () => {
    const cra = Buffer.from(IDR);
    cra[0] = HEVC_NAL.cra << 1;
    cra[2] = (cra[2] ?? 0) | 0x40;
    for (const [leads, type] of [
      [false, HEVC_NAL.blaAlone],
      [true, HEVC_NAL.blaWithDecodable],
    ] as const) {
      const bla = craToBla(cra, leads);
      expect(hevcNalType(bla)).toBe(type);
      expect((bla[2] ?? 0) & 0x40).toBe(0);
      expect(bla.subarray(3)).toEqual(cra.subarray(3));
      expect(bla[1]).toBe(cra[1]);
    }
    expect(() => craToBla(IDR, false)).toThrow(HevcError);
  });

  it('adds sets to the arrays of the decoder settings and states what applies to all', () => {
    const sets = [moveVps(VPS, IDS), moveSps(SPS, IDS), movePps(PPS, IDS)];
    const general = toRbsp(SPS).subarray(3, 15);
    for (const level of [60, 12]) {
      const record = withHevcParameterSets(config(level), sets, general);
      const { lengthSize, parameterSets } = readHevcConfig(record);
      expect(lengthSize).toBe(4);
      const [vps, sps, pps] = sets;
      expect(parameterSets).toEqual([VPS, vps, SPS, sps, PPS, pps]);
      expect(record[12]).toBe(Math.max(level, 30));
      expect(record[22]).toBe(3);
    }
  });

  it('adds arrays when a kind has none', () => {
    const bare = Buffer.from(config(30).subarray(0, 23));
    bare[22] = 0;
    const record = withHevcParameterSets(bare, [VPS, SPS, PPS], toRbsp(SPS).subarray(3, 15));
    expect(readHevcConfig(record).parameterSets).toEqual([VPS, SPS, PPS]);
  });
});

describe('hostile HEVC input', () => {
  it('gives a value or a typed error for mutated sets, slices and settings', () => {
    const random = seededRandom(7);
    const mutate = (unit: Buffer) => {
      const bytes = Buffer.from(unit.subarray(0, 1 + Math.floor(random() * unit.length)));
      for (let flips = 1 + Math.floor(random() * 6); flips > 0; flips--) {
        bytes[Math.floor(random() * bytes.length)] = random() < 0.3 ? 0 : Math.floor(random() * 256);
      }
      return bytes;
    };
    const settle = (work: () => unknown) => {
      try {
        work();
      } catch (error) {
        const typed = error instanceof H264Error || error instanceof HevcError || error instanceof Mp4Error;
        if (!typed) throw error;
      }
    };
    const started = performance.now();
    for (let round = 0; round < 10_000; round++) {
      settle(() => parseHevcSps(mutate(SPS)));
      settle(() => moveSps(mutate(SPS), IDS));
      settle(() => moveVps(mutate(VPS), IDS));
      settle(() => movePps(mutate(PPS), IDS));
      settle(() => moveSlice(mutate(TRAIL), 30));
      settle(() => withHevcParameterSets(mutate(config(30)), [VPS], SPS.subarray(3, 15)));
    }
    expect(performance.now() - started).toBeLessThan(15_000);
  });
});
