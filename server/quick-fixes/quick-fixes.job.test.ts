import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Knex } from 'knex';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FixOutcome } from '#common/api/quick-fixes.ts';
import { canonicalJson, readCertificate } from '#common/certificate.ts';
import type { ChangeId, FixId } from '#common/fixes.ts';
import { newId } from '#db/base-model.ts';
import { connectDatabase } from '#db/connection.ts';
import { FixRun } from '#db/models/fix-run.ts';
import { StoredObject } from '#db/models/stored-object.ts';
import { VideoVersion } from '#db/models/video-version.ts';
import { Video } from '#db/models/video.ts';
import { createEventBus } from '#server/events.ts';
import type { ClaimedJob } from '#server/jobs/job-queue.ts';
import type { MediaPool } from '#server/jobs/media-pool.ts';
import { createObjectGc } from '#server/maintenance/object-gc.ts';
import {
  createCertificateService,
  type CertificateService,
} from '#server/pipeline/publish/certificate.service.ts';
import { openSigningKey } from '#server/pipeline/publish/signing-key.ts';
import { createDiskStorage } from '#server/pipeline/storage/disk-storage.ts';
import type { MediaStorage } from '#server/pipeline/storage/media-storage.ts';
import { hashFile } from '#server/pipeline/steps/step-store.ts';
import type { ApplyFixesResult } from '#server/pipeline/worker-protocol.ts';
import { createQuota } from '#server/plans/quota.ts';
import { createUser } from '#server/test/factories.ts';
import { FAKE_MEDIA, fakeReport } from '#server/test/fake-report.ts';
import { insertFinishedVideo } from '#server/test/finished-video.ts';
import { makeFolder, testTools } from '#server/test/media-job.ts';
import { renderLimits } from '#server/test/rendered-clips.ts';
import { createTableQueue } from '#server/jobs/table-queue.ts';
import { createVideoState } from '#server/videos/video-state.ts';
import { createQuickFixesJob } from './quick-fixes.job.ts';

let folder: Awaited<ReturnType<typeof makeFolder>>;
let db: Knex;
let storage: MediaStorage;
let certificates: CertificateService;
const events = createEventBus();
const now = Date.now;

beforeAll(async () => {
  folder = await makeFolder();
  db = connectDatabase({ databaseUrl: null, sqlitePath: path.join(folder.path, 'reelmend.sqlite') });
  await db.migrate.latest();
  storage = createDiskStorage(path.join(folder.path, 'objects'));
  const signer = openSigningKey(folder.path);
  certificates = createCertificateService({ db, storage, signer, issuer: 'http://clips.test', now });
});
afterAll(async () => {
  await db.destroy();
  await folder.remove();
});

/** Ids of jobs that reported progress. */
const headway: string[] = [];
/** What the log was warned of. */
const warned: Record<string, unknown>[] = [];

function handler(applyFixes: MediaPool['applyFixes'], freeBytes: number | null = null) {
  const silent = () => undefined;
  const quota = createQuota({ db, now, enforcePlans: true });
  return createQuickFixesJob({
    db,
    storage: { ...storage, freeBytes: async () => freeBytes },
    state: createVideoState({ db, events, quota, now }),
    events,
    pool: { applyFixes },
    queue: { madeHeadway: async (id) => void headway.push(id) },
    tools: testTools,
    limits: renderLimits,
    version: 'test',
    certificates,
    folder: path.join(folder.path, 'fixes'),
    collect: (sha256s) => createObjectGc({ db, storage, now }).collect(sha256s),
    logger: { info: silent, warn: (entry) => void warned.push(entry), error: silent },
    now,
  });
}

const outcome = (id: ChangeId, state: FixOutcome['state']): FixOutcome => ({
  id,
  state,
  detail: `${id}.`,
  figures: [],
});

/** A finished video with a request for fixes, and its job. */
async function requested(fixes: readonly FixId[] = ['sharpen', 'tiktok-optimize'], attempt = 1) {
  const user = await createUser(db);
  const put = (text: string) => storage.putBuffer(Buffer.from(`${text} ${newId()}`));
  const report = await storage.putBuffer(Buffer.from(JSON.stringify(fakeReport())));
  const [original, result] = [await put('original'), await put('result')];
  const { videoId, versionId } = await db.transaction((trx) =>
    insertFinishedVideo(trx, { userId: user.id, original, result, report, at: now() }),
  );
  await Video.query(db)
    .patch({ fixesApplied: { wind_noise: true } })
    .where({ id: videoId });
  const jobId = await createTableQueue({ db, now }).enqueue('apply-fixes', { videoId }, { videoId });
  await FixRun.query(db).insert({
    videoId,
    jobId,
    sourceVersionId: versionId,
    state: 'waiting',
    progress: 0,
    fixes: fixes.map((id) => outcome(id, 'waiting')),
    revision: 1,
    createdAt: now(),
    updatedAt: now(),
  });
  const job: ClaimedJob = {
    id: jobId,
    type: 'apply-fixes',
    payload: { videoId },
    attempt,
    userId: null,
    videoId,
  };
  return { videoId, versionId, job, result };
}

/** A thread that makes a clip and a platform file out of text. */
const works: MediaPool['applyFixes'] = async (task, { onMessage }) => {
  onMessage({ type: 'fixes', share: 0.4, fixes: [outcome('sharpen', 'working')] });
  const file = async (name: string) => {
    const made = path.join(task.workDir, name);
    await writeFile(made, `${name} ${newId()}`);
    return { path: made, sha256: await hashFile(made), sizeBytes: 1 };
  };
  const posterPath = (await file('poster.jpg')).path;
  return {
    ok: true,
    clip: { ...(await file('clip.mp4')), media: FAKE_MEDIA, posterPath },
    exports: [{ fix: 'tiktok-optimize', ...(await file('tiktok.mp4')) }],
    fixes: [outcome('sharpen', 'applied'), outcome('tiktok-optimize', 'applied')],
  };
};
const fails =
  (code: Extract<ApplyFixesResult, { ok: false }>['code']): MediaPool['applyFixes'] =>
  async () => ({ ok: false, code, message: 'It broke.', detail: 'secret' });
const never = new AbortController().signal;
const runOf = (videoId: string) => FixRun.query(db).findById(videoId).throwIfNotFound();
const videoOf = (videoId: string) => Video.query(db).findById(videoId).throwIfNotFound();

describe('applying quick fixes', () => {
  it('makes a new version with its fixes, keeps the old one, and a platform file beside it', async () => {
    const { videoId, versionId, job, result } = await requested();
    const told: string[] = [];
    const stop = events.on('fixes.changed', (fact) => told.push(fact.videoId));
    expect(await handler(works).run(job, never)).toEqual({ kind: 'done' });
    stop();
    expect(told).toContain(videoId);
    const run = await runOf(videoId);
    expect(run).toMatchObject({ state: 'done', progress: 100, message: null });
    expect(run.fixes.map(({ state }) => state)).toEqual(['applied', 'applied']);
    const video = await videoOf(videoId);
    expect(video.currentVersionId).toBe(run.resultVersionId);
    expect(video.fixesApplied).toEqual({ wind_noise: true, sharpen: true });
    const versions = await VideoVersion.query(db).where({ videoId });
    const current = versions.find(({ id }) => id === video.currentVersionId);
    expect(current).toMatchObject({
      kind: 'fixes',
      fixes: [{ id: 'sharpen' }],
      fixesApplied: video.fixesApplied,
      media: FAKE_MEDIA,
    });
    expect(current?.posterSha256).not.toBeNull();
    expect(versions.find(({ id }) => id === versionId)?.sha256).toBe(result.sha256);
    expect(versions.find(({ kind }) => kind === 'platform')).toMatchObject({
      platformFix: 'tiktok-optimize',
      sourceSha256: current?.sha256,
    });
    expect(await storage.stat(result.sha256)).not.toBeNull();
    expect(await readdir(path.join(folder.path, 'fixes'))).toEqual([]);
    // After a kill right behind the commit the job runs once more and changes nothing.
    expect(await handler(works).run(job, never)).toEqual({ kind: 'done' });
    expect(await VideoVersion.query(db).where({ videoId }).resultSize()).toBe(versions.length);
  });

  it('gives what somebody noticed to the thread, and names it in the new version', async () => {
    const { videoId, job, result, versionId } = await requested([]);
    const noticed = { places: [{ kind: 'jump' as const, atMs: 900 }], soundShiftMs: 30 };
    const fixes = [outcome('jump-here', 'waiting'), outcome('sound-moved', 'waiting')];
    await FixRun.query(db).patch({ noticed, fixes }).where({ videoId });
    const given: unknown[] = [];
    const inputs: string[] = [];
    const mends: MediaPool['applyFixes'] = async (task, io, signal) => {
      given.push([task.fixes, task.noticed, task.reelmendVersion]);
      inputs.push(task.inputSha256);
      const made = await works(task, io, signal);
      if (!made.ok || !made.clip) return made;
      const { sha256, sizeBytes } = made.clip;
      const told = fakeReport({ result: { sha256, sizeBytes, media: FAKE_MEDIA }, marked: noticed });
      const clip = { ...made.clip, soundMovedMs: 30, report: told };
      return { ...made, clip, exports: [], fixes: [outcome('jump-here', 'applied')] };
    };
    expect(await handler(mends).run(job, never)).toEqual({ kind: 'done' });
    expect(given).toEqual([[[], noticed, 'test']]);
    expect(inputs).toEqual([result.sha256]);
    const { currentVersionId, fixesApplied } = await videoOf(videoId);
    expect(fixesApplied).toEqual({ wind_noise: true, 'jump-here': true });
    const version = await VideoVersion.query(db).findById(currentVersionId ?? '');
    expect(version?.fixes).toMatchObject([{ id: 'jump-here' }]);
    expect(version?.soundMovedMs).toBe(30);
    // It names the report of the repair, and has one of what was marked, with its certificate.
    const before = await VideoVersion.query(db).findById(versionId).throwIfNotFound();
    expect(version?.reportSha256).toBe(before.reportSha256);
    const own = await VideoVersion.query(db)
      .findById(version?.id ?? '')
      .throwIfNotFound();
    const report = await certificates.reportOf(own);
    expect(report.marked).toEqual(noticed);
    expect(report.result.sha256).toBe(version?.sha256);
    const read = readCertificate(await certificates.read(own));
    const reportSha256 = createHash('sha256').update(canonicalJson(report)).digest('hex');
    expect(read.ok && read.certificate.reportSha256).toBe(reportSha256);
  });

  it('resumes after a kill in the middle, which leaves the state working', async () => {
    const { videoId, job } = await requested();
    await FixRun.query(db).patch({ state: 'working', progress: 60 }).where({ videoId });
    expect(await handler(works).run({ ...job, attempt: 2 }, never)).toEqual({ kind: 'done' });
    expect((await runOf(videoId)).state).toBe('done');
  });

  it('keeps what an attempt finished for the next one, and nothing once the job has ended', async () => {
    const { videoId, job } = await requested();
    const stop = new AbortController();
    const piece = (workDir: string) => path.join(workDir, 'piece-0.mp4');
    const stopped: MediaPool['applyFixes'] = async ({ workDir }, { onMessage }) => {
      await writeFile(piece(workDir), 'piece');
      onMessage({ type: 'headway' });
      stop.abort();
      return { ok: false, code: 'cancelled', message: '', detail: '' };
    };
    const before = headway.length;
    expect(await handler(stopped).run(job, stop.signal)).toEqual({ kind: 'interrupted' });
    expect(headway.slice(before)).toEqual([job.id]);
    let found = '';
    const goesOn: MediaPool['applyFixes'] = async (task, handlers, signal) => {
      found = await readFile(piece(task.workDir), 'utf8');
      return works(task, handlers, signal);
    };
    expect(await handler(goesOn).run({ ...job, attempt: 2 }, never)).toEqual({ kind: 'done' });
    expect(found).toBe('piece');
    expect((await runOf(videoId)).state).toBe('done');
    expect(await readdir(path.join(folder.path, 'fixes'))).toEqual([]);
  });

  it('makes no version when no fix changed anything', async () => {
    const { videoId, versionId, job } = await requested(['wind-noise']);
    const nothing: MediaPool['applyFixes'] = async () => ({
      ok: true,
      clip: null,
      exports: [],
      fixes: [outcome('wind-noise', 'unchanged')],
    });
    await handler(nothing).run(job, never);
    expect(await runOf(videoId)).toMatchObject({ state: 'done', resultVersionId: null });
    expect((await videoOf(videoId)).currentVersionId).toBe(versionId);
  });

  it('replaces an older platform file by the new one, bytes included', async () => {
    const { videoId, job } = await requested();
    await handler(works).run(job, never);
    const files = () => VideoVersion.query(db).where({ videoId, kind: 'platform' });
    const [first] = await files();
    const again = newId();
    const { currentVersionId } = await videoOf(videoId);
    await FixRun.query(db)
      .patch({ state: 'waiting', jobId: again, sourceVersionId: currentVersionId })
      .where({ videoId });
    await handler(works).run({ ...job, id: again }, never);
    const second = await files();
    expect(second).toHaveLength(1);
    expect(second[0]?.sha256).not.toBe(first?.sha256);
    expect(await StoredObject.query(db).findById(first?.sha256 ?? '')).toBeUndefined();
  });

  it('leaves the clip unchanged when the thread fails, and says so in a sentence', async () => {
    const { videoId, versionId, job } = await requested(['sharpen'], 3);
    expect(await handler(fails('internal')).run(job, never)).toMatchObject({
      kind: 'failed',
      retryable: false,
    });
    const run = await runOf(videoId);
    expect(run.state).toBe('failed');
    expect(run.message).toContain('Your clip is as it was.');
    expect(run.message).not.toContain('secret');
    // The reason belongs to the whole request and is stored once.
    expect(run.fixes).toEqual([{ id: 'sharpen', state: 'failed', detail: '', figures: [] }]);
    expect((await videoOf(videoId)).currentVersionId).toBe(versionId);
  });

  it('logs what the tools said of a fix that was given up, and of a failed request, with its job', async () => {
    const { videoId, job } = await requested(['sharpen'], 3);
    const before = warned.length;
    const gaveUp: MediaPool['applyFixes'] = async (task, { onMessage }) => {
      onMessage({ type: 'refusal', fixes: ['sharpen'], detail: 'make the changed pictures: broken' });
      return fails('internal')(task, { onMessage }, never);
    };
    await handler(gaveUp).run(job, never);
    expect(warned.slice(before)).toEqual([
      { jobId: job.id, videoId, fixes: ['sharpen'], detail: 'make the changed pictures: broken' },
      { jobId: job.id, videoId, code: 'internal', detail: 'secret' },
    ]);
    expect(JSON.stringify(await runOf(videoId))).not.toContain('broken');
  });

  it('retries what is not the clip’s fault, and waits for room on a full disk', async () => {
    const { videoId, job } = await requested();
    expect(await handler(fails('internal')).run(job, never)).toMatchObject({ retryable: true });
    expect(await handler(fails('storage_full')).run(job, never)).toMatchObject({ kind: 'waiting' });
    expect(await handler(works, 1).run(job, never)).toMatchObject({ kind: 'waiting' });
    expect(await runOf(videoId)).toMatchObject({ state: 'waiting' });
    expect((await runOf(videoId)).message).toContain('no room');
    expect(await handler(works).run(job, never)).toEqual({ kind: 'done' });
  });

  it('is put back when the server stops, and ends when it was given up too often or the video is gone', async () => {
    const { videoId, job } = await requested();
    const stop = new AbortController();
    const stopped: MediaPool['applyFixes'] = async () => {
      stop.abort();
      return { ok: false, code: 'cancelled', message: '', detail: '' };
    };
    expect(await handler(stopped).run(job, stop.signal)).toEqual({ kind: 'interrupted' });
    await handler(works).exhausted(job);
    expect((await runOf(videoId)).message).toContain('interrupted too many times');
    await Video.query(db).deleteById(videoId);
    expect(await handler(works).run(job, never)).toEqual({ kind: 'done' });
  });

  it('keeps nothing of a request that was cancelled while its files were being stored, and reports it as cancelled', async () => {
    const { videoId, versionId, job } = await requested();
    const stored = await StoredObject.query(db).resultSize();
    const cancelled: MediaPool['applyFixes'] = async (...given) => {
      await FixRun.query(db).patch({ state: 'cancelled' }).where({ videoId });
      return works(...given);
    };
    expect(await handler(cancelled).run(job, never)).toEqual({ kind: 'done' });
    expect(await runOf(videoId)).toMatchObject({ state: 'cancelled', resultVersionId: null });
    expect((await videoOf(videoId)).currentVersionId).toBe(versionId);
    expect(await VideoVersion.query(db).where({ videoId }).resultSize()).toBe(1);
    expect(await StoredObject.query(db).resultSize()).toBe(stored);
    await handler(fails('not_a_video')).exhausted(job);
    expect((await runOf(videoId)).state).toBe('cancelled');
  });

  it('changes nothing when another version became the current one meanwhile', async () => {
    const { videoId, job } = await requested();
    const other = newId();
    const moves: MediaPool['applyFixes'] = async (task, handlers, signal) => {
      const { sha256, sizeBytes } = await VideoVersion.query(db).findOne({ videoId }).throwIfNotFound();
      const row = { id: other, videoId, kind: 'original', sha256, sizeBytes, createdAt: now() } as const;
      await VideoVersion.query(db).insert(row);
      await Video.query(db).patch({ currentVersionId: other }).where({ id: videoId });
      return works(task, handlers, signal);
    };
    await handler(moves).run(job, never);
    expect((await videoOf(videoId)).currentVersionId).toBe(other);
    expect((await runOf(videoId)).message).toContain('Another version became the current one');
  });
});
