import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  decodeH264,
  makeH264Stream,
  STREAM_HEIGHT as HEIGHT,
  STREAM_WIDTH as WIDTH,
} from '#server/test/h264-streams.ts';
import { NAL, isSlice, nalType } from './nal.ts';
import { movedPicture, NOT_MOVED } from './moved-picture.ts';
import { pcmPicture, pcmPps } from './pcm-picture.ts';
import { parsePps } from './pps.ts';
import { readMarking } from './reference-marking.ts';
import { parseSliceHeader } from './slice-header.ts';
import { parseSps } from './sps.ts';
import type { SquareMotion } from '../square-motion.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'pcm-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const makeStream = (options: string) => makeH264Stream(folder, options);
const decode = (units: readonly Buffer[]) => decodeH264(folder, units);

const hash = (picture: Buffer) => createHash('md5').update(picture).digest('hex');

const KINDS = {
  'CABAC, each picture refers to the one before': '-preset medium -bf 0 -refs 3',
  'CAVLC, baseline, several slices': '-profile:v baseline -slices 3',
  'weighted fades without B pictures': '-preset slow -bf 0 -vf fade=out:0:40',
};

describe('pcmPicture', () => {
  for (const [name, options] of Object.entries(KINDS)) {
    it(`replaces a reference so that every picture after it decodes to the same samples (${name})`, async () => {
      const units = await makeStream(options);
      const [spsUnit, ppsUnit] = [NAL.sps, NAL.pps].map((type) =>
        units.find((unit) => nalType(unit) === type),
      );
      if (!spsUnit || !ppsUnit) throw new Error('The stream has no parameter sets.');
      const sps = parseSps(spsUnit);
      const pps = parsePps(ppsUnit);
      const truth = await decode(units);
      expect(truth.complaints).toEqual([]);
      const slices = units.filter(isSlice);
      const firsts = slices.filter((unit) => parseSliceHeader(unit, sps).firstMb === 0);
      expect(firsts).toHaveLength(truth.pictures.length);
      for (const place of [0, 20]) {
        const old = firsts[place];
        const pixels = truth.pictures[place];
        if (!old || !pixels) throw new Error('The stream is too short.');
        const head = parseSliceHeader(old, sps);
        const marking = readMarking(old, { sps, pps });
        const verbatim = pcmPicture(pixels, sps, 7, { ...head, marking });
        const next = firsts[place + 1];
        const isOld = (unit: Buffer) =>
          units.indexOf(unit) >= units.indexOf(old) && (!next || units.indexOf(unit) < units.indexOf(next));
        const mixed = units.flatMap((unit) => {
          if (unit === ppsUnit) return [unit, pcmPps(sps, 7)];
          if (unit === old) return [verbatim];
          return isSlice(unit) && isOld(unit) ? [] : [unit];
        });
        const result = await decode(mixed);
        expect(result.complaints).toEqual([]);
        expect(result.pictures.map(hash)).toEqual(truth.pictures.map(hash));
      }
    });
  }

  it('reads how a picture of a pyramid of B pictures changes the references', async () => {
    const units = await makeStream('-preset slow -bf 3 -b-pyramid normal -refs 4');
    const [spsUnit, ppsUnit] = [NAL.sps, NAL.pps].map((type) => units.find((unit) => nalType(unit) === type));
    if (!spsUnit || !ppsUnit) throw new Error('The stream has no parameter sets.');
    const context = { sps: parseSps(spsUnit), pps: parsePps(ppsUnit) };
    const truth = await decode(units);
    const firsts = units.filter((unit) => isSlice(unit) && parseSliceHeader(unit, context.sps).firstMb === 0);
    const markings = firsts.map((unit) => readMarking(unit, context));
    expect(markings.some(({ commands }) => commands.length > 0)).toBe(true);
    // A picture with commands, coded anew with the same commands, leaves every other reference in its place.
    const at = markings.findIndex(({ commands }) => commands.length > 0);
    const old = firsts[at];
    const head = old && parseSliceHeader(old, context.sps);
    const pixels = truth.pictures[(head?.pocLsb ?? 0) / 2];
    if (!head || !pixels) throw new Error('The stream is too short.');
    const marking = markings[at] ?? { longTermReference: false, commands: [] };
    const verbatim = pcmPicture(pixels, context.sps, 7, { ...head, marking });
    const result = await decode(
      units.flatMap((unit) =>
        unit === ppsUnit ? [unit, pcmPps(context.sps, 7)] : [unit === old ? verbatim : unit],
      ),
    );
    expect(result.complaints).toEqual([]);
    expect(result.pictures[(head.pocLsb ?? 0) / 2]?.equals(pixels)).toBe(true);
    expect(result.pictures).toHaveLength(truth.pictures.length);
  });

  it('refuses a picture of another size', async () => {
    const units = await makeStream('-preset ultrafast');
    const spsUnit = units.find((unit) => nalType(unit) === NAL.sps);
    if (!spsUnit) throw new Error('The stream has no parameter sets.');
    const head = { refIdc: 1, frameNum: 0, idrPicId: 0, pocLsb: 0 };
    const marking = { longTermReference: false, commands: [] };
    expect(() => pcmPicture(Buffer.alloc(100), parseSps(spsUnit), 1, { ...head, marking })).toThrow(/size/);
  });
});

/** Vectors of whole pixels that differ from block to block, some still and some like the one beside. */
const WILD: SquareMotion = (x, y) => {
  const wild = Math.imul(Math.floor(x / 32) * 31 + Math.floor(y / 16) * 17 + 5, 2_654_435_761) >>> 8;
  return wild % 5 === 0 ? { x: 0, y: 0 } : { x: 4 * ((wild % 41) - 20), y: 4 * (((wild >> 6) % 31) - 15) };
};

/** The luma of a picture whose blocks come from where vectors of whole pixels say, as far as its edges go on. */
function movedLuma(picture: Buffer, motionAt: SquareMotion): Buffer {
  const inside = (value: number, size: number) => Math.max(0, Math.min(size - 1, value));
  return Buffer.from(
    picture.subarray(0, WIDTH * HEIGHT).map((_, at) => {
      const [x, y] = [at % WIDTH, Math.floor(at / WIDTH)];
      const moved = motionAt(x - (x % 16), y - (y % 16), 16);
      return picture[inside(y + moved.y / 4, HEIGHT) * WIDTH + inside(x + moved.x / 4, WIDTH)] ?? 0;
    }),
  );
}

describe('movedPicture', () => {
  it.each([
    ['the reference decoded last', NOT_MOVED, 1],
    ['the reference decoded last', WILD, 1],
    ['an earlier one', WILD, 2],
  ])('shows the blocks of %s at the places of their vectors', async (_, motion, away) => {
    const units = await makeStream('-preset medium -bf 0 -refs 3 -g 250');
    const [spsUnit, ppsUnit] = [NAL.sps, NAL.pps].map((type) => units.find((unit) => nalType(unit) === type));
    if (!spsUnit || !ppsUnit) throw new Error('The stream has no parameter sets.');
    const [sps, pps] = [parseSps(spsUnit), parsePps(ppsUnit)];
    const truth = await decode(units);
    const slices = units.filter(isSlice);
    const [old, from] = [slices[20], slices[20 - away]];
    const reference = truth.pictures[20 - away];
    if (!old || !from || !reference) throw new Error('The stream is too short.');
    const head = { ...parseSliceHeader(old, sps), marking: readMarking(old, { sps, pps }) };
    const fromFrameNum = away === 1 ? null : parseSliceHeader(from, sps).frameNum;
    const moved = movedPicture(sps, 7, { ...head, fromFrameNum }, motion);
    expect(moved.length).toBeLessThan(600);
    const result = await decode(
      units.flatMap((unit) => (unit === ppsUnit ? [unit, pcmPps(sps, 7)] : [unit === old ? moved : unit])),
    );
    expect(result.complaints).toEqual([]);
    expect(result.pictures).toHaveLength(truth.pictures.length);
    expect(result.pictures[20]?.subarray(0, WIDTH * HEIGHT).equals(movedLuma(reference, motion))).toBe(true);
  });
});
