import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildPath } from '#common/api/build-path.ts';
import { subscriptionApi } from '#common/api/subscription.ts';
import { mediaPaths, videosApi } from '#common/api/videos.ts';
import { VideoExport } from '#db/models/video-export.ts';
import { VideoVersion } from '#db/models/video-version.ts';
import { createEventBus } from '#server/events.ts';
import { createTableQueue } from '#server/jobs/table-queue.ts';
import { insertFinishedVideo } from '#server/test/finished-video.ts';
import { createDiskStorage } from '../storage/disk-storage.ts';
import { createLimitedExportJob } from './limited-export.job.ts';
import { findTools } from '#server/media/ffmpeg/find-tools.ts';
import { probe } from '#server/media/probe/probe.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { runTool, type ToolPaths } from '#server/media/ffmpeg/tools.ts';
import { makeMovingClip } from '#server/test/broken-clips.ts';
import { createUser } from '#server/test/factories.ts';
import { startTestApp, type TestApp } from '#server/test/test-app.ts';
import type { TestClient } from '#server/test/test-client.ts';
import { uploadBytes } from '#server/test/upload-bytes.ts';
import { wholeCopyPlan } from '../encode/copy-plans.ts';
import { limitedExport } from './limited-export-plan.ts';

let folder: string;
let tools: ToolPaths;
let app: TestApp;

beforeAll(async () => {
  const found = await findTools({
    ffmpegPath: null,
    ffprobePath: null,
    searchPath: process.env['PATH'] ?? '',
  });
  if (!found) throw new Error('This test needs ffmpeg.');
  tools = found.paths;
  folder = await mkdtemp(path.join(tmpdir(), 'reelmend-exports-'));
  app = await startTestApp({ engine: 'sqlite', work: ['media', 'mail'], tools });
});
afterAll(async () => {
  await app.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Times of all pictures in milliseconds. */
async function timesOf(file: string): Promise<number[]> {
  const args = '-v error -select_streams v:0 -show_entries packet=pts_time -of csv=p=0'.split(' ');
  const { stdout } = await runTool('list the pictures', tools.ffprobe, [...args, file]);
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => Math.round(Number.parseFloat(line) * 1000))
    .sort((a, b) => a - b);
}

async function save(client: TestClient, id: string, of: 'download' | 'stream' | 'original', name: string) {
  const answer = await client.fetch(buildPath(mediaPaths[of], { id }));
  expect(answer.status).toBe(200);
  const file = path.join(folder, name);
  await writeFile(file, Buffer.from(await answer.arrayBuffer()));
  return file;
}

describe('a clip larger than the plan downloads', () => {
  it('is given in 1080p with every picture at its time, and whole after an upgrade', async () => {
    const clip = path.join(folder, 'clip.mp4');
    // Upright, with unevenly spaced times, as phones write.
    const encode = '-c:v libx264 -preset ultrafast -crf 30 -vf setpts=PTS+mod(N\\,3)*0.004/TB -fps_mode vfr';
    const size = { seconds: 1, fps: 15, width: 1152, height: 2048, scenery: 'mover' } as const;
    await makeMovingClip({ tools, outputPath: clip, ...size, encode: encode.split(' ') });
    const { client } = await app.signIn(await createUser(app.db, { plan: 'starter' }));
    const bytes = await readFile(clip);
    const id = await uploadBytes(client, new Uint8Array(bytes));
    const status = async () => (await client.call(videosApi.status, { params: { id } })).body;
    await expect.poll(async () => (await status())?.status, { timeout: 120_000 }).toBe('completed');
    const exported = async () => (await status())?.limitedExport?.state;
    await expect.poll(exported, { timeout: 120_000, interval: 250 }).toBe('ready');

    const copy = await save(client, id, 'download', 'copy.mp4');
    const whole = await save(client, id, 'stream', 'whole.mp4');
    const made = await probe(tools, copy, 'mov');
    expect(made.video[0]).toMatchObject({ width: 1080, height: 1920, codec: 'h264', rotation: 0 });
    expect(made.audio[0]).toMatchObject({ codec: 'aac' });
    expect((await probe(tools, whole, 'mov')).video[0]).toMatchObject({ width: 1152, height: 2048 });
    const times = await timesOf(whole);
    const copied = await timesOf(copy);
    expect(copied).toHaveLength(times.length);
    const apartMs = copied.map((ms, index) => Math.abs(ms - (times[index] ?? Number.NaN)));
    expect(Math.max(...apartMs)).toBeLessThanOrEqual(1);
    expect((await readFile(await save(client, id, 'original', 'original.mp4'))).equals(bytes)).toBe(true);

    await client.call(subscriptionApi.subscribe, { body: { plan: 'creator-pro' } });
    const upgraded = await save(client, id, 'download', 'upgraded.mp4');
    expect((await readFile(upgraded)).equals(await readFile(whole))).toBe(true);
  }, 300_000);
});

it('keeps the bit depth and the colours of high dynamic range', async () => {
  const clip = path.join(folder, 'hdr.mp4');
  const copy = path.join(folder, 'hdr-copy.mp4');
  const colours = '-color_primaries bt2020 -color_trc arib-std-b67 -colorspace bt2020nc';
  const coded = 'log-level=none:colorprim=bt2020:transfer=arib-std-b67:colormatrix=bt2020nc';
  const args = `-v error -f lavfi -i testsrc2=s=2560x1440:r=10:d=0.4 -c:v libx265 -preset ultrafast -pix_fmt yuv420p10le -x265-params ${coded} ${colours}`;
  await runTool('make a clip', tools.ffmpeg, [...args.split(' '), clip]);
  const info = await probe(tools, clip, 'mov');
  const limits = {
    threads: 2,
    preset: 'veryfast',
    maxEncodePixels: 4096 * 2304,
    maxDurationMs: 60_000,
    maxPictures: 200_000,
  } as const;
  const recipe = limitedExport({ inputPath: clip, info, shortSide: 1080, limits });
  await runFfmpeg(wholeCopyPlan(recipe, copy), { tools });
  expect((await probe(tools, copy, 'mov')).video[0]).toMatchObject({
    width: 1920,
    height: 1080,
    frameCount: 4,
    pixelFormat: 'yuv420p10le',
    codecTag: 'hvc1',
    colorTransfer: 'arib-std-b67',
    colorPrimaries: 'bt2020',
    colorSpace: 'bt2020nc',
  });
}, 60_000);

it('continues after the pieces that a killed attempt had finished', async () => {
  const clip = path.join(folder, 'long.mp4');
  const args =
    '-v error -f lavfi -i testsrc2=s=320x180:r=10:d=17 -f lavfi -i sine=f=300:d=17 -c:v libx264 -preset ultrafast -g 10 -c:a aac';
  await runTool('make a clip', tools.ffmpeg, [...args.split(' '), clip]);
  const times = await timesOf(clip);
  const storage = createDiskStorage(path.join(folder, 'objects'));
  const result = await storage.put(clip);
  const { db } = app;
  const user = await createUser(db, { plan: 'starter' });
  const at = Date.now();
  const report = await storage.putBuffer(Buffer.from('{}'));
  const { videoId } = await db.transaction((trx) =>
    insertFinishedVideo(trx, { userId: user.id, original: result, result, report, at }),
  );
  const row = { sourceSha256: result.sha256, shortSide: 90, state: 'waiting', progress: 0 } as const;
  const stop = new AbortController();
  const headway: string[] = [];
  const silent = () => undefined;
  const work = path.join(folder, 'copies');
  const handler = createLimitedExportJob({
    db,
    storage,
    tools,
    events: createEventBus(),
    limits: {
      threads: 2,
      preset: 'veryfast',
      maxEncodePixels: 4096 * 2304,
      maxDurationMs: 60_000,
      maxPictures: 200_000,
    },
    queue: {
      async madeHeadway(id) {
        headway.push(id);
        stop.abort();
      },
    },
    folder: work,
    collect: async () => undefined,
    logger: { info: silent, warn: silent, error: silent },
    now: Date.now,
  });
  // The service itself must not touch it.
  const runAfter = at + 3_600_000;
  const id = await createTableQueue({ db, now: Date.now }).enqueue('export-video', { videoId }, { runAfter });
  await VideoExport.query(db).insert({ ...row, videoId, jobId: id, message: null, updatedAt: at });
  const job = { id, type: 'export-video', payload: { videoId }, userId: null, videoId } as const;
  expect(await handler.run({ ...job, attempt: 1 }, stop.signal)).toEqual({ kind: 'interrupted' });
  expect(headway).toEqual([id]);
  expect(await readdir(work)).toEqual([id]);
  expect(await handler.run({ ...job, attempt: 2 }, new AbortController().signal)).toEqual({ kind: 'done' });
  // Three pieces, the first of which was already there.
  expect(headway).toHaveLength(3);
  expect(await readdir(work)).toEqual([]);
  const version = await VideoVersion.query(db).findOne({ videoId, kind: 'export' }).throwIfNotFound();
  const copy = await storage.localPath(version.sha256);
  const made = await probe(tools, copy.path, 'mov');
  expect(made.video[0]).toMatchObject({ width: 160, height: 90, frameCount: 170 });
  expect(made.audio[0]).toMatchObject({ codec: 'aac' });
  expect(await timesOf(copy.path)).toEqual(times);
  await copy.release();
}, 60_000);
