import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { probe } from '#server/media/probe.ts';
import { DEFAULT_ENCODE, makeMovingClip } from '#server/test/broken-clips.ts';
import { decodeHalves, findSeam } from './decode-halves.ts';
import { decodePass, type DecodePassInput } from './decode-pass.ts';
import { readPackets } from './read-packets.ts';

const tools = { ffmpeg: 'ffmpeg', ffprobe: 'ffprobe' };
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'halves-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('decodeHalves', () => {
  it.each([
    ['closed groups of pictures', ['-g', '60']],
    ['open groups of pictures', ['-g', '60', '-x264-params', 'open-gop=1:bframes=3']],
  ])('measures the same as one decoder with %s', async (_name, gop) => {
    const inputPath = path.join(folder, 'clip.mp4');
    const encode = [...DEFAULT_ENCODE, ...gop];
    await makeMovingClip({
      tools,
      outputPath: inputPath,
      seconds: 9,
      width: 640,
      height: 480,
      sound: false,
      encode,
    });
    const info = await probe(tools, inputPath, 'mov');
    const stream = info.video[0];
    if (!stream) throw new Error('The clip has no picture.');
    const { video } = await readPackets({ inputPath, info, tools });
    const input: DecodePassInput = { inputPath, info, stream, expectedPictures: video.length, tools };
    const seam = findSeam(input, video);
    if (!seam) throw new Error('The clip has no key frame near its middle.');
    expect(Math.abs(seam.picturesBefore - 135)).toBeLessThanOrEqual(30);
    expect(await decodeHalves(input, seam)).toEqual(await decodePass(input));
  });
});
