import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { runTool } from '#server/media/ffmpeg/tools.ts';
import { makeMovingClip } from '#server/test/broken-clips.ts';
import { makeFolder, makeTask, mustBeOk, testTools as tools } from '#server/test/media-job.ts';
import { lumaPsnr } from '#server/test/psnr.ts';
import { decodeHashes, pictureTypes } from '#server/test/rendered-clips.ts';
import { processVideo } from './process-video.ts';

/** Encoders for clips of one group, from which the coded data of one picture are removed, as a lossy transport does. */
const MAKERS = [
  { name: 'H.264', encode: '-c:v libx264 -preset veryfast -bf 2 -g 600 -x264-params b-pyramid=none' },
  {
    name: 'HEVC',
    encode:
      '-c:v libx265 -preset ultrafast -tag:v hvc1 -x265-params log-level=error:keyint=600:bframes=3:b-pyramid=0:frame-threads=1:pools=1',
  },
] as const;

let folder: Awaited<ReturnType<typeof makeFolder>>;
beforeAll(async () => {
  folder = await makeFolder();
});
afterAll(() => folder.remove());

/** Copies a clip without the coded pictures that are displayed at the given positions. */
async function dropPictures(inputPath: string, outputPath: string, frames: readonly number[]) {
  const { stdout } = await runTool('read packets', tools.ffprobe, [
    ...'-v error -select_streams v:0 -show_entries packet=pts -of csv=p=0'.split(' '),
    inputPath,
  ]);
  const times = (stdout.match(/-?\d+/g) ?? []).map(Number);
  const shown = [...times].sort((a, b) => a - b);
  const numbers = frames.map((frame) => times.findIndex((pts) => pts === shown[frame]));
  const drop = `noise=drop='${numbers.map((number) => `eq(n,${number})`).join('+')}'`;
  await runFfmpeg(
    {
      label: 'drop packets',
      inputs: [{ path: inputPath }],
      outputs: [{ path: outputPath, options: ['-map', '0', '-c', 'copy', '-bsf:v', drop] }],
      expectedDurationMs: null,
    },
    { tools },
  );
}

const SIZE = { width: 320, height: 192 } as const;
const at = (name: string) => path.join(folder.path, name);

async function mendFile(file: string, workDir: string) {
  const task = await makeTask(file, workDir);
  return mustBeOk(await processVideo(task, { signal: new AbortController().signal, send: () => {} }));
}

async function mend(name: string, encode: string, kind: 'B' | 'P') {
  const [clean, broken] = [at(`${name}.mp4`), at(`${name}-${kind}.mp4`)];
  if (!existsSync(clean)) {
    await makeMovingClip({ tools, outputPath: clean, seconds: 3, encode: encode.split(' ') });
  }
  const types = await pictureTypes(clean);
  const lost = types.findIndex((type, frame) => frame > 40 && type === kind);
  expect(lost).toBeGreaterThan(40);
  await dropPictures(clean, broken, [lost]);
  const { report, resultPath } = await mendFile(broken, at(`${name}-${kind}-work`));
  return { clean, broken, lost, count: types.length, report, result: resultPath ?? '' };
}

describe('a picture whose packet is lost from the file', () => {
  for (const { name, encode } of MAKERS) {
    it(`${name}: gets its place again, and all others keep their coded data and what they show`, async () => {
      const { broken, lost, count, report, result } = await mend(name, encode, 'B');
      expect(report.defects.map(({ kind, outcome }) => [kind, outcome])).toEqual([
        ['dropped_frames', 'repaired'],
      ]);
      expect(report.video).toMatchObject({ unitsKept: count - 1, unitsTotal: count - 1 });
      expect(report.checks.filter(({ passed }) => !passed)).toEqual([]);
      const [before, after] = [await decodeHashes(broken), await decodeHashes(result)];
      expect(after.warnings).toBe('');
      expect(after.hashes.length).toBe(count);
      expect(after.hashes.toSpliced(lost, 1)).toEqual(before.hashes);
      const beside = before.hashes.slice(lost - 1, lost + 1);
      expect(beside).not.toContain(after.hashes[lost]);
    });
  }

  it('HEVC: all that refers to it decodes nearer to the truth, with its own coded data', async () => {
    const { encode } = MAKERS[1];
    const { broken, clean, count, report, result } = await mend('HEVC', encode, 'P');
    expect(report.video).toMatchObject({ unitsKept: count - 1, unitsTotal: count - 1 });
    const filled = report.defects.find(({ kind }) => kind === 'dropped_frames');
    expect(filled?.explanation).toContain('Filled in from the frames around it');
    expect(report.checks.filter(({ passed }) => !passed)).toEqual([]);
    const after = await decodeHashes(result);
    expect(after.warnings).toBe('');
    expect(after.hashes.length).toBe(count);
    expect(await lumaPsnr(result, clean)).toBeGreaterThan((await lumaPsnr(broken, clean)) + 3);
  });

  it('HEVC: several in the rhythm of a camera that slows down are told from one by what the stream counts', async () => {
    const [clean, broken] = [at('rhythm.mp4'), at('rhythm-lost.mp4')];
    await makeMovingClip({
      tools,
      outputPath: clean,
      ...SIZE,
      seconds: 3,
      encode: MAKERS[1].encode.split(' '),
    });
    const types = await pictureTypes(clean);
    const first = types.findIndex((type, frame) => frame > 40 && type === 'B' && types[frame + 2] === 'B');
    await dropPictures(clean, broken, [first, first + 2]);
    const { report, resultPath } = await mendFile(broken, at('rhythm-work'));
    const found = report.defects.filter(({ kind }) => kind === 'dropped_frames');
    expect(found).toMatchObject([
      { firstFrame: first - 1, count: 1, outcome: 'repaired' },
      { firstFrame: first, count: 1, outcome: 'repaired' },
    ]);
    expect(report.checks.filter(({ passed }) => !passed)).toEqual([]);
    expect((await decodeHashes(resultPath ?? '')).hashes.length).toBe(types.length);
    expect(report.notes.filter((note) => note.includes('intervals'))).toEqual([]);
  });

  it('H.264: one that showed the picture before once more is not made along the motion around it', async () => {
    const [clean, broken] = [at('twice.mp4'), at('twice-lost.mp4')];
    const encode = '-vf fps=25,fps=30 -c:v libx264 -preset veryfast -bf 0 -g 600';
    await makeMovingClip({ tools, outputPath: clean, ...SIZE, seconds: 3, encode: encode.split(' ') });
    const list = '-v error -select_streams v:0 -show_entries packet=size -of csv=p=0'.split(' ');
    const { stdout } = await runTool('read packets', tools.ffprobe, [...list, clean]);
    const sizes = (stdout.match(/\d+/g) ?? []).map(Number);
    // One of six pictures is shown twice.
    const lost = sizes.indexOf(Math.min(...sizes.slice(61, 67)), 61);
    await dropPictures(clean, broken, [lost]);
    const { report, resultPath } = await mendFile(broken, at('twice-work'));
    expect(report.checks.filter(({ passed }) => !passed)).toEqual([]);
    const after = await decodeHashes(resultPath ?? '');
    expect(after.hashes.length).toBe(sizes.length);
    expect(await lumaPsnr(resultPath ?? '', clean)).toBeGreaterThan(45);
  });

  it('H.264: with a lost key picture the counts begin anew, and as many pictures come back as the times have room for', async () => {
    const [clean, broken] = [at('keyed.mp4'), at('keyed-lost.mp4')];
    // Counts of six bits: from the last picture of such a group to the second of the next, they seem to advance by six
    // pictures.
    const encode = '-c:v libx264 -preset veryfast -bf 2 -g 28 -keyint_min 28 -sc_threshold 0';
    await makeMovingClip({ tools, outputPath: clean, ...SIZE, seconds: 3, encode: encode.split(' ') });
    const types = await pictureTypes(clean);
    expect(types[28]).toBe('I');
    await dropPictures(clean, broken, [28]);
    const { report, resultPath } = await mendFile(broken, at('keyed-work'));
    const found = report.defects.filter(({ kind }) => kind === 'dropped_frames');
    expect(found).toMatchObject([{ firstFrame: 27, lastFrame: 28, count: 1, outcome: 'repaired' }]);
    expect(report.checks.filter(({ passed }) => !passed)).toEqual([]);
    expect((await decodeHashes(resultPath ?? '')).hashes.length).toBe(types.length);
  });

  it('H.264 of variable rate: is told from holes that are the nature of the clip', async () => {
    const [even, uneven] = [at('even.mp4'), at('uneven.mp4')];
    await makeMovingClip({ tools, outputPath: even, ...SIZE, seconds: 3, sound: false });
    // Phones take pictures at uneven intervals, and now and then omit one.
    const times = "select='mod(n,17)-16',settb=1/90000,setpts='PTS+0.4*mod(N*N,3)/(30*TB)'";
    const varied = ['-vf', times, '-fps_mode', 'vfr', '-enc_time_base', '1:90000'];
    const options = [...varied, ...MAKERS[0].encode.split(' ')];
    const outputs = [{ path: uneven, options }];
    await runFfmpeg(
      { label: 'make a variable rate', inputs: [{ path: even }], outputs, expectedDurationMs: null },
      { tools },
    );
    const clean = await mendFile(uneven, at('uneven-work'));
    expect(clean.report.defects.filter(({ kind }) => kind === 'dropped_frames')).toEqual([]);
    const lost = (await pictureTypes(uneven)).findIndex((type, frame) => frame > 40 && type === 'B');
    await dropPictures(uneven, at('uneven-lost.mp4'), [lost]);
    const { report } = await mendFile(at('uneven-lost.mp4'), at('uneven-lost-work'));
    const found = report.defects.filter(({ kind }) => kind === 'dropped_frames');
    expect(found).toMatchObject([{ firstFrame: lost - 1, count: 1, outcome: 'repaired' }]);
    expect(report.video.unitsKept).toBe(report.video.unitsTotal);
    expect(report.checks.filter(({ passed }) => !passed)).toEqual([]);
  });
});
