import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runFfmpeg } from '../ffmpeg/run-ffmpeg.ts';
import { NAL, createAnnexBSplitter, isSlice, nalType } from './nal.ts';
import { parsePps } from './pps.ts';
import { reheadSlice } from './rehead-slice.ts';
import { parseSliceHeader } from './slice-header.ts';
import { parseSps } from './sps.ts';
import { testTools as tools } from '#server/test/media-job.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'rehead-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const KINDS = {
  'CABAC with B-pictures': '-preset slow -bf 3 -refs 5',
  'CAVLC, baseline': '-profile:v baseline -preset medium',
  'CAVLC with B-pictures': '-preset medium -bf 3 -x264-params cabac=0:weightp=2:weightb=1',
  'several slices': '-preset fast -slices 3',
  'weighted fades': '-profile:v main -preset slow -vf fade=out:0:40',
};

describe('reheadSlice', () => {
  for (const [name, options] of Object.entries(KINDS)) {
    it(`changes no bit when no field changes, and survives a round trip (${name})`, async () => {
      const file = path.join(folder, 'stream.h264');
      await runFfmpeg(
        {
          label: 'make a stream',
          inputs: [{ path: 'testsrc2=s=176x144:r=25:d=2', lavfi: true }],
          outputs: [{ path: file, options: ['-c:v', 'libx264', ...options.split(' ')] }],
          expectedDurationMs: null,
        },
        { tools },
      );
      const splitter = createAnnexBSplitter();
      const units = [...splitter.push(await readFile(file)), ...splitter.end()];
      const spsUnit = units.find((unit) => nalType(unit) === NAL.sps);
      const ppsUnit = units.find((unit) => nalType(unit) === NAL.pps);
      if (!spsUnit || !ppsUnit) throw new Error('The stream has no parameter sets.');
      const sps = parseSps(spsUnit);
      const pps = parsePps(ppsUnit);
      const elsewhere = { ...sps, id: 0, frameNumBits: 13, pocType: 0, pocBits: 14 };
      const slices = units.filter(isSlice);
      expect(slices.length).toBeGreaterThan(30);
      for (const slice of slices) {
        const { ppsId, frameNum, pocLsb, idrPicId } = parseSliceHeader(slice, sps);
        const own = { frameNum, poc: pocLsb ?? 0, idrPicId: idrPicId ?? 0 };
        const same = reheadSlice(slice, { sps, pps }, { sps, ppsId, ...own });
        expect(same.equals(slice)).toBe(true);
        const away = reheadSlice(slice, { sps, pps }, { sps: elsewhere, ppsId: 9, ...own });
        const head = parseSliceHeader(away, elsewhere);
        expect(head).toMatchObject({ ppsId: 9, frameNum });
        const back = reheadSlice(away, { sps: elsewhere, pps }, { sps, ppsId, ...own });
        expect(back.equals(slice)).toBe(true);
      }
    });
  }
});
