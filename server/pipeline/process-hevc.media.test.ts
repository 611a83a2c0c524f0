import { open, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readMovie } from '#server/media/mp4/movie.ts';
import { readSamples } from '#server/media/mp4/sample-table.ts';
import {
  corruptSamples,
  injectRepeats,
  injectTimestampGaps,
  makeMovingClip,
} from '#server/test/broken-clips.ts';
import { makeFolder, makeTask, mustBeOk, testTools as tools } from '#server/test/media-job.ts';
import { lumaPsnr } from '#server/test/psnr.ts';
import { clipHashes, decodeHashes, encodeSource } from '#server/test/rendered-clips.ts';
import { seededRandom } from '#server/test/seeded-random.ts';
import { processVideo } from './process-video.ts';

let folder: Awaited<ReturnType<typeof makeFolder>>;
let clean = '';
const at = (name: string) => path.join(folder.path, name);

/** Open groups of one second, as phones record. */
const ENCODE = [
  ...'-c:v libx265 -preset ultrafast -crf 22 -tag:v hvc1 -x265-params'.split(' '),
  'log-level=error:keyint=30:open-gop=1:bframes=3:frame-threads=1:pools=1',
];
const GROUP = 30;

beforeAll(async () => {
  folder = await makeFolder();
  clean = at('clean.mp4');
  await makeMovingClip({ tools, outputPath: clean, seconds: 4, encode: ENCODE });
});
afterAll(() => folder.remove());

const FAULTS: readonly {
  readonly name: string;
  /** Writes the broken clip and returns its first broken picture. */
  readonly make: (outputPath: string) => Promise<number>;
}[] = [
  {
    name: 'corrupt pictures',
    make: async (outputPath) => {
      await corruptSamples({
        tools,
        inputPath: clean,
        outputPath,
        frames: [50],
        fault: 'zero',
        amount: 200,
        place: 0.3,
      });
      return 50;
    },
  },
  {
    name: 'held pictures',
    make: async (outputPath) => {
      const runs = [{ frame: 49, count: 4 }];
      await injectRepeats({ tools, inputPath: clean, outputPath, encode: ENCODE, history: 'held', runs });
      return 50;
    },
  },
  {
    name: 'pictures missing in the times',
    make: async (outputPath) => {
      const holes = [{ frame: 50, count: 3 }];
      await injectTimestampGaps({ tools, inputPath: clean, outputPath, encode: ENCODE, holes });
      return 50;
    },
  },
];

describe('processVideo on HEVC clips', () => {
  for (const { name, make } of FAULTS) {
    it(`mends ${name} and keeps every picture of the other groups`, async () => {
      const broken = at(`${name}.mp4`);
      const first = await make(broken);
      const task = await makeTask(broken, at(`${name}-work`));
      const answer = await processVideo(task, { signal: new AbortController().signal, send: () => {} });
      const { report, resultPath } = mustBeOk(answer);
      expect(report.video).toMatchObject({ treatment: 'smart_render', reason: null });
      expect(report.checks.filter(({ passed }) => !passed)).toEqual([]);
      expect(report.result.media.videoCodec).toBe(report.original.media.videoCodec);
      const [before, after] = [await clipHashes(broken), await clipHashes(resultPath ?? '')];
      expect(after.warnings).toBe('');
      const head = first - GROUP;
      expect(after.hashes.slice(0, head)).toEqual(before.hashes.slice(0, head));
      const tail = before.hashes.length - (first + GROUP);
      expect(tail).toBeGreaterThan(GROUP);
      expect(after.hashes.slice(-tail)).toEqual(before.hashes.slice(-tail));
      expect(after.sound).toMatch(/^SHA256=/);
      expect(after.sound).toBe(before.sound);
    });
  }
});

/** Overwrites coded pictures with noise, decode order. */
async function writeNoise(clip: string, samples: readonly number[]): Promise<void> {
  const file = await open(clip);
  const { tracks } = await readMovie(file);
  await file.close();
  const bytes = await readFile(clip);
  const random = seededRandom(3);
  const video = tracks.find(({ handler }) => handler === 'vide');
  const listed = video ? readSamples(video.stbl) : [];
  for (const sample of samples) {
    const { offset = 0, sizeBytes = 0 } = listed[sample] ?? {};
    for (let at = offset; at < offset + sizeBytes; at += 1) bytes[at] = Math.floor(random() * 256);
  }
  await writeFile(clip, bytes);
}

it('HEVC pictures with noise in their place are moved from those before, beside one that is rebuilt in the same group', async () => {
  const [whole, broken] = [at('whole.mp4'), at('noise.mp4')];
  const params = 'log-level=error:keyint=120:bframes=3:b-adapt=0:frame-threads=1:pools=1';
  const encode = [
    '-c:v',
    'libx265',
    '-preset',
    'fast',
    '-crf',
    '24',
    '-tag:v',
    'hvc1',
    '-x265-params',
    params,
  ];
  const size = { width: 320, height: 192, seconds: 4 };
  await makeMovingClip({ tools, outputPath: whole, ...size, sound: false, encode });
  // In groups of a P and three B pictures behind one key picture, no picture refers to 41.
  await corruptSamples({
    tools,
    inputPath: whole,
    outputPath: broken,
    frames: [41],
    fault: 'zero',
    place: 0.3,
  });
  await writeNoise(broken, [81, 82, 83]);
  const task = await makeTask(broken, at('noise-work'));
  const answer = await processVideo(task, { signal: new AbortController().signal, send: () => {} });
  const { report, resultPath } = mustBeOk(answer);
  // The decoder shows grey in their places, and everything behind them depends on that.
  expect(report.video).toMatchObject({ treatment: 'smart_render', unitsKept: 116, unitsTotal: 120 });
  expect(report.checks.filter(({ passed }) => !passed)).toEqual([]);
  expect((await decodeHashes(resultPath ?? '')).warnings).toBe('');
  expect(await lumaPsnr(resultPath ?? '', whole)).toBeGreaterThan((await lumaPsnr(broken, whole)) + 3);
});

/** The defaults of x265: B pictures, one long group, rows that can be decoded in parallel. */
const LONG_GROUP = [
  ...'-pix_fmt yuv420p -c:v libx265 -preset fast -tag:v hvc1 -x265-params'.split(' '),
  'log-level=error:keyint=250:pools=1:frame-threads=1',
];

it('conceals no torn picture by blocks that lead the rest of its group farther astray', async () => {
  const source = 'testsrc2=s=640x360:r=25:d=2,noise=alls=9:allf=t';
  const whole = await encodeSource(source, at('long-group.mp4'), LONG_GROUP);
  const broken = at('long-group-torn.mp4');
  const file = await open(whole, 'r');
  const bytes = await readFile(whole);
  try {
    const { tracks } = await readMovie(file);
    const { offset = 0, sizeBytes = 0 } = tracks.flatMap(({ stbl }) => readSamples(stbl))[36] ?? {};
    // Two adjacent bytes, which cannot be restored, in the last rows.
    const place = offset + sizeBytes - 36;
    bytes[place] = (bytes[place] ?? 0) ^ 0xaf;
    bytes[place + 1] = (bytes[place + 1] ?? 0) ^ 0xd6;
  } finally {
    await file.close();
  }
  await writeFile(broken, bytes);
  const task = await makeTask(broken, at('long-group-work'));
  const answer = await processVideo(task, { signal: new AbortController().signal, send: () => {} });
  const { report, resultPath = '' } = mustBeOk(answer);
  expect(report.defects.map(({ action }) => action)).toEqual(['concealed_frames']);
  expect(report.checks.filter(({ passed }) => !passed)).toEqual([]);
  expect(report.video.unitsKept).toBe(49);
  expect(await lumaPsnr(resultPath ?? '', whole)).toBeGreaterThan(await lumaPsnr(broken, whole));
});
