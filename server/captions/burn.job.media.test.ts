import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type { Knex } from 'knex';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '#db/base-model.ts';
import { connectDatabase } from '#db/connection.ts';
import { CaptionBurn } from '#db/models/caption-burn.ts';
import { VideoVersion } from '#db/models/video-version.ts';
import { Video } from '#db/models/video.ts';
import { AppError } from '#server/errors.ts';
import type { ClaimedJob } from '#server/jobs/job-queue.ts';
import { createTableQueue } from '#server/jobs/table-queue.ts';
import { probe } from '#server/media/probe/probe.ts';
import { MediaToolError, runTool } from '#server/media/ffmpeg/tools.ts';
import { createObjectGc } from '#server/maintenance/object-gc.ts';
import { createDiskStorage } from '#server/pipeline/storage/disk-storage.ts';
import type { MediaStorage } from '#server/pipeline/storage/media-storage.ts';
import { createUser } from '#server/test/factories.ts';
import { fakeReport } from '#server/test/fake-report.ts';
import { insertFinishedVideo } from '#server/test/finished-video.ts';
import { makeFolder, testTools } from '#server/test/media-job.ts';
import { renderLimits } from '#server/test/rendered-clips.ts';
import { turnClip } from '#server/test/turned-clips.ts';
import { createBurnJob, type BurnJobDeps } from './burn.job.ts';
import { findCaptionFont, readCaptionFont } from './caption-font.ts';

let folder: Awaited<ReturnType<typeof makeFolder>>;
let db: Knex;
let storage: MediaStorage;
let clip: string;
const now = Date.now;
const never = new AbortController().signal;

beforeAll(async () => {
  folder = await makeFolder();
  db = connectDatabase({ databaseUrl: null, sqlitePath: path.join(folder.path, 'reelmend.sqlite') });
  await db.migrate.latest();
  storage = createDiskStorage(path.join(folder.path, 'objects'));
  clip = path.join(folder.path, 'grey.mp4');
  // Rotated by its display matrix, as phones do: captions must stand upright in the displayed picture.
  const made = '-v error -f lavfi -i color=c=gray:s=320x180:r=25:d=3 -f lavfi -i sine=f=220:d=3'.split(' ');
  const coded = '-c:v libx264 -preset ultrafast -pix_fmt yuv420p -c:a aac'.split(' ');
  await runTool('make a clip', testTools.ffmpeg, [...made, ...coded, '-y', `${clip}.flat.mp4`]);
  await turnClip(`${clip}.flat.mp4`, clip, 90);
});
afterAll(async () => {
  await db.destroy();
  await folder.remove();
});

function handler(change: Partial<BurnJobDeps> = {}) {
  const silent = () => undefined;
  return createBurnJob({
    db,
    storage,
    tools: testTools,
    limits: renderLimits,
    font: () => readCaptionFont(findCaptionFont() ?? ''),
    queue: { madeHeadway: async () => undefined },
    folder: path.join(folder.path, 'captions'),
    collect: (sha256s) => createObjectGc({ db, storage, now }).collect(sha256s),
    logger: { info: silent, warn: silent, error: silent },
    now,
    ...change,
  });
}

/** Requests a file with words from 1 s to 2 s. */
async function wished(style: CaptionBurn['style'] = 'box', attempt = 1, ofClip = clip) {
  const user = await createUser(db);
  const copy = path.join(folder.path, `${newId()}.mp4`);
  await runTool('copy', 'cp', [ofClip, copy]);
  const result = await storage.put(copy);
  const put = (text: string) => storage.putBuffer(Buffer.from(text));
  const [original, report] = [await put(`original ${newId()}`), await put(JSON.stringify(fakeReport()))];
  const { videoId } = await db.transaction((trx) =>
    insertFinishedVideo(trx, { userId: user.id, original, result, report, at: now() }),
  );
  const jobId = await createTableQueue({ db, now }).enqueue('burn-captions', { videoId });
  const cues: CaptionBurn['cues'] = [
    { startMs: 1000, endMs: 2000, text: 'Hello there', source: 'manual', confidence: null },
  ];
  await CaptionBurn.query(db).insert({
    videoId,
    jobId,
    style,
    sourceSha256: result.sha256,
    captionsRevision: 4,
    cues,
    state: 'waiting',
    progress: 0,
    createdAt: now(),
    updatedAt: now(),
  });
  const job: ClaimedJob = {
    id: jobId,
    type: 'burn-captions',
    payload: { videoId },
    attempt,
    userId: null,
    videoId,
  };
  return { videoId, job, result, cues };
}
const rowOf = (videoId: string) => CaptionBurn.query(db).findById(videoId).throwIfNotFound();
const fileOf = (videoId: string) => VideoVersion.query(db).findOne({ videoId, kind: 'captioned' });

/** Brightest and darkest sample of the lower and of the upper half at a moment. */
async function extremes(file: string, atSeconds: number) {
  const of = async (crop: string) => {
    const filters = `${crop},signalstats,metadata=mode=print:file=-`;
    const args = [
      '-v',
      'error',
      '-ss',
      String(atSeconds),
      '-i',
      file,
      '-vf',
      filters,
      '-frames:v',
      '1',
      '-f',
      'null',
      '-',
    ];
    const { stdout } = await runTool('look', testTools.ffmpeg, args);
    const value = (name: string) => Number(new RegExp(`signalstats\\.${name}=(\\d+)`).exec(stdout)?.[1]);
    return value('YMAX') - value('YMIN');
  };
  return { lower: await of('crop=iw:ih/2:0:ih/2'), upper: await of('crop=iw:ih/2:0:0') };
}

describe('captions in the picture', () => {
  it('are drawn only while their cue lasts, in a file beside the clip, which stays unchanged', async () => {
    const { videoId, job, result } = await wished();
    expect(await handler().run(job, never)).toEqual({ kind: 'done' });
    const row = await rowOf(videoId);
    expect(row).toMatchObject({ state: 'done', progress: 100, cues: [] });
    const file = await fileOf(videoId);
    expect(file).toMatchObject({ captionStyle: 'box', captionsRevision: 4, sourceSha256: result.sha256 });
    const local = await storage.localPath(file?.sha256 ?? '');
    const info = await probe(testTools, local.path, 'mov');
    expect(info.video[0]).toMatchObject({ width: 180, height: 320, rotation: 0 });
    expect(info.audio).toHaveLength(1);
    const during = await extremes(local.path, 1.5);
    expect(during.lower).toBeGreaterThan(150);
    expect(during.upper).toBeLessThan(30);
    expect((await extremes(local.path, 0.5)).lower).toBeLessThan(30);
    expect((await extremes(local.path, 2.5)).lower).toBeLessThan(30);
    await local.release();
    const video = await Video.query(db).findById(videoId).withGraphFetched('currentVersion');
    expect(video?.currentVersion?.sha256).toBe(result.sha256);
    // After a kill right behind the commit the job runs once more and changes nothing.
    expect(await handler().run(job, never)).toEqual({ kind: 'done' });
    expect((await fileOf(videoId))?.id).toBe(file?.id);
  });

  it('resume after a kill in the middle, and replace an earlier file', async () => {
    const { videoId, job } = await wished('words', 2);
    await CaptionBurn.query(db).patch({ state: 'working', progress: 40 }).where({ videoId });
    await handler().run(job, never);
    const first = await fileOf(videoId);
    const jobId = newId();
    const cues = [{ startMs: 0, endMs: 900, text: 'Bye', source: 'manual', confidence: null } as const];
    await CaptionBurn.query(db).patch({ jobId, state: 'waiting', style: 'outline', cues }).where({ videoId });
    await handler().run({ ...job, id: jobId }, never);
    const second = await fileOf(videoId);
    expect([first?.captionStyle, second?.captionStyle]).toEqual(['words', 'outline']);
    expect(second?.sha256).not.toBe(first?.sha256);
    expect(await VideoVersion.query(db).where({ videoId, kind: 'captioned' }).resultSize()).toBe(1);
  });

  it('of a long clip are drawn in pieces: after a kill the next attempt keeps the finished ones', async () => {
    const long = path.join(folder.path, 'long.mp4');
    const made =
      '-v error -f lavfi -i color=c=gray:s=180x320:r=10:d=17 -f lavfi -i sine=f=220:d=17 -c:v libx264 -preset ultrafast -g 10 -pix_fmt yuv420p -c:a aac';
    await runTool('make a long clip', testTools.ffmpeg, [...made.split(' '), long]);
    const { videoId, job } = await wished('box', 1, long);
    const cues = [
      { startMs: 4000, endMs: 7000, text: 'Across', source: 'manual', confidence: null } as const,
    ];
    await CaptionBurn.query(db).patch({ cues }).where({ videoId });
    const stop = new AbortController();
    const headway: string[] = [];
    const queue = {
      async madeHeadway(id: string) {
        headway.push(id);
        stop.abort();
      },
    };
    const work = path.join(folder.path, 'captions');
    expect(await handler({ queue }).run(job, stop.signal)).toEqual({ kind: 'interrupted' });
    expect(await readdir(work)).toContain(job.id);
    expect(await handler({ queue }).run(job, never)).toEqual({ kind: 'done' });
    // Three pieces, the first of which was already there.
    expect(headway).toEqual([job.id, job.id, job.id]);
    expect(await readdir(work)).not.toContain(job.id);
    const local = await storage.localPath((await fileOf(videoId))?.sha256 ?? '');
    const info = await probe(testTools, local.path, 'mov');
    expect(info.video[0]).toMatchObject({ width: 180, height: 320, frameCount: 170 });
    expect(info.audio).toHaveLength(1);
    for (const [atSeconds, drawn] of [
      [3.5, false],
      [4.5, true],
      [5.5, true],
      [6.5, true],
      [7.5, false],
    ] as const)
      expect((await extremes(local.path, atSeconds)).lower > 100, `${atSeconds} s`).toBe(drawn);
    await local.release();
  }, 60_000);

  it('are refused with a sentence when the picture is too large, the font is missing or the renderer draws nothing', async () => {
    const refusals: [Partial<BurnJobDeps> & { unseen?: true }, RegExp][] = [
      [{ limits: { ...renderLimits, maxEncodePixels: 100 } }, /180 x 320 needs more memory/],
      [{ font: async () => null }, /font for captions is not installed/],
      [{ unseen: true }, /could not be drawn into this clip/],
    ];
    for (const [{ unseen, ...change }, sentence] of refusals) {
      const { videoId, job } = await wished();
      const cues = [
        { startMs: 0, endMs: 900, text: '\u{200B}', source: 'manual', confidence: null } as const,
      ];
      if (unseen) await CaptionBurn.query(db).patch({ cues }).where({ videoId });
      expect(await handler(change).run(job, never)).toMatchObject({ kind: 'failed', retryable: false });
      const row = await rowOf(videoId);
      expect(row.state).toBe('failed');
      expect(row.message).toMatch(sentence);
      expect(await fileOf(videoId)).toBeUndefined();
    }
  });

  it('wait with a sentence while the disk is full, and are made once there is room', async () => {
    const { videoId, job } = await wished();
    const waiting = { kind: 'waiting' };
    const full = { ...storage, put: () => Promise.reject(new AppError('storage_full')) };
    expect(await handler({ storage: full }).run(job, never)).toMatchObject(waiting);
    expect(await rowOf(videoId)).toMatchObject({
      state: 'waiting',
      message: expect.stringMatching(/^There is no room left on this server for this file\./),
    });
    // The message of the tool when its own file does not fit.
    const tool = new MediaToolError('tool_failed', 'draw', 'x.mp4: No space left on device');
    const cut = { ...storage, localPath: () => Promise.reject(tool) };
    expect(await handler({ storage: cut }).run(job, never)).toMatchObject(waiting);
    expect(await handler().run(job, never)).toEqual({ kind: 'done' });
    expect(await rowOf(videoId)).toMatchObject({ state: 'done', message: null });
  });

  it('leave nothing behind of a request that is cancelled meanwhile, and keep the earlier file', async () => {
    const { videoId, job } = await wished();
    expect(await handler().run(job, never)).toEqual({ kind: 'done' });
    const earlier = await fileOf(videoId);
    await CaptionBurn.query(db)
      .patch({ state: 'waiting', style: 'outline', cues: (await wished()).cues })
      .where({ videoId });
    const cancelled = handler({
      font: async () => {
        await CaptionBurn.query(db).patch({ state: 'cancelled' }).where({ videoId });
        return readCaptionFont(findCaptionFont() ?? '');
      },
    });
    expect(await cancelled.run(job, never)).toEqual({ kind: 'done' });
    expect(await rowOf(videoId)).toMatchObject({ state: 'cancelled' });
    expect(await fileOf(videoId)).toEqual(earlier);
    expect(await readdir(path.join(folder.path, 'captions'))).not.toContain(job.id);
    await handler().exhausted(job);
    expect((await rowOf(videoId)).state).toBe('cancelled');
  });

  it('leave nothing behind of a video that is deleted meanwhile', async () => {
    const { videoId, job } = await wished();
    const gone = handler({
      font: async () => {
        await Video.query(db).deleteById(videoId);
        return readCaptionFont(findCaptionFont() ?? '');
      },
    });
    expect(await gone.run(job, never)).toEqual({ kind: 'done' });
    expect(await fileOf(videoId)).toBeUndefined();
  });
});
