import { describe, expect, it } from 'vitest';
import { seededRandom } from '#server/test/seeded-random.ts';
import { CabacDecoder } from '../../cabac/cabac-decoder.ts';
import { createBitWriter } from '../bits.ts';
import { H264Error } from '../h264-error.ts';
import { plainPps } from '../pcm-picture.ts';
import { SLIDING_WINDOW } from '../reference-marking.ts';
import { parseSps } from '../sps.ts';
import { writeSps } from '../write-sps.ts';
import { AVC_CONTEXT_COUNT } from './avc-contexts.ts';
import { MbState } from './mb-state.ts';
import { readSliceData } from './slice-data.ts';
import { readSliceStart } from './slice-start.ts';
import { codeStandIn, type StandInSlice } from './stand-in-macroblocks.ts';

const sps = parseSps(
  writeSps({
    profile: 100,
    constraints: 0,
    level: 31,
    chromaFormat: 1,
    bitDepthLuma: 8,
    losslessBypass: false,
    frameNumBits: 4,
    pocType: 0,
    pocBits: 6,
    maxRefFrames: 4,
    widthMbs: 11,
    heightMbs: 9,
    crop: { right: 0, bottom: 0 },
    reordered: 2,
  }),
);
const COUNT = 11 * 9;
const head = { refIdc: 2, frameNum: 3, idrPicId: null, pocLsb: 6, marking: SLIDING_WINDOW, fromFrameNum: 15 };

function slice(change: Partial<StandInSlice>, cabac: boolean): StandInSlice {
  const context = { sps, pps: { ...plainPps(sps, 1), cabac, weightedPred: true } };
  return { context, head, kind: 'P', first: 17, end: COUNT, at: () => ({ x: 0, y: 0 }), ...change };
}

/** Reads back what was coded. */
function readBack(coded: StandInSlice) {
  const rbsp = codeStandIn(createBitWriter(), coded);
  const start = readSliceStart(rbsp, coded.context);
  const state = new MbState(sps.widthMbs, sps.heightMbs);
  const end = readSliceData(
    { context: coded.context, rbsp, start },
    state,
    new CabacDecoder(AVC_CONTEXT_COUNT),
  );
  return { start, end, state, rbsp };
}

const raw = (mb: number) => new Uint8Array(384).map((_, at) => (mb * 31 + at) % 256);

describe('codeStandIn', () => {
  for (const cabac of [true, false]) {
    const name = cabac ? 'CABAC' : 'CAVLC';

    it(`codes what can be read back up to the last macroblock (${name})`, () => {
      const random = seededRandom(3);
      for (const rawShare of [0, 0.1, 0.9]) {
        const at = (mb: number) =>
          random() < rawShare
            ? raw(mb)
            : { x: Math.round(400 * random() ** 3), y: -Math.round(99 * random() ** 3) };
        const { start, end } = readBack(slice({ at }, cabac));
        expect(start).toMatchObject({ kind: 'P', firstMb: 17, active: [1, 0] });
        expect(end.end).toBe(COUNT);
      }
    });

    it(`needs hardly a byte when nothing moves (${name})`, () => {
      expect(readBack(slice({}, cabac)).rbsp.length).toBeLessThan(24);
    });

    it(`keeps raw samples unchanged, in macroblock order (${name})`, () => {
      const { rbsp } = readBack(slice({ kind: 'I', at: raw }, cabac));
      let from = 0;
      for (let mb = 17; mb < COUNT; mb += 1) {
        const found = rbsp.indexOf(raw(mb), from);
        expect(found).toBeGreaterThanOrEqual(from);
        from = found + 384;
      }
    });
  }

  it('refuses to make a key picture from others', () => {
    const coded = slice({ head: { ...head, idrPicId: 0 } }, true);
    expect(() => codeStandIn(createBitWriter(), coded)).toThrow(H264Error);
  });

  it('refuses raw samples of another size', () => {
    const coded = slice({ at: () => new Uint8Array(512) }, true);
    expect(() => codeStandIn(createBitWriter(), coded)).toThrow(H264Error);
  });
});
