import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { accountApi } from '#common/api/account.ts';
import { comparisonApi } from '#common/api/comparison.ts';
import { videosApi } from '#common/api/videos.ts';
import type { Defect } from '#common/report.ts';
import { newId } from '#db/base-model.ts';
import { Job } from '#db/models/job.ts';
import type { User } from '#db/models/user.ts';
import { VersionPreview } from '#db/models/version-preview.ts';
import { VideoVersion } from '#db/models/video-version.ts';
import { fakeReport } from '#server/test/fake-report.ts';
import { insertFinishedVideo } from '#server/test/finished-video.ts';
import { startTestApp, type TestApp } from '#server/test/test-app.ts';
import { ENGINES, hasEngine } from '#server/test/test-database.ts';
import { recordObject } from '#server/videos/create-video.ts';
import { layOutPreview } from './lay-out.ts';

const GAP: Defect = {
  id: 'dropped_frames-1',
  kind: 'dropped_frames',
  startMs: 2000,
  endMs: 2200,
  firstFrame: 59,
  lastFrame: 60,
  count: 5,
  confidence: 1,
  detector: 'detect-dropped-frames',
  measure: { name: 'interval against its neighbours', unit: 'ratio', threshold: 1.5, before: 6, after: 1 },
  action: 'rebuilt_frames',
  outcome: 'repaired',
  explanation: '5 missing pictures at 0:02.00: rebuilt.',
};

for (const engine of ENGINES) {
  describe.skipIf(!hasEngine(engine))(`the comparison of a video on ${engine}`, () => {
    let app: TestApp;
    beforeAll(async () => {
      app = await startTestApp({ engine });
    });
    afterEach(async () => {
      await Job.query(app.db).delete();
    });
    afterAll(async () => app.stop());

    /** A finished video of this user whose report has these defects. */
    async function finishedVideo(user: User, defects: readonly Defect[]): Promise<string> {
      const mark = newId();
      const original = await app.storage.putBuffer(Buffer.from(`original of ${mark}`));
      const result = await app.storage.putBuffer(Buffer.from(`result of ${mark}`));
      const text = JSON.stringify(fakeReport({ defects: [...defects] }));
      const report = await app.storage.putBuffer(Buffer.from(text));
      const stored = { userId: user.id, original, result, report, at: app.now() };
      const { videoId } = await app.db.transaction((trx) => insertFinishedVideo(trx, stored));
      return videoId;
    }

    it('is only for its owner', async () => {
      const { client, user } = await app.signIn();
      const { client: stranger } = await app.signIn();
      const params = { id: await finishedVideo(user, [GAP]) };
      expect((await app.client().call(comparisonApi.read, { params })).status).toBe(401);
      for (const endpoint of [comparisonApi.read, comparisonApi.make]) {
        expect((await stranger.call(endpoint, { params })).status).toBe(404);
      }
      expect((await stranger.fetch(`/api/videos/${params.id}/comparison.mp4`)).status).toBe(404);
      expect((await client.call(comparisonApi.read, { params })).body?.state).toBe('absent');
      expect((await client.fetch(`/api/videos/${params.id}/comparison.mp4`)).status).toBe(409);
    });

    it('is not offered when nothing was repaired', async () => {
      const { client, user } = await app.signIn();
      const left = { ...GAP, outcome: 'left_alone', action: 'none' } as const;
      const params = { id: await finishedVideo(user, [left]) };
      expect((await client.call(comparisonApi.read, { params })).body?.state).toBe('none');
      expect((await client.call(comparisonApi.make, { params })).body?.state).toBe('none');
      expect(await Job.query(app.db).where({ type: 'make-preview' })).toEqual([]);
    });

    it('is queued once however often it is requested, behind all repairs', async () => {
      const { client, user } = await app.signIn();
      const params = { id: await finishedVideo(user, [GAP]) };
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => client.call(comparisonApi.make, { params })),
      );
      expect(answers.map(({ body }) => body?.state)).toEqual(answers.map(() => 'waiting'));
      const jobs = await Job.query(app.db).where({ type: 'make-preview' });
      expect(jobs).toHaveLength(1);
      expect(jobs[0]?.priority).toBeLessThan(0);
      expect(jobs[0]?.videoId).toBe(params.id);
    });

    it('can be requested again after it failed, and says why it failed', async () => {
      const { client, user } = await app.signIn();
      const params = { id: await finishedVideo(user, [GAP]) };
      await client.call(comparisonApi.make, { params });
      await VersionPreview.query(app.db).patch({
        state: 'failed',
        message: 'The original cannot be played.',
      });
      expect((await client.call(comparisonApi.read, { params })).body).toMatchObject({
        state: 'failed',
        message: 'The original cannot be played.',
      });
      const again = await Promise.all([1, 2, 3].map(() => client.call(comparisonApi.make, { params })));
      expect(again.map(({ body }) => body?.state)).toEqual(['waiting', 'waiting', 'waiting']);
      expect(await Job.query(app.db).where({ type: 'make-preview' })).toHaveLength(2);
    });

    it('supports ranges, counts as storage and is removed with the video', async () => {
      const { client, user } = await app.signIn();
      const params = { id: await finishedVideo(user, [GAP]) };
      const before = (await client.call(accountApi.storage)).body?.extrasBytes ?? 0;
      await client.call(comparisonApi.make, { params });
      const clip = await app.storage.putBuffer(Buffer.from(`comparison of ${params.id}`));
      const layout = layOutPreview(fakeReport({ defects: [GAP] }))?.layout;
      if (!layout) throw new Error('nothing was planned');
      await app.db.transaction(async (trx) => {
        await recordObject(trx, clip, app.now());
        await VersionPreview.query(trx)
          .patch({ state: 'ready', sha256: clip.sha256, layout: { ...layout, hasSound: true } })
          .whereIn('versionId', VideoVersion.query(trx).select('id').where({ videoId: params.id }));
      });
      const ready = (await client.call(comparisonApi.read, { params })).body;
      expect(ready?.layout?.places.map(({ defectId, startMs }) => [defectId, startMs])).toEqual([
        ['dropped_frames-1', 2000],
      ]);
      const part = await client.fetch(ready?.url ?? '', { headers: { range: 'bytes=0-9' } });
      expect([part.status, await part.text()]).toEqual([206, 'comparison']);
      expect((await client.call(accountApi.storage)).body?.extrasBytes).toBe(before + clip.sizeBytes);
      app.advance(3 * 60_000);
      await client.call(videosApi.remove, { params });
      expect(await app.storage.stat(clip.sha256)).toBeNull();
      expect((await client.call(comparisonApi.read, { params })).status).toBe(404);
    });
  });
}
