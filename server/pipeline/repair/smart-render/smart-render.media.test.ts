import { mkdir, open, readFile, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { findVideoTrack, readMovie } from '#server/media/mp4/movie.ts';
import { readSamples } from '#server/media/mp4/sample-table.ts';
import { probe } from '#server/media/probe/probe.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { runTool } from '#server/media/ffmpeg/tools.ts';
import { testTools as tools } from '#server/test/media-job.ts';
import {
  clipHashes,
  decodeHashes,
  encodeSource,
  renderLimits,
  sharedFolder,
} from '#server/test/rendered-clips.ts';
import {
  expectedPictures,
  original,
  packetTimes,
  renderEdit,
  shownTimes,
  threeChanges,
  timesShown,
} from '#server/test/rendered-edits.ts';
import { turnClip, type Degrees } from '#server/test/turned-clips.ts';
import type { PictureEdit } from '../picture-edit.ts';
import { smartRender } from './smart-render.ts';

const folder = sharedFolder();

const SIZE = { width: 208, height: 112 };
/** A little more than what `threeChanges` touches. */
const SECONDS = 3.5;

interface Maker {
  readonly name: string;
  /** Options of the encoder. */
  readonly video: string;
  readonly filter?: string;
  /** For `SIZE` in the form of ffmpeg. */
  readonly size?: string;
  readonly seconds?: number;
  /** Options of a second, copying run. */
  readonly remux?: { readonly input?: string[]; readonly output?: string[] };
  readonly turned?: Degrees;
  readonly extension?: string;
  /** File type of the first run, if it differs. */
  readonly by?: string;
}

const MAKERS: readonly Maker[] = [
  { name: 'cabac-b-frames', video: '-c:v libx264 -preset veryfast -bf 3 -g 30' },
  {
    name: 'several-refs-b-pyramid',
    video: '-c:v libx264 -preset slow -refs 5 -bf 3 -g 40 -x264-params b-pyramid=normal',
  },
  { name: 'cavlc-baseline', video: '-c:v libx264 -profile:v baseline -preset veryfast -g 25' },
  {
    name: 'open-gop',
    video: '-c:v libx264 -preset veryfast -bf 3 -g 30 -x264-params open-gop=1:keyint=30:scenecut=0',
  },
  {
    name: 'fragments',
    video: '-c:v libx264 -preset veryfast -bf 2 -g 30',
    remux: { output: ['-movflags', '+frag_keyframe+delay_moov'] },
  },
  {
    name: 'fragments-without-edit-list',
    video: '-c:v libx264 -preset veryfast -bf 2 -g 30',
    remux: { output: ['-movflags', '+frag_keyframe+empty_moov+default_base_moof'] },
  },
  { name: 'one-long-gop', video: '-c:v libx264 -preset veryfast -bf 2 -g 600' },
  { name: 'all-intra', video: '-c:v libx264 -preset veryfast -g 1' },
  {
    name: 'many-slices-scaling-lists',
    video: '-c:v libx264 -preset veryfast -bf 2 -g 30 -slices 4 -x264-params cqm=jvt',
  },
  {
    name: 'main-weighted',
    video: '-c:v libx264 -profile:v main -preset medium -bf 2 -g 30',
    filter: 'fade=out:0:105',
  },
  { name: 'full-range', video: '-c:v libx264 -pix_fmt yuvj420p -preset veryfast -bf 2 -g 30' },
  { name: 'ten-bit', video: '-c:v libx264 -pix_fmt yuv420p10le -preset veryfast -bf 2 -g 30' },
  { name: '422', video: '-c:v libx264 -pix_fmt yuv422p -preset veryfast -bf 2 -g 30' },
  {
    name: 'not-whole-macroblocks',
    video: '-c:v libx264 -preset veryfast -bf 2 -g 30',
    size: '194x102',
  },
  {
    name: 'variable-rate',
    video: '-c:v libx264 -preset veryfast -bf 2 -g 30 -fps_mode vfr',
    filter: "select='not(eq(mod(n,7),3))'",
    seconds: 4,
  },
  {
    name: 'parameter-sets-in-band',
    video: '-c:v libx264 -preset veryfast -bf 2 -g 30',
    // A transport stream repeats parameter sets at each key frame, and a copy into MP4 keeps them there.
    by: 'ts',
    remux: {},
  },
  {
    name: 'rotated-quicktime',
    video: '-c:v libx264 -preset veryfast -bf 2 -g 30',
    turned: 270,
    extension: 'mov',
  },
  {
    name: 'negative-offsets',
    video: '-c:v libx264 -preset veryfast -bf 2 -g 30 -movflags +negative_cts_offsets',
  },
  {
    name: 'edit-list-start',
    video: '-c:v libx264 -preset veryfast -bf 2 -g 30',
    remux: { input: ['-ss', '1.4'] },
  },
  {
    name: 'late-video',
    video: '-c:v libx264 -preset veryfast -bf 2 -g 30',
    remux: { input: ['-itsoffset', '0.5'] },
  },
];

async function make(maker: Maker): Promise<string> {
  const extension = maker.extension ?? 'mp4';
  const first = path.join(folder.path, `${maker.name}-made.${maker.by ?? extension}`);
  const filter = maker.filter ? ['-vf', maker.filter] : [];
  const { size = `${SIZE.width}x${SIZE.height}`, seconds = SECONDS } = maker;
  const picture = `testsrc2=s=${size}:r=30:d=${seconds}[out0]`;
  await encodeSource(`${picture};sine=f=440:d=${seconds}:r=44100[out1]`, first, [
    ...filter,
    ...maker.video.split(' '),
    '-c:a',
    'aac',
    '-aac_coder',
    'fast',
    '-movflags',
    '+faststart',
  ]);
  const second = path.join(folder.path, `${maker.name}.${extension}`);
  if (maker.turned) await turnClip(first, second, maker.turned);
  if (!maker.remux) return maker.turned ? second : first;
  const { input = [], output = [] } = maker.remux;
  await runFfmpeg(
    {
      label: `remux ${maker.name}`,
      inputs: [{ path: first, options: input }, { path: first }],
      outputs: [{ path: second, options: ['-map', '0:v', '-map', '1:a', '-c', 'copy', ...output] }],
      expectedDurationMs: null,
    },
    { tools },
  );
  return second;
}

const render = (file: string, name: string, edit: PictureEdit) => renderEdit(folder.path, file, name, edit);

describe('smartRender', () => {
  for (const maker of MAKERS) {
    it(`keeps everything that an edit does not touch (${maker.name})`, async () => {
      const file = await make(maker);
      const times = await shownTimes(file);
      const edit = maker.name === 'edit-list-start' ? threeChanges(times).slice(0, 1) : threeChanges(times);
      const { output, result, shares, info } = await render(file, maker.name, edit);
      if (!result.done) throw new Error(result.reason);

      const before = await clipHashes(file);
      const after = await clipHashes(output);
      expect(before.warnings).toBe('');
      expect(after.warnings).toBe('');
      const planned = expectedPictures(times, edit);
      expect(after.hashes).toHaveLength(planned.length);
      const inSpan = (frame: number) =>
        result.reencodedSpans.some((span) => frame >= span.firstFrame && frame < span.endFrame);
      planned.forEach(({ from }, index) => {
        if (from === null || inSpan(from)) return;
        expect(after.hashes[index], `picture ${from}`).toBe(before.hashes[from]);
      });

      const packets = await packetTimes(output);
      expect(timesShown(packets)).toEqual(planned.map(({ pts }) => pts));
      packets.forEach((packet, index) => {
        expect(packet.dts).toBeGreaterThan(packets[index - 1]?.dts ?? -Infinity);
      });
      expect(after.sound).toMatch(/^SHA256=/);
      expect(after.sound).toBe(before.sound);

      const again = await probe(tools, output, 'mov');
      expect(again.video[0]?.rotation).toBe(info.video[0]?.rotation);
      expect(again.video[0]?.pixelFormat).toBe(info.video[0]?.pixelFormat);
      expect(again.video[0]?.profile).toBe(info.video[0]?.profile);
      expect(again.video[0]?.startMs).toBe(info.video[0]?.startMs);
      expect(shares.at(-1)).toBe(1);
      expect(shares.every((share, index) => share >= (shares[index - 1] ?? 0))).toBe(true);
      expect(result.heldFrames).toEqual([]);
      if (maker.name === 'all-intra') expect(result.framesKept).toBe(98);
    });
  }

  it('takes pictures from raw files and from anywhere in the clip', async () => {
    const file = await make({ name: 'sources', video: '-c:v libx264 -preset veryfast -bf 2 -g 30 -crf 10' });
    const times = await shownTimes(file);
    const at = (frame: number) => times[frame] ?? 0;
    const raw = path.join(folder.path, 'grey.raw');
    const pictureBytes = (SIZE.width * SIZE.height * 3) / 2;
    await writeFile(raw, Buffer.concat([Buffer.alloc(pictureBytes, 128), Buffer.alloc(pictureBytes, 90)]));
    const edit: PictureEdit = [
      {
        firstFrame: 50,
        endFrame: 54,
        pictures: [
          original(at(50), 100),
          original(at(51), 5),
          { ptsTicks: at(52), pixels: { kind: 'raw', path: raw, index: 1 } },
          original(at(53), 5),
        ],
        shiftAfterTicks: 0,
      },
    ];
    const { output, result } = await render(file, 'sources', edit);
    expect(result.done).toBe(true);
    const psnrOf = async (left: number, right: number) => {
      const { stderr } = await runTool('psnr', tools.ffmpeg, [
        '-v',
        'info',
        '-i',
        output,
        '-i',
        file,
        '-lavfi',
        `[0:v]trim=start_frame=${left}:end_frame=${left + 1},setpts=0[a];` +
          `[1:v]trim=start_frame=${right}:end_frame=${right + 1},setpts=0[b];[a][b]psnr`,
        ...'-f null -'.split(' '),
      ]);
      const average = /average:(\S+)/.exec(stderr)?.[1];
      return average === 'inf' ? Infinity : Number(average);
    };
    expect(await psnrOf(50, 100)).toBeGreaterThan(38);
    expect(await psnrOf(51, 5)).toBeGreaterThan(38);
    expect(await psnrOf(53, 5)).toBeGreaterThan(38);
    expect(await psnrOf(55, 55)).toBeGreaterThan(38);
    const { stdout } = await runTool('grey', tools.ffprobe, [
      ...'-v error -f lavfi -show_entries frame_tags=lavfi.signalstats.YAVG -of csv=p=0 -i'.split(' '),
      `movie=${output},trim=start_frame=52:end_frame=53,signalstats`,
    ]);
    expect(Math.abs(Number(stdout.trim().split('\n')[0]) - 90)).toBeLessThan(3);
  });

  it('repairs a clip with destroyed bytes so that the decoder reports nothing', async () => {
    const intact = await make({
      name: 'destroyed',
      video: '-c:v libx264 -preset veryfast -bf 2 -g 30 -x264-params scenecut=0',
    });
    const handle = await open(intact);
    const samples = readSamples(findVideoTrack(await readMovie(handle), 0).stbl);
    await handle.close();
    const victim = samples.find((sample, index) => index >= 40 && sample.sizeBytes > 400);
    if (!victim) throw new Error('The clip has no picture to destroy.');
    const bytes = await readFile(intact);
    bytes.fill(0x5a, victim.offset + 120, victim.offset + 380);
    const file = path.join(folder.path, 'destroyed-now.mp4');
    await writeFile(file, bytes);
    const times = await shownTimes(file);
    expect((await decodeHashes(file)).warnings).not.toBe('');
    const first = samples.filter((sample) => sample.pts < victim.pts).length - 3;
    const damaged = Array.from({ length: 60 - first }, (_, step) => first + step);
    const edit: PictureEdit = [
      {
        firstFrame: first,
        endFrame: 60,
        pictures: damaged.map((frame) => original(times[frame] ?? 0, frame < 50 ? first - 1 : 60)),
        shiftAfterTicks: 0,
      },
    ];
    const { output, result } = await render(file, 'destroyed-now', edit);
    if (!result.done) throw new Error(result.reason);
    const after = await decodeHashes(output);
    const before = await decodeHashes(intact);
    expect(after.warnings).toBe('');
    expect(result.reencodedSpans).toHaveLength(1);
    const [span] = result.reencodedSpans;
    expect(span?.endFrame).toBe(60);
    before.hashes.forEach((hash, frame) => {
      if (frame < (span?.firstFrame ?? 0) || frame >= 60) expect(after.hashes[frame]).toBe(hash);
    });
    expect(await shownTimes(output)).toEqual(times);
  });

  it('declines with a reason what it cannot keep intact', async () => {
    const interlaced = await make({
      name: 'interlaced',
      video: '-c:v libx264 -preset veryfast -flags +ildct+ilme -x264-params tff=1',
      seconds: 1,
    });
    const mpeg4 = await make({ name: 'mpeg4', video: '-c:v mpeg4 -q:v 5', seconds: 1 });
    const fragmented = await make({
      name: 'fragmented',
      video: '-c:v libx264 -preset veryfast -g 30',
      seconds: 2,
      remux: { output: ['-movflags', '+frag_keyframe+empty_moov'] },
    });
    const twice = path.join(folder.path, 'told-twice.mp4');
    const bytes = await readFile(fragmented);
    await writeFile(twice, Buffer.concat([bytes, bytes.subarray(bytes.indexOf('moof') - 4)]));
    const hold = async (file: string): Promise<PictureEdit> => {
      const times = await shownTimes(file);
      return [{ firstFrame: 5, endFrame: 6, pictures: [original(times[5] ?? 0, 4)], shiftAfterTicks: 0 }];
    };
    for (const [file, reason] of [
      [interlaced, /interlaced/],
      [mpeg4, /mpeg4/],
      [twice, /fragments/],
    ] as const) {
      const { result } = await render(file, path.basename(file, '.mp4'), await hold(file));
      expect(result.done ? 'done' : result.reason).toMatch(reason);
    }
  });

  it('declines times that do not ascend', async () => {
    const file = await make({
      name: 'order',
      video: '-c:v libx264 -preset veryfast -bf 2 -g 30',
      seconds: 2,
    });
    const times = await shownTimes(file);
    const edit: PictureEdit = [
      { firstFrame: 20, endFrame: 21, pictures: [original(times[25] ?? 0, 19)], shiftAfterTicks: 0 },
    ];
    const { result } = await render(file, 'order', edit);
    expect(result).toEqual({ done: false, reason: 'The planned picture times do not rise.' });
  });

  it('stops its tools when cancelled', async () => {
    const file = await make({ name: 'cancel', video: '-c:v libx264 -preset veryfast -g 600' });
    const times = await shownTimes(file);
    const workDir = path.join(folder.path, 'cancel-work');
    await mkdir(workDir);
    const controller = new AbortController();
    const run = smartRender({
      inputPath: file,
      outputPath: path.join(folder.path, 'cancelled.mp4'),
      workDir,
      info: await probe(tools, file, 'mov'),
      edit: [{ firstFrame: 10, endFrame: 11, pictures: [original(times[10] ?? 0, 9)], shiftAfterTicks: 0 }],
      tools,
      limits: renderLimits,
      signal: controller.signal,
      onProgress: () => controller.abort(),
    });
    await expect(run).rejects.toMatchObject({ code: 'cancelled' });
    expect(existsSync(path.join(folder.path, 'cancelled.mp4'))).toBe(false);
  });
});
