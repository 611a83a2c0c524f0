import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runFfmpeg } from '../ffmpeg/run-ffmpeg.ts';
import { NAL, createAnnexBSplitter, isSlice, nalType } from './nal.ts';
import { pcmPicture, pcmPps } from './pcm-picture.ts';
import { parsePps } from './pps.ts';
import { readMarking } from './reference-marking.ts';
import { parseSliceHeader } from './slice-header.ts';
import { parseSps } from './sps.ts';

const tools = { ffmpeg: 'ffmpeg', ffprobe: 'ffprobe' };
let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'pcm-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const START_CODE = Buffer.from([0, 0, 0, 1]);
const [WIDTH, HEIGHT] = [176, 144];
const PICTURE_BYTES = (WIDTH * HEIGHT * 3) / 2;

async function makeStream(options: string): Promise<Buffer[]> {
  const file = path.join(folder, 'stream.h264');
  await runFfmpeg(
    {
      label: 'make a stream',
      inputs: [{ path: `testsrc2=s=${WIDTH}x${HEIGHT}:r=25:d=2`, lavfi: true }],
      outputs: [{ path: file, options: ['-pix_fmt', 'yuv420p', '-c:v', 'libx264', ...options.split(' ')] }],
      expectedDurationMs: null,
    },
    { tools },
  );
  const splitter = createAnnexBSplitter();
  return [...splitter.push(await readFile(file)), ...splitter.end()];
}

/** Pictures of a stream of NAL units in display order, and what the decoder said about them. */
async function decode(units: readonly Buffer[]): Promise<{ pictures: Buffer[]; complaints: string[] }> {
  const file = path.join(folder, 'units.h264');
  await writeFile(file, Buffer.concat(units.flatMap((unit) => [START_CODE, unit])));
  const complaints: string[] = [];
  const chunks: Buffer[] = [];
  await runFfmpeg(
    {
      label: 'decode a stream',
      inputs: [{ path: file, format: 'h264', options: ['-err_detect', 'aggressive', '-threads', '1'] }],
      outputs: [{ path: 'pipe:1', options: ['-fps_mode', 'passthrough', '-f', 'rawvideo'] }],
      expectedDurationMs: null,
    },
    {
      tools,
      onStdout: (chunk) => {
        chunks.push(Buffer.from(chunk));
      },
      onStderrLine: (line) => {
        if (/\[h264 @/.test(line)) complaints.push(line);
      },
    },
  );
  const all = Buffer.concat(chunks);
  const count = Math.floor(all.length / PICTURE_BYTES);
  const pictures = Array.from({ length: count }, (_, at) => {
    return all.subarray(at * PICTURE_BYTES, (at + 1) * PICTURE_BYTES);
  });
  return { pictures, complaints };
}

const hash = (picture: Buffer) => createHash('md5').update(picture).digest('hex');

const KINDS = {
  'CABAC, each picture refers to the one before': '-preset medium -bf 0 -refs 3',
  'CAVLC, baseline, several slices': '-profile:v baseline -slices 3',
  'weighted fades without B pictures': '-preset slow -bf 0 -vf fade=out:0:40',
};

describe('pcmPicture', () => {
  for (const [name, options] of Object.entries(KINDS)) {
    it(`takes the place of a reference so that every picture behind decodes to the same samples (${name})`, async () => {
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

  it('reads what a picture of a pyramid of B pictures does to the references', async () => {
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
