import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { probe } from '../probe/probe.ts';
import { runFfmpeg } from '../ffmpeg/run-ffmpeg.ts';
import { runTool } from '../ffmpeg/tools.ts';
import { Mp4Error } from './mp4-error.ts';
import { shiftAudioTrack } from './shift-track.ts';
import { testTools as tools } from '#server/test/media-job.ts';

let folder = '';
let clip = '';

async function make(name: string, options: string): Promise<string> {
  const target = path.join(folder, name);
  // Silence with one click at exactly 1 s: its place tells where the sound really is.
  const click = 'aevalsrc=if(between(t\\,1\\,1.002)\\,0.9\\,0):s=44100:d=3';
  await runFfmpeg(
    {
      label: 'make a clip with a click',
      inputs: [{ path: `testsrc2=s=160x120:r=25:d=3[out0];${click}[out1]`, lavfi: true }],
      outputs: [{ path: target, options: options.split(' ') }],
      expectedDurationMs: null,
    },
    { tools },
  );
  return target;
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'shift-'));
  clip = await make('clip.mp4', '-c:v libx264 -preset veryfast -bf 2 -c:a aac -b:a 192k');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Where the click is, in ms on the common time axis. */
async function clickAtMs(file: string): Promise<number> {
  const chunks: Buffer[] = [];
  await runFfmpeg(
    {
      label: 'listen',
      inputs: [{ path: file }],
      outputs: [
        {
          path: 'pipe:1',
          options: '-map 0:a:0 -af aresample=48000:first_pts=0 -ac 1 -f f32le'.split(' '),
        },
      ],
      expectedDurationMs: null,
    },
    { tools, onStdout: (chunk) => void chunks.push(Buffer.from(chunk)) },
  );
  const bytes = Buffer.concat(chunks);
  const levels: number[] = [];
  for (let at = 0; at + 4 <= bytes.length; at += 4) levels.push(Math.abs(bytes.readFloatLE(at)));
  const loudest = levels.reduce((most, level) => Math.max(most, level), 0);
  return levels.findIndex((level) => level > loudest / 2) / 48;
}

async function hashes(file: string): Promise<string> {
  const { stdout } = await runTool('hash', tools.ffmpeg, [
    '-v',
    'error',
    '-i',
    file,
    ...'-map 0 -c copy -f streamhash -'.split(' '),
  ]);
  return stdout;
}

const shift = async (inputPath: string, shiftMs: number) => {
  const outputPath = path.join(folder, `shifted${shiftMs}.mp4`);
  await shiftAudioTrack({ inputPath, outputPath, shiftMs });
  return outputPath;
};

describe('shiftAudioTrack', () => {
  for (const shiftMs of [240, 17.3, 1500, -120, -333.4, -40]) {
    it(`moves the sound by ${shiftMs} ms and changes no coded byte`, async () => {
      const before = await clickAtMs(clip);
      const shifted = await shift(clip, shiftMs);
      expect(Math.abs((await clickAtMs(shifted)) - before - shiftMs)).toBeLessThan(1);
      if (shiftMs > 0) expect(await hashes(shifted)).toBe(await hashes(clip));
      const picture = (file: string) => probe(tools, file, 'mov').then((info) => info.video[0]);
      expect(await picture(shifted)).toEqual(await picture(clip));
    });
  }

  it('returns to the start when moved there and back', async () => {
    const there = await shift(clip, 180);
    const back = path.join(folder, 'back.mp4');
    await shiftAudioTrack({ inputPath: there, outputPath: back, shiftMs: -180 });
    expect(Math.abs((await clickAtMs(back)) - (await clickAtMs(clip)))).toBeLessThan(0.1);
    expect(await hashes(back)).toBe(await hashes(clip));
  });

  it('also moves uncompressed sound', async () => {
    const pcm = await make('pcm.mov', '-c:v libx264 -preset veryfast -c:a pcm_s16le');
    const target = path.join(folder, 'pcm-shifted.mov');
    await shiftAudioTrack({ inputPath: pcm, outputPath: target, shiftMs: 250 });
    expect(Math.abs((await clickAtMs(target)) - (await clickAtMs(pcm)) - 250)).toBeLessThan(1);
    expect(await hashes(target)).toBe(await hashes(pcm));
  });

  it('moves the sound of a movie made of fragments, which then has one index', async () => {
    const fragmented = await make(
      'fragmented.mp4',
      '-c:v libx264 -preset veryfast -c:a aac -movflags +frag_keyframe+delay_moov',
    );
    const target = path.join(folder, 'fragmented-shifted.mp4');
    await shiftAudioTrack({ inputPath: fragmented, outputPath: target, shiftMs: 250 });
    expect(Math.abs((await clickAtMs(target)) - (await clickAtMs(clip)) - 250)).toBeLessThan(1);
    expect(await hashes(target)).toBe(await hashes(fragmented));
    expect((await readFile(target)).includes('moof')).toBe(false);
  });

  it('rejects what it cannot do', async () => {
    // Written so, the sound begins with its delay, a hole of 80 ms and then the rest.
    const holed = await make(
      'holed.mp4',
      '-c:v libx264 -preset veryfast -c:a aac -movflags +frag_keyframe+empty_moov',
    );
    await expect(shift(holed, 100)).rejects.toThrow(/hole/);
    const silent = await make('silent.mp4', '-c:v libx264 -preset veryfast -an');
    await expect(shift(silent, 100)).rejects.toThrow(Mp4Error);
    await expect(shift(clip, -60_000)).rejects.toThrow(Mp4Error);
  });
});
