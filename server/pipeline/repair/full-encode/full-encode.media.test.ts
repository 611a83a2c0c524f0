import { existsSync } from 'node:fs';
import { copyFile, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { probe, type MediaInfo } from '#server/media/probe/probe.ts';
import { sniffFile } from '#server/media/probe/sniff-container.ts';
import { runTool } from '#server/media/ffmpeg/tools.ts';
import { testTools as tools } from '#server/test/media-job.ts';
import { REAL_MEDIA } from '#server/test/real-media.ts';
import {
  clipHashes,
  encodeSource,
  renderLimits,
  soundHash,
  sharedFolder,
} from '#server/test/rendered-clips.ts';
import { turnClip } from '#server/test/turned-clips.ts';
import { fullEncode } from './full-encode.ts';
import type { PictureEdit } from '../picture-edit.ts';

const folder = sharedFolder();

interface Maker {
  readonly name: string;
  readonly options: string;
  readonly size?: string;
  readonly soundKept: boolean;
}

const MAKERS: readonly Maker[] = [
  {
    name: 'hevc.mp4',
    options: '-c:v libx265 -preset ultrafast -x265-params log-level=none -c:a aac',
    soundKept: true,
  },
  { name: 'mpeg4.avi', options: '-c:v mpeg4 -bf 0 -q:v 3 -c:a mp3', soundKept: true },
  { name: 'b-frames.avi', options: '-c:v mpeg4 -bf 2 -q:v 3 -c:a mp3', soundKept: true },
  { name: 'vp8.webm', options: '-c:v libvpx -b:v 1M -deadline realtime -c:a libvorbis', soundKept: false },
  {
    name: 'variable.mp4',
    options: '-vf select=not(eq(mod(n\\,5)\\,2)) -fps_mode vfr -c:v libx264 -preset veryfast -bf 2 -c:a aac',
    soundKept: true,
  },
  { name: 'pcm.mov', options: '-c:v mjpeg -q:v 3 -c:a pcm_s16le', soundKept: true },
  {
    name: 'fragmented.mp4',
    options: '-c:v libx264 -preset veryfast -c:a aac -movflags +frag_keyframe+empty_moov',
    soundKept: true,
  },
  {
    name: 'odd-size.mov',
    options: '-c:v mjpeg -q:v 3 -pix_fmt yuvj444p -c:a aac',
    size: '321x181',
    soundKept: true,
  },
];

async function make(maker: Maker): Promise<string> {
  const target = path.join(folder.path, maker.name);
  const source = `testsrc2=s=${maker.size ?? '320x180'}:r=25:d=2[out0];sine=f=440:d=2:r=48000[out1]`;
  return encodeSource(source, target, maker.options.split(' '));
}

/**
 * Times of the decoded pictures in seconds, display order, as reported by the decoder; NaN where unknown. Their look is
 * left unfinished.
 */
async function decodedTimes(file: string): Promise<number[]> {
  const { stdout } = await runTool('times', tools.ffprobe, [
    ...'-v error -skip_loop_filter all -select_streams v:0 -show_entries frame=best_effort_timestamp_time -of csv=p=0'.split(
      ' ',
    ),
    file,
  ]);
  return stdout
    .split('\n')
    .filter((line) => /^(-?\d|N\/A)/.test(line))
    .map((line) => Number(line.split(',')[0]));
}

/** Warnings of the decoder, and the hash of the coded sound. */
async function decodeAll(file: string): Promise<{ warnings: string; sound: string }> {
  const { warnings, sound } = await clipHashes(file);
  const told = warnings.split('\n').filter((line) => line && !line.includes('Guessed Channel'));
  return { warnings: told.join('\n'), sound };
}

/** PSNR in dB between pictures of one clip and as many of another, both in rising order. */
async function psnr(
  file: string,
  frames: readonly number[],
  other: string,
  otherFrames: readonly number[],
): Promise<number[]> {
  const pick = (input: string, numbers: readonly number[]) => {
    const wanted = numbers.map((frame) => `eq(n\\,${frame})`).join('+');
    return `[${input}:v]select=${wanted},settb=1/25,setpts=N,crop=320:180:0:0,format=yuv420p`;
  };
  const graph = `${pick('0', frames)}[a];${pick('1', otherFrames)}[b];[a][b]psnr=stats_file=-`;
  const inputs = ['-v', 'error', '-i', file, '-i', other];
  const { stdout } = await runTool('psnr', tools.ffmpeg, [...inputs, '-lavfi', graph, '-f', 'null', '-']);
  return [...stdout.matchAll(/psnr_avg:(\S+)/g)].map(([, db]) => (db === 'inf' ? Infinity : Number(db)));
}

async function infoOf(file: string): Promise<MediaInfo> {
  const format = await sniffFile(file);
  if (!format) throw new Error('The clip has no known format.');
  return probe(tools, file, format);
}

async function encode(file: string, edit: PictureEdit, given?: MediaInfo) {
  const name = path.basename(file);
  const workDir = path.join(folder.path, `${name}-work`);
  await mkdir(workDir, { recursive: true });
  const info = given ?? (await infoOf(file));
  const outputPath = path.join(folder.path, `${name}-out.mp4`);
  const shares: number[] = [];
  const result = await fullEncode({
    inputPath: file,
    outputPath,
    workDir,
    info,
    edit,
    tools,
    limits: renderLimits,
    onProgress: (share) => shares.push(share),
  });
  return { info, outputPath, result, shares };
}

describe('fullEncode', () => {
  for (const maker of MAKERS) {
    it(`shows every picture at its planned time, with its sound (${maker.name})`, async () => {
      const file = await make(maker);
      const times = await decodedTimes(file);
      const info = await infoOf(file);
      const { timeBase } = info.video[0] ?? { timeBase: { num: 1, den: 1 } };
      const toTicks = (seconds: number) => Math.round((seconds * timeBase.den) / timeBase.num);
      const at = (frame: number) => times[frame] ?? 0;
      const edit: PictureEdit = [
        {
          firstFrame: 10,
          endFrame: 12,
          pictures: [10, 11].map((frame) => ({
            ptsTicks: toTicks(at(frame)),
            pixels: { kind: 'original', frame: 20 },
          })),
          shiftAfterTicks: 0,
        },
        { firstFrame: 30, endFrame: 32, pictures: [], shiftAfterTicks: toTicks(at(30)) - toTicks(at(32)) },
      ];
      const { outputPath, result, shares } = await encode(file, edit, info);
      const removed = at(32) - at(30);
      const planned = [...times.slice(0, 30), ...times.slice(32).map((time) => time - removed)];
      expect(result).toEqual({ framesTotal: planned.length, heldFrames: [] });
      const shown = await decodedTimes(outputPath);
      expect(shown).toHaveLength(planned.length);
      const known = planned.map((time, frame) => (Number.isNaN(time) ? (shown[frame] ?? 0) : time));
      shown.forEach((time, frame) => expect(Math.abs(time - (known[frame] ?? 0))).toBeLessThan(0.0011));
      const likeness = await psnr(outputPath, [5, 10, 34], file, [5, 20, 36]);
      expect(likeness).toHaveLength(3);
      for (const db of likeness) expect(db).toBeGreaterThan(34);
      const { warnings, sound } = await decodeAll(outputPath);
      expect(warnings).toBe('');
      const again = await probe(tools, outputPath, 'mov');
      expect(again.video[0]?.codec).toBe('h264');
      if (maker.soundKept) expect(sound).toBe(await soundHash(file));
      expect(again.audio[0]).toMatchObject({
        sampleRateHz: info.audio[0]?.sampleRateHz,
        channels: info.audio[0]?.channels,
      });
      expect(again.audio[0]?.codec).toBe(maker.soundKept ? info.audio[0]?.codec : 'aac');
      expect(shares.at(-1)).toBe(1);
      expect(shares.every((share, index) => share >= (shares[index - 1] ?? 0))).toBe(true);
    });
  }

  const trimmed = path.join(REAL_MEDIA, 'odd-hevc-editlist-no-keyframe.mp4');
  it.skipIf(!existsSync(trimmed))(
    'keeps sound and picture together when decoders show pictures from before the start, because no key picture is there',
    async () => {
      const starts = async (clip: string) => {
        const shown = await decodedTimes(clip);
        const sound = '-v error -select_streams a -show_entries packet=pts_time -of csv=p=0'.split(' ');
        const { stdout } = await runTool('sound', tools.ffprobe, [...sound, clip]);
        return { count: shown.length, apartMs: 1000 * (Number.parseFloat(stdout) - (shown[0] ?? 0)) };
      };
      const file = path.join(folder.path, path.basename(trimmed));
      await copyFile(trimmed, file);
      const before = await starts(file);
      const { outputPath } = await encode(file, []);
      const after = await starts(outputPath);
      expect(before.apartMs).toBeGreaterThan(300);
      expect(after.count).toBe(before.count);
      expect(Math.abs(after.apartMs - before.apartMs)).toBeLessThan(2);
    },
    120_000,
  );

  it('keeps rotation, colour description and the depth of high dynamic range', async () => {
    const flat = await make({
      name: 'hdr-flat.mp4',
      options:
        '-c:v libx265 -preset ultrafast -pix_fmt yuv420p10le -x265-params log-level=none:colorprim=bt2020:transfer=arib-std-b67:colormatrix=bt2020nc -color_primaries bt2020 -color_trc arib-std-b67 -colorspace bt2020nc -c:a aac',
      soundKept: true,
    });
    const file = path.join(folder.path, 'hdr.mp4');
    await turnClip(flat, file, 270);
    const { outputPath, info } = await encode(file, []);
    const again = await probe(tools, outputPath, 'mov');
    expect(info.video[0]?.rotation).not.toBe(0);
    expect(again.video[0]).toMatchObject({
      codec: 'h264',
      pixelFormat: 'yuv420p10le',
      rotation: info.video[0]?.rotation,
      colorTransfer: 'arib-std-b67',
      colorPrimaries: 'bt2020',
      colorSpace: 'bt2020nc',
    });
  });

  it('keeps a sample aspect ratio with large terms', async () => {
    const options = '-vf setsar=128/117:max=1000 -c:v mpeg4 -q:v 3 -c:a mp3';
    const file = await make({ name: 'wide.mov', options, soundKept: true });
    const { outputPath, info } = await encode(file, []);
    expect(info.video[0]?.sampleAspectRatio).toBe('128:117');
    expect((await probe(tools, outputPath, 'mov')).video[0]?.sampleAspectRatio).toBe('128:117');
  });

  it('stops when cancelled', async () => {
    const file = await make({ name: 'cancel.avi', options: '-c:v mpeg4 -c:a mp3', soundKept: true });
    const workDir = path.join(folder.path, 'cancel-work');
    await mkdir(workDir);
    const controller = new AbortController();
    const run = fullEncode({
      inputPath: file,
      outputPath: path.join(folder.path, 'x.mp4'),
      workDir,
      tools,
      limits: renderLimits,
      edit: [],
      info: await probe(tools, file, 'avi'),
      signal: controller.signal,
      onProgress: () => controller.abort(),
    });
    await expect(run).rejects.toMatchObject({ code: 'cancelled' });
  });
});
