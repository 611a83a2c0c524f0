import path from 'node:path';
import type { Knex } from 'knex';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '#db/base-model.ts';
import { connectDatabase } from '#db/connection.ts';
import { StorylineRow } from '#db/models/storyline.ts';
import type { ClaimedJob } from '#server/jobs/job-queue.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { createDiskStorage } from '#server/pipeline/storage/disk-storage.ts';
import type { MediaStorage, StoredFile } from '#server/pipeline/storage/media-storage.ts';
import { createUser } from '#server/test/factories.ts';
import { fakeReport } from '#server/test/fake-report.ts';
import { insertFinishedVideo } from '#server/test/finished-video.ts';
import { makeFolder, testTools as tools } from '#server/test/media-job.ts';
import { createStorylineJob } from './storyline.job.ts';

let folder: Awaited<ReturnType<typeof makeFolder>>;
let db: Knex;
let storage: MediaStorage;

beforeAll(async () => {
  folder = await makeFolder();
  db = connectDatabase({ databaseUrl: null, sqlitePath: path.join(folder.path, 'reelmend.sqlite') });
  await db.migrate.latest();
  storage = createDiskStorage(path.join(folder.path, 'objects'));
});
afterAll(async () => {
  await db.destroy();
  await folder.remove();
});

function handler() {
  const silent = () => undefined;
  const logger = { info: silent, warn: silent, error: silent };
  return createStorylineJob({ db, storage, tools, threads: 1, logger, now: Date.now });
}

/** Nine seconds in three scenes of three, with a tone in the first six. */
async function makeThreeScenes(): Promise<StoredFile> {
  const file = path.join(folder.path, `${newId()}.mp4`);
  const scene = (source: string, n: number) =>
    `${source},trim=duration=3,setpts=PTS-STARTPTS,format=yuv420p[s${n}]`;
  const size = 'size=320x180:rate=25';
  const pictures = [
    scene(`testsrc2=${size}`, 0),
    scene(`mandelbrot=${size}`, 1),
    scene(`smptehdbars=${size}`, 2),
  ].join(';');
  await runFfmpeg(
    {
      label: 'make three scenes',
      inputs: [
        {
          path: `${pictures};[s0][s1][s2]concat=n=3[out0];sine=f=300:d=6,apad=whole_dur=9[out1]`,
          lavfi: true,
        },
      ],
      outputs: [
        { path: file, options: ['-t', '9', '-c:v', 'libx264', '-preset', 'ultrafast', '-c:a', 'aac'] },
      ],
      expectedDurationMs: null,
    },
    { tools },
  );
  return storage.put(file);
}

async function finishedVideo(clip: StoredFile): Promise<string> {
  const user = await createUser(db);
  const captions = [
    { startMs: 500, endMs: 2500, text: null, source: 'timing_only', confidence: null } as const,
  ];
  const report = await storage.putBuffer(
    Buffer.from(JSON.stringify(fakeReport({ captions: [...captions] }))),
  );
  const at = Date.now();
  return db.transaction(async (trx) => {
    const stored = { userId: user.id, original: clip, result: clip, report, at };
    const { versionId } = await insertFinishedVideo(trx, stored);
    await StorylineRow.query(trx).insert({
      versionId,
      jobId: newId(),
      state: 'waiting',
      progress: 0,
      createdAt: at,
      updatedAt: at,
    });
    return versionId;
  });
}

function jobFor(versionId: string, attempt = 1): ClaimedJob {
  return {
    id: newId(),
    type: 'tell-storyline',
    payload: { versionId },
    attempt,
    userId: null,
    videoId: null,
  };
}

describe('the storyline of a clip', () => {
  it('has the scenes, the sound and the speech of the clip, and is the same each time', async () => {
    const versionId = await finishedVideo(await makeThreeScenes());
    const { signal } = new AbortController();
    expect(await handler().run(jobFor(versionId), signal)).toEqual({ kind: 'done' });
    const first = await StorylineRow.query(db).findById(versionId);
    expect(first).toMatchObject({ state: 'ready', progress: 100, message: null });
    expect(first?.storyline?.scenes.map(({ timestamp }) => timestamp)).toEqual(['0:00', '0:03', '0:06']);
    expect(first?.storyline?.scenes.map(({ description }) => description.split('; ')[1])).toEqual([
      'speech.',
      'sound without speech.',
      'quiet.',
    ]);
    expect(first?.storyline?.characters.map(({ name }) => name)).toEqual(['Speaker 1']);
    await handler().run(jobFor(versionId), signal);
    expect((await StorylineRow.query(db).findById(versionId))?.storyline).toEqual(first?.storyline);
  });

  it('says so when the file cannot be read, and the server keeps running', async () => {
    const versionId = await finishedVideo(await storage.putBuffer(Buffer.from(`no clip ${newId()}`)));
    const outcome = await handler().run(jobFor(versionId), new AbortController().signal);
    expect(outcome).toMatchObject({ kind: 'failed', retryable: false });
    const row = await StorylineRow.query(db).findById(versionId);
    expect(row).toMatchObject({ state: 'failed', storyline: null });
    expect(row?.message).toMatch(/could not be read/);
  });

  it('is put back when the server stops, and ends when the video is gone', async () => {
    const versionId = await finishedVideo(await makeThreeScenes());
    const stop = new AbortController();
    stop.abort();
    expect(await handler().run(jobFor(versionId), stop.signal)).toEqual({ kind: 'interrupted' });
    expect(await handler().run(jobFor('gone'), new AbortController().signal)).toEqual({ kind: 'done' });
  });
});
