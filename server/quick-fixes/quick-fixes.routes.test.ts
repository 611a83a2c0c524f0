import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { buildPath } from '#common/api/build-path.ts';
import {
  ORIGINAL_VERSION,
  platformExportPath,
  quickFixesApi,
  type FixOutcome,
} from '#common/api/quick-fixes.ts';
import { accountApi } from '#common/api/account.ts';
import { mediaPaths, videosApi } from '#common/api/videos.ts';
import type { FixId } from '#common/fixes.ts';
import { NO_ISSUES } from '#common/video.ts';
import { newId } from '#db/base-model.ts';
import { CertificateRow } from '#db/models/certificate.ts';
import { FixRun } from '#db/models/fix-run.ts';
import { Job } from '#db/models/job.ts';
import { StoredObject } from '#db/models/stored-object.ts';
import { User } from '#db/models/user.ts';
import { VideoVersion } from '#db/models/video-version.ts';
import { Video } from '#db/models/video.ts';
import { recordObject } from '#server/videos/create-video.ts';
import { createUser } from '#server/test/factories.ts';
import { startTestApp, type TestApp } from '#server/test/test-app.ts';
import { ENGINES, hasEngine } from '#server/test/test-database.ts';
import { FAKE_MEDIA } from '#server/test/fake-report.ts';
import { uploadBytes } from '#server/test/upload-bytes.ts';

for (const engine of ENGINES) {
  describe.skipIf(!hasEngine(engine))(`quick fixes of a video on ${engine}`, () => {
    let app: TestApp;
    beforeAll(async () => {
      app = await startTestApp({ engine });
    });
    afterEach(async () => {
      await Job.query(app.db).delete();
    });
    afterAll(async () => app.stop());

    /** Stores a version of a video; kind `platform` makes a platform file. */
    async function addVersion(videoId: string, change: Partial<VideoVersion>) {
      const stored = await app.storage.putBuffer(Buffer.from(`bytes ${newId()}`));
      const id = newId();
      await app.db.transaction(async (trx) => recordObject(trx, stored, app.now()));
      const { sha256, sizeBytes } = stored;
      const row = { id, videoId, kind: 'fixes', sha256, sizeBytes, createdAt: app.now(), ...change } as const;
      await VideoVersion.query(app.db).insert(row);
      return { id, ...stored };
    }

    /** A repaired video of a user whose plan includes quick fixes, with its repaired version. */
    async function finished() {
      const { client } = await app.signIn(await createUser(app.db, { plan: 'business' }));
      const id = await uploadBytes(client, new TextEncoder().encode(`clip ${newId()}`));
      const repaired = await addVersion(id, { kind: 'repair', fixesApplied: { wind_noise: true } });
      await Video.query(app.db)
        .patch({ status: 'completed', issues: NO_ISSUES, currentVersionId: repaired.id })
        .where({ id });
      return { client, params: { id }, repaired };
    }
    const jobs = () => Job.query(app.db).where({ type: 'apply-fixes' });
    const read = async ({ client, params }: Awaited<ReturnType<typeof finished>>) =>
      (await client.call(quickFixesApi.read, { params })).body;

    it('say of which versions there is a report of what was marked', async () => {
      const one = await finished();
      const [marked] = [await addVersion(one.params.id, {}), await addVersion(one.params.id, {})];
      const certificate = { document: '{}', createdAt: 1 };
      await CertificateRow.query(app.db).insert({ ...certificate, versionId: marked.id, report: '{}' });
      // Of a repair, the report is a file of its own.
      await CertificateRow.query(app.db).insert({ ...certificate, versionId: one.repaired.id });
      const versions = (await read(one))?.versions ?? [];
      expect(versions.flatMap(({ id, hasReport }) => (hasReport ? [id] : []))).toEqual([marked.id]);
    });

    it('are queued at once with their number, each once, in the order of the list', async () => {
      const one = await finished();
      const body = { fixes: ['sharpen', 'wind-noise', 'sharpen'] as const };
      const answer = await one.client.call(videosApi.applyFixes, {
        params: one.params,
        body: { fixes: [...body.fixes] },
      });
      const [job] = await jobs();
      expect([answer.status, answer.body]).toEqual([200, { fixesApplied: 2, jobId: job?.id }]);
      expect((await read(one))?.run).toMatchObject({
        state: 'waiting',
        progress: 0,
        fixes: [
          { id: 'wind-noise', state: 'waiting' },
          { id: 'sharpen', state: 'waiting' },
        ],
      });
    });

    it('are one job however often the same is requested, and other requests have to wait', async () => {
      const { client, params } = await finished();
      const ask = (fixes: ('sharpen' | 'stabilize')[]) =>
        client.call(videosApi.applyFixes, { params, body: { fixes } });
      const answers = await Promise.all(Array.from({ length: 8 }, () => ask(['sharpen'])));
      expect(new Set(answers.map(({ body }) => body?.jobId)).size).toBe(1);
      expect(await jobs()).toHaveLength(1);
      expect((await ask(['stabilize'])).status).toBe(409);
      await FixRun.query(app.db).patch({ state: 'done' }).where({ videoId: params.id });
      expect((await ask(['stabilize'])).status).toBe(200);
      expect(await jobs()).toHaveLength(2);
    });

    it('can be cancelled, waiting or at work: the job ends at once, the clip stays, and others can be applied', async () => {
      const one = await finished();
      const cancel = async () => (await one.client.call(quickFixesApi.cancel, { params: one.params })).body;
      const apply = (fixes: FixId[]) =>
        one.client.call(videosApi.applyFixes, { params: one.params, body: { fixes } });
      expect((await cancel())?.run).toBeNull();
      await apply(['sharpen']);
      const before = await read(one);
      const ended: string[] = [];
      const stop = app.events.on('job.cancelled', ({ jobId }) => ended.push(jobId));
      const { client: stranger } = await app.signIn();
      expect((await stranger.call(quickFixesApi.cancel, { params: one.params })).status).toBe(404);
      const after = await cancel();
      expect(after?.run).toMatchObject({ state: 'cancelled', message: null });
      expect(after?.run?.revision).toBeGreaterThan(before?.run?.revision ?? Infinity);
      expect(after?.versions).toEqual(before?.versions);
      expect(after?.done).toEqual(before?.done);
      expect((await jobs()).map(({ state }) => state)).toEqual(['cancelled']);
      await cancel();
      stop();
      expect(ended).toEqual([before?.run?.jobId]);
      const again = await apply(['sharpen']);
      expect(again.status).toBe(200);
      expect((await read(one))?.run).toMatchObject({ state: 'waiting', jobId: again.body?.jobId });
      await FixRun.query(app.db).patch({ state: 'done' }).where({ videoId: one.params.id });
      expect((await cancel())?.run?.state).toBe('done');
    });

    it('list every version, restore each of them, and give the newest as stream and download', async () => {
      const one = await finished();
      const { client, params, repaired } = one;
      const sharpened: FixOutcome = { id: 'sharpen', state: 'applied', detail: 'Clearer.', figures: [] };
      const applied = { wind_noise: true, sharpen: true };
      const fixed = await addVersion(params.id, {
        fixes: [sharpened],
        fixesApplied: applied,
        createdAt: app.now() + 5,
      });
      const restore = (versionId: string) =>
        client.call(quickFixesApi.restore, { params: { ...params, versionId } });
      const current = async () => {
        const { body: video } = await client.call(videosApi.read, { params });
        const downloaded = await client.fetch(buildPath(mediaPaths.download, params));
        const streamed = await client.fetch(buildPath(mediaPaths.stream, params));
        expect(await downloaded.text()).toBe(await streamed.text());
        return { sha256: video?.resultSha256, fixes: video?.fixesApplied, version: video?.version };
      };
      expect((await read(one))?.versions.map(({ id, kind, current: now }) => [id, kind, now])).toEqual([
        [ORIGINAL_VERSION, 'original', false],
        [fixed.id, 'fixes', false],
        [repaired.id, 'repair', true],
      ]);
      expect((await restore(fixed.id)).status).toBe(200);
      const after = await current();
      expect(after).toMatchObject({ sha256: fixed.sha256, fixes: applied });
      expect((await read(one))?.done).toEqual([sharpened]);
      expect((await restore(ORIGINAL_VERSION)).status).toBe(200);
      const { originalSha256 } = await Video.query(app.db).findById(params.id).throwIfNotFound();
      expect(await current()).toMatchObject({ sha256: originalSha256, fixes: {} });
      expect((await read(one))?.done).toEqual([]);
      expect((await restore(repaired.id)).status).toBe(200);
      expect(await current()).toMatchObject({ sha256: repaired.sha256, fixes: { wind_noise: true } });
      expect((await current()).version ?? 0).toBeGreaterThan(after.version ?? 0);
      expect((await restore('nothing')).status).toBe(404);
    });

    it('prevent restoring a version while they are at work', async () => {
      const { client, params } = await finished();
      await client.call(videosApi.applyFixes, { params, body: { fixes: ['sharpen'] } });
      const answer = await client.call(quickFixesApi.restore, {
        params: { ...params, versionId: ORIGINAL_VERSION },
      });
      expect(answer.status).toBe(409);
    });

    it('give platform files to download, count their bytes, and delete them', async () => {
      const one = await finished();
      const { client, params, repaired } = one;
      const made: FixOutcome = { id: 'tiktok-optimize', state: 'applied', detail: 'Made.', figures: [] };
      const file = await addVersion(params.id, {
        kind: 'platform',
        platformFix: 'tiktok-optimize',
        sourceSha256: repaired.sha256,
        fixes: [made],
      });
      const listed = await read(one);
      expect(listed?.exports).toMatchObject([{ id: file.id, fix: 'tiktok-optimize', ofCurrent: true }]);
      expect(listed?.done).toEqual([made]);
      expect(listed?.versions.map(({ kind }) => kind)).toEqual(['original', 'repair']);
      const use = (await client.call(accountApi.storage)).body;
      expect(use?.exportsBytes).toBe(file.sizeBytes);
      const address = buildPath(platformExportPath, { ...params, exportId: file.id });
      const download = await client.fetch(address);
      expect(download.headers.get('content-disposition')).toContain(`video-${params.id}-tiktok.mp4`);
      expect((await download.arrayBuffer()).byteLength).toBe(file.sizeBytes);
      const stranger = (await app.signIn(await createUser(app.db, { plan: 'business' }))).client;
      expect((await stranger.fetch(address)).status).toBe(404);
      const target = { params: { ...params, exportId: file.id } };
      expect((await stranger.call(quickFixesApi.removeExport, target)).status).toBe(404);
      expect((await client.call(quickFixesApi.removeExport, target)).status).toBe(200);
      expect((await client.call(quickFixesApi.removeExport, target)).status).toBe(404);
      expect((await client.fetch(address)).status).toBe(404);
      expect((await read(one))?.exports).toEqual([]);
      expect((await read(one))?.done).toEqual([]);
    });

    it('show a clip with nothing wrong as one version, and return to it with its report', async () => {
      const one = await finished();
      const { client, params } = one;
      const { originalSha256, fileSize } = await Video.query(app.db).findById(params.id).throwIfNotFound();
      const clean = newId();
      await VideoVersion.query(app.db).insert({
        id: clean,
        videoId: params.id,
        kind: 'repair',
        sha256: originalSha256,
        sizeBytes: fileSize,
        createdAt: app.now(),
      });
      expect((await read(one))?.versions.map(({ kind }) => kind)).toEqual(['original', 'repair']);
      await client.call(quickFixesApi.restore, { params: { ...params, versionId: ORIGINAL_VERSION } });
      expect((await Video.query(app.db).findById(params.id))?.currentVersionId).toBe(clean);
      expect((await read(one))?.versions[0]).toMatchObject({ kind: 'original', current: true });
    });

    it('are deleted with their video, stored bytes included', async () => {
      const { client, params } = await finished();
      const file = await addVersion(params.id, { kind: 'platform', platformFix: 'youtube-optimize' });
      await client.call(videosApi.applyFixes, { params, body: { fixes: ['sharpen'] } });
      await client.call(videosApi.remove, { params });
      expect(await FixRun.query(app.db).findById(params.id)).toBeUndefined();
      expect((await jobs()).map(({ state }) => state)).toEqual(['cancelled']);
      expect(await StoredObject.query(app.db).findById(file.sha256)).toBeUndefined();
      expect((await client.call(quickFixesApi.read, { params })).status).toBe(404);
    });

    it('name each version by its hash, and what one with quick fixes holds', async () => {
      const one = await finished();
      const fixed = await addVersion(one.params.id, { media: FAKE_MEDIA });
      expect((await read(one))?.versions).toMatchObject([
        { kind: 'original', sha256: expect.stringMatching(/^[0-9a-f]{64}$/), media: null },
        { sha256: fixed.sha256, media: FAKE_MEDIA },
        { kind: 'repair', sha256: one.repaired.sha256, media: null },
      ]);
    });

    it('can be applied on one plan, and the results stay readable on others', async () => {
      const { client, params } = await finished();
      const { client: starter } = await app.signIn(await createUser(app.db, { plan: 'starter' }));
      const id = await uploadBytes(starter, new TextEncoder().encode(`clip ${newId()}`));
      const body = { fixes: ['sharpen' as const] };
      expect((await starter.call(videosApi.applyFixes, { params: { id }, body })).status).toBe(403);
      expect((await starter.call(quickFixesApi.read, { params: { id } })).status).toBe(200);
      expect((await starter.call(quickFixesApi.read, { params })).status).toBe(404);
      expect((await client.call(quickFixesApi.read, { params })).status).toBe(200);
    });

    it('mend on every plan what somebody noticed, as one job, for which quick fixes wait', async () => {
      const { client, params, repaired } = await finished();
      await User.query(app.db).patch({ plan: 'starter' });
      const places = [{ kind: 'freeze' as const, atMs: 1200 }];
      const ask = (body: { places?: typeof places; soundShiftMs?: number }) =>
        client.call(quickFixesApi.mendNoticed, { params, body });
      expect((await ask({ places: [], soundShiftMs: 0 })).status).toBe(400);
      expect((await ask({ soundShiftMs: 2001 })).status).toBe(400);
      const { client: stranger } = await app.signIn();
      const asked = { places, soundShiftMs: -40 };
      expect((await stranger.call(quickFixesApi.mendNoticed, { params, body: asked })).status).toBe(404);
      const answers = await Promise.all([ask(asked), ask(asked)]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      expect(new Set(answers.map(({ body }) => body?.jobId)).size).toBe(1);
      expect((await ask({ ...asked, soundShiftMs: -50 })).status).toBe(409);
      expect(await FixRun.query(app.db).findById(params.id)).toMatchObject({ noticed: asked });
      expect((await client.call(quickFixesApi.read, { params })).body?.run).toMatchObject({
        state: 'waiting',
        sourceVersionId: repaired.id,
        resultVersionId: null,
        fixes: [{ id: 'freeze-here' }, { id: 'sound-moved' }],
      });
      await User.query(app.db).patch({ plan: 'business' });
      const fixes = { params, body: { fixes: ['sharpen' as const] } };
      expect((await client.call(videosApi.applyFixes, fixes)).status).toBe(409);
      await FixRun.query(app.db).patch({ state: 'done' }).where({ videoId: params.id });
      expect((await client.call(videosApi.applyFixes, fixes)).status).toBe(200);
      // Quick fixes that follow do not repeat what was noticed.
      expect(await FixRun.query(app.db).findById(params.id)).toMatchObject({ noticed: null });
    });
  });
}
