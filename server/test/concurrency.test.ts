import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { draftsApi } from '#common/api/drafts.ts';
import { ideasApi } from '#common/api/ideas.ts';
import { subscriptionApi } from '#common/api/subscription.ts';
import { statsDto, videosApi } from '#common/api/videos.ts';
import { POINTS } from '#common/reputation.ts';
import { newId } from '#db/base-model.ts';
import { Draft } from '#db/models/draft.ts';
import { IdeaVote } from '#db/models/idea.ts';
import { Job } from '#db/models/job.ts';
import { StoredObject } from '#db/models/stored-object.ts';
import { Trial } from '#db/models/trial.ts';
import { UsageUnit } from '#db/models/usage-unit.ts';
import { User } from '#db/models/user.ts';
import { VideoVersion } from '#db/models/video-version.ts';
import { Video } from '#db/models/video.ts';
import { createIdea, createUser } from './factories.ts';
import { startTestApp, type TestApp } from './test-app.ts';
import type { TestClient } from './test-client.ts';
import { ENGINES, hasEngine } from './test-database.ts';
import { uploadBytes } from './upload-bytes.ts';

const TIMES = 50;
const bytesOf = (text: string) => new TextEncoder().encode(text);

/**
 * Makes the same call fifty times at once.
 * @returns the number of answers per status
 */
async function atOnce(call: (index: number) => Promise<{ status: number }>): Promise<Record<number, number>> {
  const answers = await Promise.all(Array.from({ length: TIMES }, (_unused, index) => call(index)));
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

describe.each(ENGINES)('fifty calls at once on %s', (engine) => {
  describe.skipIf(!hasEngine(engine))('leave exact counts:', () => {
    let app: TestApp;

    beforeAll(async () => {
      app = await startTestApp({ engine });
    });
    afterAll(async () => app.stop());

    const pointsOf = async (userId: string) => (await User.query(app.db).findById(userId))?.reputation;

    /** Marks a processing video as finished, with a repaired version. */
    async function finish(videoId: string): Promise<void> {
      const { sha256, sizeBytes } = await app.storage.putBuffer(Buffer.from(`mended ${videoId}`));
      await StoredObject.query(app.db).insert({ sha256, sizeBytes, createdAt: 1, checkedAt: 1 });
      const versionId = newId();
      const version = { id: versionId, videoId, kind: 'repair', sha256, sizeBytes, createdAt: 1 } as const;
      await VideoVersion.query(app.db).insert(version);
      await Job.query(app.db).patch({ state: 'done' }).where({ videoId });
      await Video.query(app.db)
        .patch({ status: 'completed', currentVersionId: versionId })
        .where('id', videoId);
    }

    async function clip(client: TestClient, text: string) {
      const videoId = await uploadBytes(client, bytesOf(`${text} on ${engine}`));
      const draft = await Draft.query(app.db).findOne({ videoId });
      if (!draft) throw new Error('There is no draft of the upload.');
      return { videoId, draftId: draft.id };
    }

    it('votes of one user are one vote', async () => {
      const idea = await createIdea(app.db);
      const { client } = await app.signIn();
      const call = { params: { id: idea.id } };
      expect(await atOnce(() => client.call(ideasApi.vote, call))).toEqual({ 200: TIMES });
      expect((await client.call(ideasApi.vote, call)).body?.votes).toBe(1);
      expect(await IdeaVote.query(app.db).where('ideaId', idea.id).resultSize()).toBe(1);
      expect(await pointsOf(idea.userId)).toBe(POINTS.voteReceived);
    });

    it('votes of fifty people are fifty votes and one bonus', async () => {
      const idea = await createIdea(app.db);
      const people = await Promise.all(Array.from({ length: TIMES }, () => app.signIn()));
      const params = { id: idea.id };
      const counts = await atOnce((index) => {
        const person = people[index];
        if (!person) throw new Error('There are fewer people than calls.');
        return person.client.call(ideasApi.vote, { params });
      });
      expect(counts).toEqual({ 200: TIMES });
      expect(await IdeaVote.query(app.db).where('ideaId', idea.id).resultSize()).toBe(TIMES);
      expect((await people[0]?.client.call(ideasApi.vote, { params }))?.body?.votes).toBe(TIMES);
      expect(await pointsOf(idea.userId)).toBe(TIMES * POINTS.voteReceived + POINTS.popularBonus);
    });

    it('votes given and withdrawn in any order keep count, rows and points equal', async () => {
      const idea = await createIdea(app.db);
      const { client } = await app.signIn();
      const call = { params: { id: idea.id } };
      await atOnce((index) => client.call(index % 2 === 0 ? ideasApi.vote : ideasApi.unvote, call));
      const rows = await IdeaVote.query(app.db).where('ideaId', idea.id).resultSize();
      const { body } = await client.call(ideasApi.list);
      expect(body?.find((one) => one.id === idea.id)?.votes).toBe(rows);
      expect(await pointsOf(idea.userId)).toBe(rows * POINTS.voteReceived);
    });

    it('restores of a deleted video restore one video with one job', async () => {
      const { client, user } = await app.signIn();
      const { videoId, draftId } = await clip(client, 'to bring back');
      await finish(videoId);
      await client.call(videosApi.remove, { params: { id: videoId } });
      const counts = await atOnce(() => client.call(draftsApi.restore, { params: { id: draftId } }));
      // Those that came after the first find a video that is being processed.
      expect((counts[200] ?? 0) + (counts[409] ?? 0)).toBe(TIMES);
      expect(counts[200]).toBeGreaterThan(0);
      const queued = await Job.query(app.db).where({ videoId, state: 'queued' });
      expect([await Video.query(app.db).where('userId', user.id).resultSize(), queued.length]).toEqual([
        1, 1,
      ]);
      expect(await UsageUnit.query(app.db).where('userId', user.id).resultSize()).toBe(1);
    });

    it('restores of a finished video make one version of its original', async () => {
      const { client } = await app.signIn();
      const { videoId, draftId } = await clip(client, 'to undo');
      await finish(videoId);
      const counts = await atOnce(() => client.call(draftsApi.restore, { params: { id: draftId } }));
      expect((counts[200] ?? 0) + (counts[409] ?? 0)).toBe(TIMES);
      expect(counts[200]).toBeGreaterThan(0);
      const versions = await VideoVersion.query(app.db).where({ videoId });
      expect(versions.map((version) => version.kind).toSorted()).toEqual(['original', 'repair']);
      const video = await Video.query(app.db).findById(videoId).withGraphFetched('currentVersion');
      expect(video?.currentVersion?.kind).toBe('original');
    });

    it('deletions of a video are one deletion and leave its backup', async () => {
      const { client, user } = await app.signIn();
      const { videoId } = await clip(client, 'to delete');
      const counts = await atOnce(() => client.call(videosApi.remove, { params: { id: videoId } }));
      expect(counts).toEqual({ 200: 1, 404: TIMES - 1 });
      expect(await Video.query(app.db).where('userId', user.id).resultSize()).toBe(0);
      expect(await Job.query(app.db).where({ videoId, state: 'queued' }).resultSize()).toBe(0);
      expect(await Draft.query(app.db).where('userId', user.id).resultSize()).toBe(1);
    });

    it('deletions of fifty videos delete fifty and give their units back', async () => {
      const { client, user } = await app.signIn(await createUser(app.db, { plan: 'business' }));
      const ids: string[] = [];
      for (let index = 0; index < TIMES; index += 1) ids.push((await clip(client, `clip ${index}`)).videoId);
      const counts = await atOnce((index) =>
        client.call(videosApi.remove, { params: { id: ids[index] ?? '' } }),
      );
      expect(counts).toEqual({ 200: TIMES });
      expect(await Video.query(app.db).where('userId', user.id).resultSize()).toBe(0);
      const stats = statsDto.parse((await client.call(videosApi.stats)).raw);
      expect([stats.quota?.used, stats.draftsSaved]).toEqual([0, TIMES]);
    });

    it('backups of one video are one backup', async () => {
      const { client, user } = await app.signIn();
      const { videoId } = await clip(client, 'to back up');
      const body = { videoId, fileName: 'again.mp4' };
      expect(await atOnce(() => client.call(draftsApi.create, { body }))).toEqual({ 200: TIMES });
      expect(await Draft.query(app.db).where('userId', user.id).resultSize()).toBe(1);
    });

    it('uploads on Starter are five videos', async () => {
      const { client, user } = await app.signIn();
      for (let index = 0; index < 4; index += 1) await clip(client, `one of five ${index}`);
      const results = await Promise.allSettled(
        Array.from({ length: 8 }, (_unused, index) => clip(client, `of many ${index}`)),
      );
      expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1);
      expect(await Video.query(app.db).where('userId', user.id).resultSize()).toBe(5);
      const used = UsageUnit.query(app.db).where('userId', user.id).whereNull('releasedAt');
      expect(await used.resultSize()).toBe(5);
    });

    it('starts of two trials are two trials, and the account has one of both plans', async () => {
      const { client, user } = await app.signIn();
      const plans = ['creator-pro', 'business'] as const;
      const counts = await atOnce((index) =>
        client.call(subscriptionApi.subscribe, { body: { plan: plans[index % 2] } }),
      );
      expect(counts).toEqual({ 200: TIMES });
      const trials = await Trial.query(app.db).where('userId', user.id);
      expect(trials.map((trial) => trial.plan).toSorted()).toEqual(['business', 'creator-pro']);
      const after = await User.query(app.db).findById(user.id);
      expect(trials.find((trial) => trial.plan === after?.plan)?.endsAt).toBe(after?.trialEndsAt);
      expect(new Set(trials.map((trial) => trial.returnPlan))).toEqual(new Set(['starter']));
    });
  });
});
