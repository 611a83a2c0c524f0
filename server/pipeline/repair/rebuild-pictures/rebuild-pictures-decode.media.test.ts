import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { probe } from '#server/media/probe/probe.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { makeMovingClip } from '#server/test/broken-clips.ts';
import { makeFolder, testTools as tools } from '#server/test/media-job.ts';
import { indexPictures } from '../../analyse/packets/picture-times.ts';
import { readPackets } from '../../analyse/packets/read-packets.ts';
import { decodePictures, type DecodeInput } from './rebuild-pictures-decode.ts';
import { rawFormat } from './rebuild-pictures-raw.ts';

let folder: Awaited<ReturnType<typeof makeFolder>>;
beforeAll(async () => {
  folder = await makeFolder();
});
afterAll(() => folder.remove());

async function openClip(name: string, encode: readonly string[]): Promise<DecodeInput> {
  const made = path.join(folder.path, `${name}.mp4`);
  await makeMovingClip({ tools, outputPath: made, seconds: 6, width: 320, height: 180, encode });
  const inputPath = path.join(folder.path, name);
  const copy = { path: inputPath, options: ['-map', '0:v:0', '-c', 'copy'] };
  const inputs = [{ path: made }];
  await runFfmpeg({ label: 'copy', inputs, outputs: [copy], expectedDurationMs: null }, { tools });
  const isAvi = name.endsWith('.avi');
  const info = await probe(tools, inputPath, isAvi ? 'avi' : 'mov');
  const [stream] = info.video;
  const scan = await readPackets({ inputPath, info, tools });
  const listed = scan.video.map((_, at) => at);
  const pictures = stream && indexPictures(stream, scan.video, isAvi ? listed : [])?.times;
  const format = stream && rawFormat(stream.pixelFormat, stream.width, stream.height);
  if (!pictures || !format) throw new Error('no pictures');
  return { inputPath, info, pictures, format, tools };
}

it.each([
  ['short.mp4', '-c:v libx264 -preset ultrafast -g 20 -bf 2 -sc_threshold 0'],
  ['long.mp4', '-c:v libx264 -preset ultrafast -g 250'],
  ['plain.avi', '-c:v mpeg4 -q:v 4 -g 20'],
])('gives the pictures of several runs as one run for each would (%s)', async (name, encode) => {
  const clip = await openClip(name, encode.split(' '));
  const runs = [[12, 9, 15], [61, 70], [132]];
  const together = await decodePictures(clip, runs);
  expect([...together.keys()].sort((a, b) => a - b)).toEqual([9, 12, 15, 61, 70, 132]);
  for (const frames of runs) {
    const alone = await decodePictures(clip, [frames]);
    for (const frame of frames) {
      const [one, other] = [together.get(frame), alone.get(frame)];
      expect(one && other && Buffer.compare(one, other)).toBe(0);
    }
  }
  const [first, last] = [together.get(9), together.get(132)];
  expect(first && last && Buffer.compare(first, last)).not.toBe(0);
});
