import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Page } from 'playwright/test';
import { repairReport } from '#common/report.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { runTool } from '#server/media/ffmpeg/tools.ts';
import {
  corruptSamples,
  injectRepeats,
  injectTimestampGaps,
  makeMovingClip,
} from '#server/test/broken-clips.ts';
import { expectMended, sendClip } from './api-steps.ts';
import { expect, test } from './fixtures.ts';

const tools = { ffmpeg: 'ffmpeg', ffprobe: 'ffprobe' };
const WIDTH = 640;
const HEIGHT = 360;
/** Mean levels of 255 of fields of 40 x 40 pixels, row by row: what two decoders must agree on. */
const FIELD = 40;
/** How fast a clip is played: a busy machine that skips too many pictures plays it once more, slower. */
const PLAYBACK_RATES = [0.5, 0.25, 0.125] as const;

type Fields = readonly number[];

const x264 = (...more: string[]) => [
  '-c:v',
  'libx264',
  '-preset',
  'veryfast',
  '-crf',
  '20',
  '-threads',
  '1',
  ...more,
];

interface StreamKind {
  readonly name: string;
  readonly encode: readonly string[];
  readonly damage: (clean: string, broken: string, encode: readonly string[]) => Promise<unknown>;
}

const held = (inputPath: string, outputPath: string, encode: readonly string[]) =>
  injectRepeats({ tools, inputPath, outputPath, history: 'held', runs: [{ frame: 70, count: 4 }], encode });
const gap = (inputPath: string, outputPath: string, encode: readonly string[]) =>
  injectTimestampGaps({ tools, inputPath, outputPath, holes: [{ frame: 70, count: 5 }], encode });

const KINDS: readonly StreamKind[] = [
  { name: 'phone-like, a key picture each second', encode: x264('-g', '30', '-bf', '0'), damage: held },
  {
    name: 'open groups with pictures out of order',
    encode: x264('-g', '30', '-bf', '3', '-x264-params', 'open-gop=1:b-pyramid=normal'),
    damage: gap,
  },
  {
    name: 'damaged bytes in a long group',
    encode: x264('-g', '120', '-keyint_min', '120', '-bf', '2', '-sc_threshold', '0'),
    damage: (inputPath, outputPath) =>
      corruptSamples({ tools, inputPath, outputPath, frames: [20], fault: 'random', seed: 3 }),
  },
];

/** Presentation times of all pictures, seconds, in order. */
async function pictureTimes(file: string): Promise<number[]> {
  const args = [
    '-v',
    'error',
    '-select_streams',
    'v:0',
    '-show_entries',
    'packet=pts_time',
    '-of',
    'csv=p=0',
  ];
  const { stdout } = await runTool('read the times', tools.ffprobe, [...args, file]);
  const times = stdout.split('\n').map((line) => Number.parseFloat(line));
  return times.filter((time) => Number.isFinite(time)).sort((a, b) => a - b);
}

/** All pictures as ffmpeg decodes them, in display order. */
async function decodedByFfmpeg(file: string): Promise<Fields[]> {
  const size = WIDTH * HEIGHT * 4;
  const pictures: Fields[] = [];
  let rest = Buffer.alloc(0);
  const options = ['-map', '0:v:0', '-fps_mode', 'passthrough', '-pix_fmt', 'rgba', '-f', 'rawvideo'];
  const plan = {
    label: 'decode pictures',
    inputs: [{ path: file }],
    outputs: [{ path: 'pipe:1', options }],
    expectedDurationMs: null,
  };
  const take = (chunk: Buffer): void => {
    rest = Buffer.concat([rest, chunk]);
    for (; rest.length >= size; rest = rest.subarray(size))
      pictures.push(fieldMeans(rest.subarray(0, size), WIDTH, FIELD));
  };
  await runFfmpeg(plan, { tools, onStdout: take });
  return pictures;
}

/** Runs in the page too, so it refers to nothing outside itself. */
function fieldMeans(rgba: ArrayLike<number>, width: number, field: number): number[] {
  const columns = Math.floor(width / field);
  const rows = Math.floor(rgba.length / 4 / width / field);
  const sums = Array.from({ length: columns * rows }, () => 0);
  for (let y = 0; y < rows * field; y += 1)
    for (let x = 0; x < columns * field; x += 1) {
      const from = (y * width + x) * 4;
      const to = Math.floor(y / field) * columns + Math.floor(x / field);
      sums[to] = (sums[to] ?? 0) + (rgba[from] ?? 0) + (rgba[from + 1] ?? 0) + (rgba[from + 2] ?? 0);
    }
  return sums.map((sum) => sum / (3 * field * field));
}

/**
 * Plays the clip slowly in the browser to its end and keeps every picture that it shows. Playing, not jumping: to
 * a picture of an open group Chromium cannot jump, in no clip that lists it as a key picture.
 */
async function playedByBrowser(page: Page, address: string, playbackRate: number) {
  return page.evaluate(
    async ({ source, field, means, rate }) => {
      const measure: (rgba: ArrayLike<number>, width: number, field: number) => number[] = new Function(
        `return ${means}`,
      )();
      const video = document.createElement('video');
      video.muted = true;
      video.preload = 'auto';
      const canvas = document.createElement('canvas');
      const drawing = canvas.getContext('2d', { willReadFrequently: true });
      if (!drawing) throw new Error('no canvas');
      const pictures: { timeS: number; fields: number[] }[] = [];
      const keep = (): void => {
        // The picture with its own time: on a busy machine the one that was announced may be gone by now.
        const picture = new VideoFrame(video);
        const timeS = picture.timestamp / 1e6;
        canvas.width = video.videoWidth;
        canvas.height = video.videoHeight;
        drawing.drawImage(picture, 0, 0);
        picture.close();
        const { data } = drawing.getImageData(0, 0, canvas.width, canvas.height);
        pictures.push({ timeS, fields: measure(data, canvas.width, field) });
        video.requestVideoFrameCallback(keep);
      };
      video.requestVideoFrameCallback(keep);
      await new Promise<void>((resolve, reject) => {
        video.addEventListener('ended', () => resolve(), { once: true });
        video.addEventListener('error', () => reject(new Error(video.error?.message)), { once: true });
        video.src = source;
        video.playbackRate = rate;
        video.play().catch(reject);
      });
      return { pictures, endedAtS: video.currentTime, durationS: video.duration };
    },
    { source: address, field: FIELD, means: fieldMeans.toString(), rate: playbackRate },
  );
}

const distance = (a: Fields, b: Fields) =>
  a.reduce((sum, value, at) => sum + Math.abs(value - (b[at] ?? 0)), 0) / a.length;

for (const { name, encode, damage } of KINDS)
  test(`a second decoder shows the mended clip as the first does: ${name}`, async ({
    page,
    server,
    account,
  }) => {
    expect(account.username).toBeTruthy();
    const folder = await mkdtemp(path.join(tmpdir(), 'reelmend-second-'));
    const [clean, broken, result] = ['clean', 'broken', 'result'].map((file) =>
      path.join(folder, `${file}.mp4`),
    );
    if (!clean || !broken || !result) throw new Error('no names');
    await makeMovingClip({ tools, outputPath: clean, seconds: 4.5, scenery: 'pan', encode });
    await damage(clean, broken, encode);

    const videoId = await sendClip(page.request, server.baseUrl, broken);
    await expectMended(page.request, videoId);
    const answer = await page.request.get(`/api/videos/${videoId}/report`);
    const report = repairReport.parse(await answer.json());
    // The proof is about joined streams: parts copied, parts coded anew.
    expect(report.video.treatment).toBe('smart_render');

    await page.goto('/videos');
    const started = page.waitForEvent('download');
    await page.evaluate((address) => location.assign(address), `/api/videos/${videoId}/download`);
    await (await started).saveAs(result);

    const times = await pictureTimes(result);
    const seen = new Map<number, Fields>();
    for (const rate of PLAYBACK_RATES) {
      const played = await playedByBrowser(page, `/api/videos/${videoId}/stream`, rate);
      expect(played.endedAtS).toBeCloseTo(played.durationS, 1);
      for (const { timeS, fields } of played.pictures)
        seen.set(
          times.findIndex((time) => Math.abs(time - timeS) < 0.002),
          fields,
        );
      if (seen.size > times.length / 2) break;
    }
    expect([...seen.keys()], 'every picture is shown at a time that the file gives').not.toContain(-1);
    // A busy machine skips pictures; the seams lie among the first hundred.
    expect(seen.size).toBeGreaterThan(times.length / 2);
    const numbers = [...seen.keys()].sort((a, b) => a - b);
    const expected = await decodedByFfmpeg(result);
    expect(expected).toHaveLength(times.length);
    const off = numbers.map((number) => ({
      number,
      levels: distance(seen.get(number) ?? [], expected[number] ?? []),
    }));
    // The two turn colour differences into colours by their own rounding; a wrong picture of the pan is far off.
    expect(off.filter(({ levels }) => levels > 1.5)).toEqual([]);
    const [first, last] = [expected[0] ?? [], expected.at(-1) ?? []];
    expect(distance(first, last), 'the pictures differ enough to tell them apart').toBeGreaterThan(6);
  });
