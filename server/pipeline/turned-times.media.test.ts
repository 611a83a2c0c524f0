import { open, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findVideoTrack, readMovie } from '#server/media/mp4/movie.ts';
import { readSamples, type Sample } from '#server/media/mp4/sample-table.ts';
import { probe } from '#server/media/probe/probe.ts';
import { DEFAULT_ENCODE, makeMovingClip } from '#server/test/broken-clips.ts';
import { makeFolder, makeTask, mustBeOk, testTools as tools } from '#server/test/media-job.ts';
import { onceForEach } from '#server/test/once-for-each.ts';
import { decodeHashes } from '#server/test/rendered-clips.ts';
import { retimeClip } from '#server/test/retimed-clip.ts';
import { processVideo } from './process-video.ts';
import { verifyClaims } from './publish/verify-claims.ts';

let folder: Awaited<ReturnType<typeof makeFolder>>;
const at = (name: string) => path.join(folder.path, name);

const ENCODERS = {
  h264: [...DEFAULT_ENCODE, '-g', '30', '-bf', '3', '-x264-params', 'b-pyramid=normal:scenecut=0:b-adapt=0'],
  hevc: ['-c:v', 'libx265', '-preset', 'ultrafast', '-tag:v', 'hvc1', '-x265-params'].concat(
    'log-level=error:keyint=30:bframes=3:b-adapt=0:info=0',
  ),
};
const CODECS = ['h264', 'hevc'] as const;

beforeAll(async () => {
  folder = await makeFolder();
  const scene = { tools, seconds: 3, width: 320, height: 192 } as const;
  for (const codec of CODECS)
    await makeMovingClip({ ...scene, outputPath: at(`${codec}.mp4`), encode: ENCODERS[codec] });
});
afterAll(() => folder.remove());

/** A clip whose index lacks the composition times, as if written in coding order. */
async function withoutComposition(name: string): Promise<string> {
  const bytes = await readFile(at(`${name}.mp4`));
  bytes.write('free', bytes.indexOf('ctts', 0, 'latin1'), 'latin1');
  await writeFile(at(`${name}-lost.mp4`), bytes);
  return `${name}-lost.mp4`;
}

/** A clip with other display times in its index; coded pictures and sound are unchanged. */
async function withTimes(name: string, outputName: string, timed: (samples: Sample[]) => Sample[]) {
  await retimeClip(at(`${name}.mp4`), at(outputName), timed);
  return outputName;
}

async function mend(name: string) {
  const task = await makeTask(at(name), at(`${name}-work`));
  const result = await processVideo(task, { signal: new AbortController().signal, send: () => undefined });
  return mustBeOk(result);
}

/** Hashes and times of the pictures of the intact clip. */
const truthOf = onceForEach(async (codec: string) => {
  const file = at(`${codec}.mp4`);
  return { hashes: (await decodeHashes(file)).hashes, times: await timesOf(file) };
});

/** Display times in file order, ticks from the first displayed picture on. */
async function timesOf(file: string): Promise<number[]> {
  const handle = await open(file);
  const video = findVideoTrack(await readMovie(handle), 0);
  await handle.close();
  const times = readSamples(video.stbl).map(({ pts }) => pts);
  const first = Math.min(...times);
  return times.map((time) => time - first);
}

/**
 * Requirements of a repaired clip: the pictures and times of the true one, nothing re-encoded, each claim confirmed.
 */
async function expectTrue(codec: (typeof CODECS)[number], broken: string) {
  const { report, resultPath } = await mend(broken);
  const result = resultPath ?? '';
  expect(report.video).toMatchObject({ treatment: 'copied', unitsKept: 90 });
  expect(report.checks.filter((check) => !check.passed)).toEqual([]);
  expect(report.defects[0]?.explanation).toMatch(/listed \d+ of 90 frames in the wrong order/);
  const { hashes, times } = await truthOf(codec);
  expect((await decodeHashes(result)).hashes).toEqual(hashes);
  expect(await timesOf(result)).toEqual(times);
  const info = await probe(tools, result, 'mov');
  expect(info.video[0]?.startMs).toBe(0);
  const claims = await verifyClaims({ originalPath: at(broken), repairedPath: result, report, tools });
  expect(claims.filter(({ confirmed }) => !confirmed)).toEqual([]);
}

describe.each(CODECS)('pictures of %s whose listed times contradict the order of their data', (codec) => {
  it('are shown in their order when the table of composition times is lost', async () => {
    await expectTrue(codec, await withoutComposition(codec));
  });

  it('keep the listed times when only their places were exchanged', async () => {
    const name = await withTimes(codec, `${codec}-exchanged.mp4`, (samples) => {
      const order = samples.map(({ pts }) => pts).sort((a, b) => a - b);
      const exchanged = new Map(order.map((pts, place) => [pts, order[place ^ 1] ?? pts]));
      return samples.map((sample) => ({ ...sample, pts: exchanged.get(sample.pts) ?? sample.pts }));
    });
    await expectTrue(codec, name);
  });

  it('lose only a single wrong time, which goes between those beside it', async () => {
    const name = await withTimes(codec, `${codec}-lone.mp4`, (samples) => {
      const ticks = samples.map(({ pts }) => pts).sort((a, b) => a - b);
      const wrong = ((ticks[40] ?? 0) + (ticks[41] ?? 0)) / 2;
      return samples.map((sample) => (sample.pts === ticks[44] ? { ...sample, pts: wrong } : sample));
    });
    await expectTrue(codec, name);
  });

  it('get even times when a writer crowded them', async () => {
    const name = await withTimes(codec, `${codec}-crowded.mp4`, (samples) =>
      samples.map((sample, at) => ({ ...sample, pts: at % 3 === 1 ? sample.dts + 1 : sample.pts })),
    );
    await expectTrue(codec, name);
  });

  it('are left alone when the order is right', async () => {
    expect((await mend(`${codec}.mp4`)).resultPath).toBeNull();
  });
});
