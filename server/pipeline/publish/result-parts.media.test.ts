import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { EACH_PICTURE } from '#server/media/ffmpeg/ffmpeg-names.ts';
import { readHashes } from '#server/media/ffmpeg/frame-hashes.ts';
import { probe } from '#server/media/probe/probe.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { makeMovingClip } from '#server/test/broken-clips.ts';
import { indexPictures } from '../analyse/packets/picture-times.ts';
import { readPackets } from '../analyse/packets/read-packets.ts';
import { planWindows } from './look-again.ts';
import { openParts } from './result-parts.ts';
import { testTools as tools } from '#server/test/media-job.ts';

let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'reelmend-parts-'));
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** Hashes of all decoded pictures, display order, and what a strict decoder says. */
async function decode(file: string): Promise<{ hashes: string[]; complaints: string[] }> {
  const complaints: string[] = [];
  let text = '';
  await runFfmpeg(
    {
      label: 'hash',
      logLevel: 'level+warning',
      inputs: [{ path: file, options: ['-err_detect', 'aggressive'] }],
      outputs: [
        {
          path: 'pipe:1',
          options: ['-map', '0:v:0', '-vf', 'settb=1/25,setpts=N', ...EACH_PICTURE, '-f', 'framehash'],
        },
      ],
      expectedDurationMs: null,
    },
    {
      tools,
      onStderrLine: (line) => {
        if (line.trim().length > 0) complaints.push(line);
      },
      onStdout: (chunk) => void (text += chunk.toString('latin1')),
    },
  );
  return { hashes: readHashes(text), complaints };
}

async function openClip(clip: string) {
  const info = await probe(tools, clip, 'mov');
  const scan = await readPackets({ inputPath: clip, info, tools });
  const [stream] = info.video;
  const index = stream ? indexPictures(stream, scan.video, []) : null;
  const pictures = index?.times;
  if (!index || !pictures) throw new Error('no pictures');
  return { info, index, pictures };
}

it('omits what is only displayed before the examined pictures, which decode to the same samples', async () => {
  const clip = path.join(folder, 'long-group.mp4');
  const encode = [
    '-c:v',
    'libx264',
    '-preset',
    'veryfast',
    '-g',
    '300',
    '-sc_threshold',
    '0',
    '-bf',
    '3',
    '-threads',
    '1',
  ];
  await makeMovingClip({ tools, outputPath: clip, seconds: 8, width: 320, height: 180, encode });
  const { info, index, pictures } = await openClip(clip);
  const [window] = planWindows(pictures, index.frameOfPacket, [150]);
  if (!window) throw new Error('no window');
  const file = await open(clip, 'r');
  const outputPath = path.join(folder, 'part.mp4');
  try {
    const groups = await (await openParts(file, info, pictures))?.group([window]);
    const part = await groups?.[0]?.cut(outputPath);
    const count = part?.info.video[0]?.frameCount ?? 0;
    const looked = window.end - window.shown;
    expect(window.shown - window.first).toBeGreaterThan(60);
    expect(count).toBeGreaterThan(looked);
    expect(count).toBeLessThan(window.end - window.first - 20);
    const [whole, cut] = [await decode(clip), await decode(outputPath)];
    expect(cut.complaints).toEqual([]);
    expect(cut.hashes).toHaveLength(count);
    expect(cut.hashes.slice(-looked)).toEqual(whole.hashes.slice(window.shown, window.end));
  } finally {
    await file.close();
  }
}, 60_000);

it('puts windows that start with IDR pictures into one part, where they decode as they do in the clip', async () => {
  const clip = path.join(folder, 'short-groups.mp4');
  const encode = '-c:v libx264 -preset veryfast -g 25 -sc_threshold 0 -bf 2 -threads 1'.split(' ');
  await makeMovingClip({ tools, outputPath: clip, seconds: 8, width: 320, height: 180, encode });
  const { info, index, pictures } = await openClip(clip);
  const keys = pictures.keyframe.flatMap((isKey, frame) => (isKey ? [frame] : []));
  const [second = 0, third = 0, , fifth = 0, sixth = 0] = keys.slice(1);
  const around = (from: number, end: number) => Array.from({ length: end - from }, (_, at) => from + at);
  const wanted = [...around(second, third), ...around(fifth, sixth)];
  // One picture in the middle of a group: others before it are only decoded.
  const inside = planWindows(pictures, index.frameOfPacket, [sixth + 12]);
  const windows = planWindows(pictures, index.frameOfPacket, wanted);
  const file = await open(clip, 'r');
  const outputPath = path.join(folder, 'joined.mp4');
  try {
    const groups = await (await openParts(file, info, pictures))?.group([...windows, ...inside]);
    expect(groups?.map((group) => group.windows)).toEqual([windows, inside]);
    const part = await groups?.[0]?.cut(outputPath);
    expect(part?.info.video[0]?.frameCount).toBe(wanted.length);
    const [whole, cut] = [await decode(clip), await decode(outputPath)];
    expect(cut.complaints).toEqual([]);
    expect(cut.hashes).toEqual(wanted.map((frame) => whole.hashes[frame]));
  } finally {
    await file.close();
  }
}, 60_000);
