import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { probe } from '#server/media/probe/probe.ts';
import { runTool } from '#server/media/ffmpeg/tools.ts';
import { corruptSamples, DEFAULT_ENCODE, makeMovingClip } from '#server/test/broken-clips.ts';
import { makeFolder, testTools as tools } from '#server/test/media-job.ts';
import { analysePicture } from '../analyse/analyse-picture.ts';
import { findTornBlocks } from './torn-blocks.ts';

let folder: Awaited<ReturnType<typeof makeFolder>>;
const at = (name: string) => path.join(folder.path, name);
beforeAll(async () => {
  folder = await makeFolder();
});
afterAll(() => folder.remove());

const [WIDTH, HEIGHT] = [640, 352];
const ACROSS = WIDTH / 16;

/** The luma of one picture of a clip, decoded by one thread. */
async function lumaOf(file: string, frame: number): Promise<Buffer> {
  const outputPath = `${file}.${frame}.grey`;
  const only = ['-vf', `select=eq(n\\,${frame}),extractplanes=y`, '-frames:v', '1', '-f', 'rawvideo'];
  await runTool('decode', tools.ffmpeg, ['-v', 'error', '-threads', '1', '-i', file, ...only, outputPath]);
  return readFile(outputPath);
}

it('the part of torn pictures that is reported as readable is as it was coded', async () => {
  const [clean, broken] = [at('clean.mp4'), at('broken.mp4')];
  const encode = [
    ...DEFAULT_ENCODE,
    '-x264-params',
    'keyint=30:bframes=2:b-adapt=0:b-pyramid=none:scenecut=0',
  ];
  await makeMovingClip({
    tools,
    outputPath: clean,
    seconds: 2,
    width: WIDTH,
    height: HEIGHT,
    sound: false,
    encode,
  });
  const frames = [10, 40];
  const fault = { fault: 'random', amount: 24, place: 0.75, seed: 3 } as const;
  await corruptSamples({ tools, inputPath: clean, outputPath: broken, frames, ...fault });
  const info = await probe(tools, broken, 'mov');
  const { findings } = await analysePicture({ inputPath: broken, info, tools });

  const torn = await findTornBlocks(broken, info, findings, findings);
  expect(torn.size).toBeGreaterThan(0);
  let most = 0;
  for (const [frame, { doubtedFrom, end }] of torn) {
    expect(frames).toContain(frame);
    expect(end).toBe(ACROSS * (HEIGHT / 16));
    // The deblocking filter of the next blocks changes the lowest rows.
    const pixels = WIDTH * Math.max(0, 16 * Math.floor(doubtedFrom / ACROSS) - 8);
    most = Math.max(most, pixels);
    const [was, is] = [await lumaOf(clean, frame), await lumaOf(broken, frame)];
    expect(is.subarray(0, pixels).equals(was.subarray(0, pixels))).toBe(true);
    expect(is.equals(was)).toBe(false);
  }
  expect(most).toBeGreaterThan(0);
  expect(await findTornBlocks(broken, info, findings, [])).toEqual(new Map());
});
