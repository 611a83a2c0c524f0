import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { authApi } from '#common/api/auth.ts';
import { buildPath } from '#common/api/build-path.ts';
import { draftsApi } from '#common/api/drafts.ts';
import { subscriptionApi } from '#common/api/subscription.ts';
import { mediaPaths, videosApi } from '#common/api/videos.ts';
import { newId } from '#db/base-model.ts';
import { Job } from '#db/models/job.ts';
import { StoredObject } from '#db/models/stored-object.ts';
import { VideoExport } from '#db/models/video-export.ts';
import { VideoVersion } from '#db/models/video-version.ts';
import { Video } from '#db/models/video.ts';
import type { PlanSlug } from '#common/plans.ts';
import { createUser } from '#server/test/factories.ts';
import { startTestApp, type TestApp } from '#server/test/test-app.ts';
import type { TestClient } from '#server/test/test-client.ts';
import { ENGINES, hasEngine } from '#server/test/test-database.ts';
import { uploadBytes } from '#server/test/upload-bytes.ts';

const bytesOf = (text: string) => new TextEncoder().encode(text);

describe.each(ENGINES)('downloads of a plan with a size limit on %s', (engine) => {
  describe.skipIf(!hasEngine(engine))('with a running server', () => {
    let app: TestApp;
    beforeAll(async () => {
      app = await startTestApp({ engine });
    });
    afterAll(async () => app.stop());

    async function store(text: string): Promise<{ sha256: string; sizeBytes: number }> {
      const stored = await app.storage.putBuffer(Buffer.from(text));
      const known = await StoredObject.query(app.db).findById(stored.sha256);
      if (!known) await StoredObject.query(app.db).insert({ ...stored, createdAt: 1, checkedAt: 1 });
      return stored;
    }

    /** A finished video of the given size. */
    async function finished(plan: PlanSlug, [width, height]: readonly [number, number] = [3840, 2160]) {
      const { client, user } = await app.signIn(await createUser(app.db, { plan }));
      const videoId = await uploadBytes(client, bytesOf(`clip ${newId()}`));
      const result = await store(`result of ${videoId}`);
      const versionId = newId();
      const version = { id: versionId, videoId, kind: 'repair', ...result, createdAt: 1 } as const;
      await VideoVersion.query(app.db).insert(version);
      await Job.query(app.db).patch({ state: 'done' }).where({ videoId });
      await Video.query(app.db)
        .patch({ status: 'completed', currentVersionId: versionId, width, height })
        .where('id', videoId);
      app.events.emit('video.completed', { userId: user.id, videoId });
      return { client, user, videoId, result };
    }

    const exportJobs = (videoId: string) =>
      Job.query(app.db).where({ videoId, type: 'export-video', state: 'queued' }).resultSize();
    const stateOf = async (client: TestClient, id: string) =>
      (await client.call(videosApi.status, { params: { id } })).body?.limitedExport;
    const download = (client: TestClient, id: string, method = 'GET') =>
      client.fetch(buildPath(mediaPaths.download, { id }), { method });

    /** Replaces the job: stores the smaller copy of the current result. */
    async function finishExport(videoId: string, sourceSha256: string) {
      await expect.poll(() => exportJobs(videoId)).toBe(1);
      await Job.query(app.db).patch({ state: 'done' }).where({ videoId });
      const copy = await store(`copy of ${sourceSha256}`);
      await VideoExport.query(app.db).delete().where({ videoId });
      const version = { id: newId(), videoId, kind: 'export', sourceSha256, shortSide: 1080 } as const;
      await VideoVersion.query(app.db).insert({ ...version, ...copy, createdAt: 1 });
      return copy;
    }

    it('get their file made as soon as the repair has finished, once', async () => {
      const { client, user, videoId } = await finished('starter');
      await expect.poll(() => exportJobs(videoId)).toBe(1);
      expect(await stateOf(client, videoId)).toEqual({
        shortSide: 1080,
        state: 'waiting',
        progress: 0,
        sizeBytes: null,
        message: null,
      });
      app.events.emit('video.completed', { userId: user.id, videoId });
      const params = { id: videoId };
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => client.call(videosApi.exportLimited, { params })),
      );
      expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
      expect(await exportJobs(videoId)).toBe(1);
    });

    it.each(['GET', 'HEAD'])('answer %s with 409 and a sentence until the file exists', async (method) => {
      const { client, videoId } = await finished('starter');
      await expect.poll(() => exportJobs(videoId)).toBe(1);
      await VideoExport.query(app.db).patch({ state: 'working', progress: 34 }).where({ videoId });
      const answer = await download(client, videoId, method);
      expect(answer.status).toBe(409);
      if (method === 'HEAD') return;
      expect(await answer.json()).toMatchObject({
        code: 'export_pending',
        message:
          'Your plan downloads in 1080p. That file is being made (34 %); your full-size result is kept.',
        demoMode: false,
      });
    });

    it('give the smaller copy, while player, original and backup stay whole', async () => {
      const { client, videoId, result } = await finished('starter');
      const copy = await finishExport(videoId, result.sha256);
      expect(await stateOf(client, videoId)).toMatchObject({ state: 'ready', sizeBytes: copy.sizeBytes });
      expect(await (await download(client, videoId)).text()).toBe(`copy of ${result.sha256}`);
      const stream = await client.fetch(buildPath(mediaPaths.stream, { id: videoId }));
      expect(await stream.text()).toBe(`result of ${videoId}`);
      // Nor are there earlier versions whole: the copy is made of the current one.
      const { currentVersionId } = await Video.query(app.db).findById(videoId).throwIfNotFound();
      const params = { id: videoId, versionId: currentVersionId ?? '' };
      const version = await client.fetch(buildPath(mediaPaths.version, params));
      expect(version.status).toBe(403);
      expect(await version.json()).toMatchObject({ code: 'plan_required', demoMode: false });
      const original = await client.fetch(buildPath(mediaPaths.original, { id: videoId }));
      expect(await original.text()).toMatch(/^clip /);
    });

    it('give the whole result at once after an upgrade, and the copy again afterwards', async () => {
      const { client, videoId, result } = await finished('starter');
      await finishExport(videoId, result.sha256);
      await client.call(subscriptionApi.subscribe, { body: { plan: 'creator-pro' } });
      expect((await client.call(authApi.currentUser)).body?.user.plan).toBe('creator-pro');
      expect(await stateOf(client, videoId)).toBeNull();
      expect(await (await download(client, videoId)).text()).toBe(`result of ${videoId}`);
      await client.call(subscriptionApi.subscribe, { body: { plan: 'starter' } });
      expect(await (await download(client, videoId)).text()).toBe(`copy of ${result.sha256}`);
    });

    it('request a new file when another version is current', async () => {
      const { client, videoId, result } = await finished('starter');
      await finishExport(videoId, result.sha256);
      const [draft] = (await client.call(draftsApi.list)).body ?? [];
      const restored = await client.call(draftsApi.restore, { params: { id: draft?.id ?? '' } });
      expect(restored.status).toBe(200);
      expect(await stateOf(client, videoId)).toMatchObject({ state: 'absent' });
      expect((await download(client, videoId)).status).toBe(409);
      expect(await exportJobs(videoId)).toBe(1);
    });

    it('say why there is no file, and retry on request', async () => {
      const { client, videoId } = await finished('starter');
      await expect.poll(() => exportJobs(videoId)).toBe(1);
      await Job.query(app.db).patch({ state: 'failed' }).where({ videoId });
      await VideoExport.query(app.db)
        .patch({ state: 'failed', message: 'Too little memory.' })
        .where({ videoId });
      const refused = await download(client, videoId);
      expect([refused.status, await refused.json()]).toMatchObject([409, { message: 'Too little memory.' }]);
      expect(await exportJobs(videoId)).toBe(0);
      await client.call(videosApi.exportLimited, { params: { id: videoId } });
      expect(await exportJobs(videoId)).toBe(1);
      expect(await stateOf(client, videoId)).toMatchObject({ state: 'waiting', message: null });
    });

    it('can be cancelled by their owner: the job ends, nothing is made, and a request starts again', async () => {
      const { client, videoId } = await finished('starter');
      await expect.poll(() => exportJobs(videoId)).toBe(1);
      const params = { id: videoId };
      const cancel = async () => (await client.call(videosApi.cancelExport, { params })).body;
      const { client: stranger } = await app.signIn();
      expect((await stranger.call(videosApi.cancelExport, { params })).status).toBe(404);
      const ended: string[] = [];
      const stop = app.events.on('job.cancelled', ({ jobId }) => ended.push(jobId));
      const before = (await client.call(videosApi.status, { params })).body?.version ?? 0;
      const state = await cancel();
      expect(state?.limitedExport).toMatchObject({ shortSide: 1080, state: 'cancelled', message: null });
      // Pages ignore states without a higher version.
      expect(state?.version).toBe(before + 1);
      expect((await cancel())?.version).toBe(before + 1);
      stop();
      const jobs = await Job.query(app.db).where({ videoId, type: 'export-video' });
      expect(jobs.map(({ id, state: of }) => [id, of])).toEqual([[ended[0], 'cancelled']]);
      const again = (await client.call(videosApi.exportLimited, { params })).body;
      expect(again?.limitedExport?.state).toBe('waiting');
      expect(again?.version).toBe(before + 2);
      expect(await exportJobs(videoId)).toBe(1);
    });

    it('stop the copy of an earlier result when another version is current', async () => {
      const { client, videoId } = await finished('starter');
      await expect.poll(() => exportJobs(videoId)).toBe(1);
      const [old] = await Job.query(app.db).where({ videoId, type: 'export-video' });
      const [draft] = (await client.call(draftsApi.list)).body ?? [];
      await client.call(draftsApi.restore, { params: { id: draft?.id ?? '' } });
      await download(client, videoId);
      const row = await VideoExport.query(app.db).findById(videoId).throwIfNotFound();
      expect(row.jobId).not.toBe(old?.id);
      expect((await Job.query(app.db).findById(old?.id ?? ''))?.state).toBe('cancelled');
      expect(await exportJobs(videoId)).toBe(1);
    });

    it.each([
      ['a plan with 4K export', 'creator-pro', [3840, 2160]],
      ['a picture of 1080p', 'starter', [1920, 1080]],
      ['an upright picture of 1080p', 'starter', [1080, 1920]],
    ] as const)('are whole for %s', async (_name, plan, size) => {
      const { client, videoId } = await finished(plan, size);
      expect(await stateOf(client, videoId)).toBeNull();
      expect(await (await download(client, videoId)).text()).toBe(`result of ${videoId}`);
      expect(await exportJobs(videoId)).toBe(0);
    });

    it('can be requested only by the owner of a finished video', async () => {
      const { client, videoId } = await finished('starter');
      const params = { id: videoId };
      expect((await app.client().call(videosApi.exportLimited, { params })).status).toBe(401);
      const stranger = (await app.signIn()).client;
      expect((await stranger.call(videosApi.exportLimited, { params })).status).toBe(404);
      await Video.query(app.db).patch({ status: 'processing' }).where('id', videoId);
      expect((await client.call(videosApi.exportLimited, { params })).status).toBe(409);
    });

    it('are deleted with the video, and count as exports of the account', async () => {
      const { client, videoId, result } = await finished('starter');
      const copy = await finishExport(videoId, result.sha256);
      const use = z.object({ exportsBytes: z.number() });
      const storage = await client.fetch('/api/account/storage');
      expect(use.parse(await storage.json()).exportsBytes).toBe(copy.sizeBytes);
      await client.call(videosApi.remove, { params: { id: videoId } });
      expect(await VideoVersion.query(app.db).where({ videoId }).resultSize()).toBe(0);
      expect(await VideoExport.query(app.db).where({ videoId }).resultSize()).toBe(0);
      app.advance(25 * 3600_000);
      await app.housekeeping.run();
      expect(await app.storage.stat(copy.sha256)).toBeNull();
    });
  });
});
