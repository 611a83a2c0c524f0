import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { storylineApi, type StorylineDto } from '#common/api/storyline.ts';
import { videosApi } from '#common/api/videos.ts';
import { newId } from '#db/base-model.ts';
import { Job } from '#db/models/job.ts';
import { StorylineRow } from '#db/models/storyline.ts';
import { VideoVersion } from '#db/models/video-version.ts';
import { Video } from '#db/models/video.ts';
import { createUser } from '#server/test/factories.ts';
import { startTestApp, type TestApp } from '#server/test/test-app.ts';
import { ENGINES, hasEngine } from '#server/test/test-database.ts';
import { uploadBytes } from '#server/test/upload-bytes.ts';

const STORY: StorylineDto = {
  title: 'Talk in 2 scenes, 0:12',
  summary: '2 scenes in 0:12.',
  confidence: 90,
  genre: 'Talk',
  mood: 'Calm',
  themes: ['Speech'],
  characters: [],
  scenes: [],
};

for (const engine of ENGINES) {
  describe.skipIf(!hasEngine(engine))(`the storyline of a video on ${engine}`, () => {
    let app: TestApp;
    beforeAll(async () => {
      app = await startTestApp({ engine });
    });
    afterEach(async () => {
      await Job.query(app.db).delete();
    });
    afterAll(async () => app.stop());

    /** A finished video of a user whose plan includes storylines. */
    async function finished() {
      const { client } = await app.signIn(await createUser(app.db, { plan: 'business' }));
      const id = await uploadBytes(client, new TextEncoder().encode(`clip ${newId()}`));
      const versionId = newId();
      const { originalSha256 } = (await Video.query(app.db).findById(id)) ?? {};
      if (originalSha256 === undefined) throw new Error('no video');
      await VideoVersion.query(app.db).insert({
        id: versionId,
        videoId: id,
        kind: 'repair',
        sha256: originalSha256,
        sizeBytes: 1,
        createdAt: app.now(),
      });
      await Video.query(app.db).patch({ status: 'completed', currentVersionId: versionId }).where({ id });
      return { client, params: { id }, versionId };
    }
    const jobs = () => Job.query(app.db).where({ type: 'tell-storyline' });

    it('is 404 until there is one, and its state says that nobody has requested it', async () => {
      const { client, params } = await finished();
      expect((await client.call(storylineApi.get, { params })).status).toBe(404);
      expect((await client.call(storylineApi.state, { params })).body).toEqual({
        state: 'none',
        progress: 0,
        message: null,
        readable: false,
      });
    });

    it('is queued once however often it is requested, behind all repairs', async () => {
      const { client, params } = await finished();
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => client.call(storylineApi.analyze, { params })),
      );
      const queued = await jobs();
      expect(queued).toHaveLength(1);
      expect(new Set(answers.map(({ body }) => body?.jobId))).toEqual(new Set([queued[0]?.id]));
      expect(queued[0]?.priority).toBeLessThan(0);
      expect((await client.call(storylineApi.state, { params })).body?.state).toBe('waiting');
    });

    it('can be read when it is ready, and while it is made again', async () => {
      const { client, params, versionId } = await finished();
      await client.call(storylineApi.analyze, { params });
      await StorylineRow.query(app.db).patch({ state: 'ready', storyline: STORY }).where({ versionId });
      expect((await client.call(storylineApi.get, { params })).body).toEqual(STORY);
      await client.call(storylineApi.analyze, { params });
      expect(await jobs()).toHaveLength(2);
      expect((await client.call(storylineApi.state, { params })).body).toMatchObject({
        state: 'waiting',
        readable: true,
      });
      expect((await client.call(storylineApi.get, { params })).body).toEqual(STORY);
    });

    it('stays readable when a quick fix makes a new version with the same times, until that version has its own', async () => {
      const { client, params, versionId } = await finished();
      await client.call(storylineApi.analyze, { params });
      await StorylineRow.query(app.db).patch({ state: 'ready', storyline: STORY }).where({ versionId });
      const before = await VideoVersion.query(app.db).findById(versionId);
      if (!before) throw new Error('no version');
      const another = async (change: Partial<VideoVersion>): Promise<void> => {
        const id = newId();
        await VideoVersion.query(app.db).insert({ ...before.$toJson(), id, kind: 'fixes', ...change });
        await Video.query(app.db).patch({ currentVersionId: id }).where({ id: params.id });
      };
      await another({});
      expect((await client.call(storylineApi.get, { params })).body).toEqual(STORY);
      expect((await client.call(storylineApi.state, { params })).body).toMatchObject({
        state: 'none',
        earlier: true,
        readable: true,
      });
      await client.call(storylineApi.analyze, { params });
      expect((await client.call(storylineApi.state, { params })).body).toMatchObject({
        state: 'waiting',
        earlier: true,
        readable: true,
      });
      await another({ reportSha256: before.sha256 });
      expect((await client.call(storylineApi.get, { params })).status).toBe(404);
      expect((await client.call(storylineApi.state, { params })).body?.readable).toBe(false);
    });

    it('says why it failed and can be requested again', async () => {
      const { client, params, versionId } = await finished();
      await client.call(storylineApi.analyze, { params });
      await StorylineRow.query(app.db)
        .patch({ state: 'failed', message: 'No picture.' })
        .where({ versionId });
      expect((await client.call(storylineApi.state, { params })).body).toMatchObject({
        state: 'failed',
        message: 'No picture.',
      });
      expect((await client.call(storylineApi.analyze, { params })).status).toBe(200);
      expect((await client.call(storylineApi.state, { params })).body).toMatchObject({
        state: 'waiting',
        message: null,
      });
    });

    it('is deleted with its video', async () => {
      const { client, params, versionId } = await finished();
      await client.call(storylineApi.analyze, { params });
      await client.call(videosApi.remove, { params });
      expect(await StorylineRow.query(app.db).findById(versionId)).toBeUndefined();
    });
  });
}
