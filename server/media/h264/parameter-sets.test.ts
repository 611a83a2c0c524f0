import { describe, expect, it } from 'vitest';
import { seededRandom } from '#server/test/seeded-random.ts';
import { createBitReader, createBitWriter } from './bits.ts';
import { findSampleFault } from './check-sample.ts';
import { H264Error } from './h264-error.ts';
import { toRbsp } from './nal.ts';
import { parsePps, writePps } from './pps.ts';
import { reheadSlice } from './rehead-slice.ts';
import { skipScalingLists, writeFlatScalingLists } from './scaling-list.ts';
import { parseSliceHeader } from './slice-header.ts';
import { parseSps } from './sps.ts';
import { writeSps } from './write-sps.ts';

// Encoded by x264 from a 64x48 and a 640x360 test picture, high and baseline profile.
const HIGH = {
  sps: Buffer.from('6764000aacd9447b011000000300100000030320f1225960', 'hex'),
  pps: Buffer.from('68ebe3cb22c0', 'hex'),
  slice: Buffer.from('419e417884bff814d5', 'hex'),
};
const BASELINE = {
  sps: Buffer.from('6742c01ed900a02ff97011000003000100000300320f162e48', 'hex'),
  pps: Buffer.from('68cb83cb20', 'hex'),
};

describe('parseSps', () => {
  it('reads size, numbering and profile of a high profile stream', () => {
    expect(parseSps(HIGH.sps)).toMatchObject({
      profile: 100,
      level: 10,
      widthMbs: 4,
      heightMbs: 3,
      pocType: 0,
      maxRefFrames: 4,
      gapsAllowed: false,
      frameMbsOnly: true,
      bitDepthLuma: 8,
      pictureRate: 25,
      crop: { left: 0, right: 0, top: 0, bottom: 0 },
    });
  });

  it('reads the crop and the second kind of picture order of a baseline stream', () => {
    expect(parseSps(BASELINE.sps)).toMatchObject({
      profile: 66,
      widthMbs: 40,
      heightMbs: 23,
      pocType: 2,
      pocBits: 0,
      crop: { bottom: 8 },
    });
  });

  it('refuses another NAL unit', () => {
    expect(() => parseSps(HIGH.pps)).toThrow(H264Error);
  });
});

describe('writeSps', () => {
  const NEW = {
    profile: 100,
    constraints: 0,
    level: 40,
    chromaFormat: 1,
    bitDepthLuma: 8,
    losslessBypass: false,
    frameNumBits: 5,
    pocType: 0,
    pocBits: 7,
    maxRefFrames: 4,
    widthMbs: 68,
    heightMbs: 120,
    crop: { right: 8, bottom: 0 },
    reordered: 2,
  };

  it('writes what can be read back', () => {
    const { reordered: _, crop, ...fields } = NEW;
    expect(parseSps(writeSps(NEW))).toMatchObject({
      ...fields,
      crop: { ...crop, left: 0, top: 0 },
      bitDepthChroma: 8,
      gapsAllowed: false,
      frameMbsOnly: true,
      pictureRate: null,
    });
  });

  it('states format and depth only in high profiles', () => {
    const deep = { ...NEW, profile: 122, chromaFormat: 2, bitDepthLuma: 10 };
    expect(parseSps(writeSps(deep))).toMatchObject({ chromaFormat: 2, bitDepthLuma: 10, crop: { right: 8 } });
    const main = { ...NEW, profile: 77, pocType: 2, pocBits: 0, crop: { right: 0, bottom: 0 } };
    expect(parseSps(writeSps(main))).toMatchObject({ profile: 77, pocType: 2, widthMbs: 68 });
  });
});

describe('writePps', () => {
  it('writes the bytes it read when nothing changes', () => {
    for (const { pps } of [HIGH, BASELINE]) {
      expect(writePps(parsePps(pps), 1, false).equals(pps)).toBe(true);
    }
  });

  it('changes ids and states flat scaling lists on request', () => {
    const old = parsePps(HIGH.pps);
    const changed = parsePps(writePps({ ...old, id: 7, spsId: 3 }, 1, true));
    expect(changed).toEqual({
      ...old,
      id: 7,
      spsId: 3,
      extension: { ...old.extension, scalingMatrix: true },
    });
  });
});

describe('writeFlatScalingLists', () => {
  it('writes lists that are read to their exact end', () => {
    const writer = createBitWriter();
    writeFlatScalingLists(writer, 8);
    writer.stop();
    const reader = createBitReader(writer.bytes());
    skipScalingLists(reader, 8);
    expect(reader.position()).toBe(reader.stopBit());
  });
});

describe('hostile input', () => {
  const sps = parseSps(HIGH.sps);
  const pps = parsePps(HIGH.pps);
  const random = seededRandom(11);
  const mutate = (unit: Buffer) => {
    const bytes = Buffer.from(unit.subarray(0, 1 + Math.floor(random() * unit.length)));
    for (let flips = 1 + Math.floor(random() * 6); flips > 0; flips--) {
      const at = Math.floor(random() * bytes.length);
      bytes[at] = random() < 0.3 ? 0 : Math.floor(random() * 256);
    }
    return bytes;
  };
  const settle = (work: () => unknown) => {
    try {
      work();
    } catch (error) {
      if (!(error instanceof H264Error)) throw error;
    }
  };

  it('gives a value or a typed error for mutated parameter sets and slices', () => {
    const started = performance.now();
    for (let round = 0; round < 20_000; round++) {
      settle(() => parseSps(mutate(HIGH.sps)));
      settle(() => parsePps(mutate(HIGH.pps)));
      settle(() => parseSliceHeader(mutate(HIGH.slice), sps));
      settle(() =>
        reheadSlice(mutate(HIGH.slice), { sps, pps }, { sps, ppsId: 1, frameNum: 5, poc: 8, idrPicId: 1 }),
      );
      settle(() => toRbsp(mutate(HIGH.sps)));
      findSampleFault(mutate(HIGH.slice), 4);
    }
    expect(performance.now() - started).toBeLessThan(15_000);
  });

  it('gives a value or a typed error for headers read with mutated parameter sets', () => {
    for (let round = 0; round < 5000; round++) {
      settle(() => {
        const wrongSps = parseSps(mutate(HIGH.sps));
        const wrongPps = parsePps(mutate(HIGH.pps));
        reheadSlice(
          HIGH.slice,
          { sps: wrongSps, pps: wrongPps },
          { sps: wrongSps, ppsId: 255, frameNum: 1, poc: 2, idrPicId: 0 },
        );
      });
    }
    expect(parseSps(HIGH.sps).widthMbs).toBe(4);
  });
});
