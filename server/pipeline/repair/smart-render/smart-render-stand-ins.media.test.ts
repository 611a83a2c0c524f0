import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { probe } from '#server/media/probe/probe.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { runTool } from '#server/media/ffmpeg/tools.ts';
import { decodeHashes } from '#server/test/rendered-clips.ts';
import { corruptSamples } from '#server/test/broken-clips.ts';
import type { PictureEdit } from '../picture-edit.ts';
import { smartRender } from './smart-render.ts';
import { testTools as tools } from '#server/test/media-job.ts';

const limits = {
  threads: 2,
  preset: 'veryfast',
  maxEncodePixels: 4096 * 2304,
  maxDurationMs: 3_600_000,
  maxPictures: 200_000,
} as const;
const WIDTH = 336;
const HEIGHT = 208;
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'stand-ins-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const ONE_LONG_GROUP = '-c:v libx264 -preset veryfast -bf 2 -g 600';
const MAKERS = [
  { name: 'arithmetic coding', video: ONE_LONG_GROUP },
  { name: 'variable-length coding', video: `${ONE_LONG_GROUP} -coder 0` },
  {
    name: 'several references and a pyramid',
    video: `${ONE_LONG_GROUP} -refs 5 -x264-params b-pyramid=normal`,
  },
  { name: 'many slices', video: `${ONE_LONG_GROUP} -slices 3` },
  { name: 'weighted prediction', video: '-c:v libx264 -profile:v main -preset medium -bf 2 -g 600' },
  { name: 'scaling lists', video: `${ONE_LONG_GROUP} -x264-params cqm=jvt` },
  { name: 'ten bits', video: `${ONE_LONG_GROUP} -pix_fmt yuv420p10le` },
  { name: 'parameter sets in band', video: ONE_LONG_GROUP, by: 'ts' },
] as const;

async function make(name: string, video: string, by: string): Promise<string> {
  const [first, second] = [path.join(folder, `${name}-made.${by}`), path.join(folder, `${name}.mp4`)];
  const source = `testsrc2=s=${WIDTH}x${HEIGHT}:r=30:d=3,fade=out:20:60`;
  await runFfmpeg(
    {
      label: 'make a clip',
      inputs: [{ path: source, lavfi: true }],
      outputs: [{ path: first, options: video.split(' ') }],
      expectedDurationMs: null,
    },
    { tools },
  );
  if (by === 'mp4') return first;
  await runFfmpeg(
    {
      label: 'rewrap',
      inputs: [{ path: first }],
      outputs: [{ path: second, options: ['-c', 'copy'] }],
      expectedDurationMs: null,
    },
    { tools },
  );
  return second;
}

/**
 * Time of each picture in display order, and whether no other refers to it; slice headers tell that, the demuxer does
 * not.
 */
async function shownPictures(file: string): Promise<{ pts: number; isPlain: boolean }[]> {
  const { stderr } = await runTool('read slice heads', tools.ffmpeg, [
    ...'-v trace -i'.split(' '),
    file,
    ...'-map 0:v:0 -c copy -bsf:v trace_headers -f null -'.split(' '),
  ]);
  // A picture may have several slices; the one at macroblock 0 begins it.
  const heads = stderr
    .split('\n')
    .filter((line) => /trace_headers.* (nal_ref_idc|first_mb_in_slice) /.test(line));
  const plain: boolean[] = [];
  let refIdc = 0;
  for (const line of heads) {
    const value = Number(/= (\d+)\s*$/.exec(line)?.[1]);
    if (line.includes('nal_ref_idc')) refIdc = value;
    else if (value === 0) plain.push(refIdc === 0);
  }
  const { stdout } = await runTool('packets', tools.ffprobe, [
    ...'-v error -select_streams v:0 -show_entries packet=pts -of csv=p=0'.split(' '),
    file,
  ]);
  const times = stdout.trim().split('\n').map(Number);
  expect(plain).toHaveLength(times.length);
  return times.map((pts, at) => ({ pts, isPlain: plain[at] ?? false })).sort((a, b) => a.pts - b.pts);
}

/** Luma PSNR of picture `frame` of one clip against picture `other` of another. */
async function psnr(file: string, frame: number, truth: string, other: number): Promise<number> {
  const pick = (at: number) => `trim=start_frame=${at}:end_frame=${at + 1},setpts=0`;
  const { stderr } = await runTool('compare', tools.ffmpeg, [
    '-i',
    file,
    '-i',
    truth,
    '-filter_complex',
    `[0:v]${pick(frame)}[a];[1:v]${pick(other)}[b];[a][b]psnr`,
    ...'-f null -'.split(' '),
  ]);
  return Number(/PSNR y:([\d.]+)/.exec(stderr)?.[1]);
}

describe('smartRender on pictures nobody refers to', () => {
  it.each(MAKERS)(
    'exchanges only them in one long group of pictures ($name)',
    async ({ name, video, ...how }) => {
      const file = await make(name.replaceAll(' ', '-'), video, 'by' in how ? how.by : 'mp4');
      const pictures = await shownPictures(file);
      const plain = pictures.flatMap(({ isPlain }, frame) => (isPlain && frame > 4 ? [frame] : []));
      const chosen = [plain[3], plain[10], plain[20]].filter((frame) => frame !== undefined);
      expect(chosen).toHaveLength(3);
      const edit: PictureEdit = chosen.map((frame) => ({
        firstFrame: frame,
        endFrame: frame + 1,
        pictures: [{ ptsTicks: pictures[frame]?.pts ?? 0, pixels: { kind: 'original', frame: frame - 3 } }],
        shiftAfterTicks: 0,
      }));
      const workDir = path.join(folder, 'work');
      await mkdir(workDir, { recursive: true });
      const outputPath = path.join(folder, 'out.mp4');
      const info = await probe(tools, file, 'mov');
      const result = await smartRender({ inputPath: file, outputPath, workDir, info, edit, tools, limits });
      if (!result.done) throw new Error(result.reason);
      expect(result.framesKept).toBe(pictures.length - 3);
      expect(result.reencodedSpans).toEqual(
        chosen.map((frame) => ({ firstFrame: frame, endFrame: frame + 1 })),
      );
      const before = await decodeHashes(file);
      const after = await decodeHashes(outputPath);
      expect(after.warnings).toBe('');
      expect(after.hashes).toHaveLength(before.hashes.length);
      const changed = after.hashes.flatMap((hash, frame) => (hash === before.hashes[frame] ? [] : [frame]));
      expect(changed).toEqual(chosen);
      for (const frame of chosen) expect(await psnr(outputPath, frame, file, frame - 3)).toBeGreaterThan(38);
      expect((await shownPictures(outputPath)).map(({ pts }) => pts)).toEqual(pictures.map(({ pts }) => pts));
    },
  );

  it('exchanges a single one of which nothing is left, by the numbers of those around it', async () => {
    const whole = await make('whole', ONE_LONG_GROUP, 'mp4');
    const pictures = await shownPictures(whole);
    const frame = pictures.findIndex(({ isPlain }, at) => isPlain && at > 40);
    const file = path.join(folder, 'nothing-left.mp4');
    await corruptSamples({ tools, inputPath: whole, outputPath: file, frames: [frame], fault: 'lost' });
    const pixels = { kind: 'original', frame: frame - 3 } as const;
    const span = { firstFrame: frame, endFrame: frame + 1, shiftAfterTicks: 0 };
    const edit = [{ ...span, pictures: [{ ptsTicks: pictures[frame]?.pts ?? 0, pixels }] }];
    const workDir = path.join(folder, 'work-nothing-left');
    await mkdir(workDir, { recursive: true });
    const outputPath = path.join(folder, 'nothing-left-out.mp4');
    const info = await probe(tools, file, 'mov');
    const result = await smartRender({ inputPath: file, outputPath, workDir, info, edit, tools, limits });
    if (!result.done) throw new Error(result.reason);
    expect(result.framesKept).toBe(pictures.length - 1);
    const [truth, after] = [await decodeHashes(whole), await decodeHashes(outputPath)];
    expect(after.warnings).toBe('');
    const changed = after.hashes.flatMap((hash, at) => (hash === truth.hashes[at] ? [] : [at]));
    expect(changed).toEqual([frame]);
  });

  it('re-encodes the group when a picture that others refer to changes in it', async () => {
    const file = await make('mixed', ONE_LONG_GROUP, 'mp4');
    const pictures = await shownPictures(file);
    const plain = pictures.findIndex(({ isPlain }, frame) => isPlain && frame > 50);
    const referred = pictures.findIndex(({ isPlain }, frame) => !isPlain && frame > 30);
    const span = (frame: number) => ({
      firstFrame: frame,
      endFrame: frame + 1,
      pictures: [
        { ptsTicks: pictures[frame]?.pts ?? 0, pixels: { kind: 'original', frame: frame - 1 } as const },
      ],
      shiftAfterTicks: 0,
    });
    const workDir = path.join(folder, 'work-mixed');
    await mkdir(workDir, { recursive: true });
    const outputPath = path.join(folder, 'mixed-out.mp4');
    const info = await probe(tools, file, 'mov');
    const edit = [span(referred), span(plain)];
    const result = await smartRender({ inputPath: file, outputPath, workDir, info, edit, tools, limits });
    if (!result.done) throw new Error(result.reason);
    expect(result.reencodedSpans).toHaveLength(1);
    const after = await decodeHashes(outputPath);
    expect(after.warnings).toBe('');
    expect(after.hashes).toHaveLength(pictures.length);
    expect(await psnr(outputPath, plain, file, plain - 1)).toBeGreaterThan(38);
  });
});
