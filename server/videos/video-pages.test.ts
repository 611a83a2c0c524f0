import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ideasApi } from '#common/api/ideas.ts';
import { cursorAfter } from '#common/api/paging.ts';
import { cursorAfterDraft, draftsApi, type DraftDto } from '#common/api/drafts.ts';
import { cursorAfterVideo, videosApi, type VideoDto } from '#common/api/videos.ts';
import { newId } from '#db/base-model.ts';
import { Draft } from '#db/models/draft.ts';
import { Video } from '#db/models/video.ts';
import { seedIdeas, seedVideos } from '#server/bench/seed-lists.ts';
import { createUser } from '#server/test/factories.ts';
import { startTestApp, type TestApp } from '#server/test/test-app.ts';
import type { TestClient } from '#server/test/test-client.ts';
import { ENGINES, hasEngine } from '#server/test/test-database.ts';

const COUNT = 130;

type Query = Readonly<Record<string, string>>;
const BAD_QUERIES: Query[] = [
  { limit: '0' },
  { limit: '201' },
  { limit: 'x' },
  { cursor: 'x' },
  { cursor: "' or 1=1 --" },
];
const BOARD_QUERIES: Query[] = [
  {},
  { sort: 'newest' },
  { mine: '1' },
  { status: 'planned' },
  { status: 'open' },
];

describe.each(ENGINES)('pages of lists on %s', (engine) => {
  describe.skipIf(!hasEngine(engine))('with a running server', () => {
    let app: TestApp;
    let client: TestClient;
    let ownerId: string;

    beforeAll(async () => {
      app = await startTestApp({ engine });
      const signedIn = await app.signIn();
      client = signedIn.client;
      ownerId = signedIn.user.id;
      await seedVideos(app.db, signedIn.user.id, COUNT);
      // Thirty of them have the same time, so only the id distinguishes them.
      const rows = await Video.query(app.db)
        .select('id', 'createdAt')
        .orderBy('createdAt')
        .offset(40)
        .limit(30);
      const moment = rows[0]?.createdAt ?? 0;
      await Video.query(app.db)
        .patch({ createdAt: moment })
        .whereIn(
          'id',
          rows.map((row) => row.id),
        );
      await seedIdeas(app.db, [(await createUser(app.db)).id, signedIn.user.id], COUNT);
    });
    afterAll(async () => app.stop());

    async function page(limit: number, after?: VideoDto): Promise<VideoDto[]> {
      const query = { limit: String(limit), ...(after ? { cursor: cursorAfter(after) } : {}) };
      const { body } = await client.call(videosApi.list, { query });
      return body ?? [];
    }

    it('give every video once, in the order of the whole list', async () => {
      const whole = (await client.call(videosApi.list)).body ?? [];
      const walked: VideoDto[] = [];
      for (let next = await page(7); next.length > 0; next = await page(7, next.at(-1))) walked.push(...next);
      expect(whole).toHaveLength(COUNT);
      expect(walked.map((video) => video.id)).toEqual(whole.map((video) => video.id));
    });

    it('continue after a video that was deleted meanwhile', async () => {
      const whole = (await client.call(videosApi.list)).body ?? [];
      const first = await page(10);
      const last = first.at(-1);
      await client.call(videosApi.remove, { params: { id: last?.id ?? '' } });
      const next = await page(10, last);
      expect(next.map((video) => video.id)).toEqual(whole.slice(10, 20).map((video) => video.id));
    });

    it.each(['newest', 'oldest', 'name', 'size'] as const)(
      'give every video once when sorted by %s, in the order of the whole list',
      async (sort) => {
        const whole = (await client.call(videosApi.list, { query: { sort } })).body ?? [];
        const walked: VideoDto[] = [];
        for (;;) {
          const last = walked.at(-1);
          const query = { sort, limit: '9', ...(last ? { cursor: cursorAfterVideo(last, sort) } : {}) };
          const next = (await client.call(videosApi.list, { query })).body ?? [];
          if (next.length === 0) break;
          walked.push(...next);
        }
        expect(whole.length).toBeGreaterThan(COUNT - 5);
        expect(walked.map((video) => video.id)).toEqual(whole.map((video) => video.id));
      },
    );

    it('sort names as people do, and sizes from the largest', async () => {
      const sorted = async (sort: string) =>
        (await client.call(videosApi.list, { query: { sort, limit: '12' } })).body ?? [];
      const names = (await sorted('name')).map((video) => video.originalFileName);
      expect(names.slice(0, 3)).toEqual([0, 1, 2].map((take) => `Street interview take ${take}.mp4`));
      expect(names[11]).toBe('Street interview take 11.mp4');
      const sizes = (await sorted('size')).map((video) => video.fileSize);
      expect(sizes).toEqual(sizes.toSorted((a, b) => b - a));
    });

    it('find names in any case and script, ids by their beginning, and take wildcards literally', async () => {
      const [first] = await page(1);
      const id = first?.id ?? '';
      await client.call(videosApi.rename, { params: { id }, body: { fileName: 'ÉTÉ 100%_Süd!.mp4' } });
      const found = async (search: string) =>
        ((await client.call(videosApi.list, { query: { search } })).body ?? []).map((video) => video.id);
      for (const search of ['été', 'ÉTÉ', '100%', '%_s', 'süd!', id.slice(0, 9)]) {
        expect(await found(search)).toEqual([id]);
      }
      expect(await found('%')).toEqual([id]);
      expect(await found('nothing like it')).toEqual([]);
      expect((await found('TAKE 12')).length).toBeGreaterThan(3);
    });

    it('filter by state and by defect', async () => {
      const whole = (await client.call(videosApi.list)).body ?? [];
      const idsOf = (videos: readonly VideoDto[] | null) => (videos ?? []).map((video) => video.id);
      const listed = async (query: Query) => idsOf((await client.call(videosApi.list, { query })).body);
      const failed = whole.filter((video) => video.status === 'failed');
      expect(await listed({ status: 'failed' })).toEqual(idsOf(failed));
      const windy = whole.filter((video) => video.issues?.windNoise);
      expect(await listed({ defect: 'windNoise' })).toEqual(idsOf(windy));
      const intact = whole.filter((video) => !video.issues?.windNoise && !video.issues?.stutteredCuts);
      expect(await listed({ defect: 'none' })).toEqual(idsOf(intact));
      expect(failed.length * windy.length * intact.length).toBeGreaterThan(0);
      expect((await client.call(videosApi.list, { query: { defect: 'ghosts' } })).status).toBe(400);
    });

    it('count what they do not show', async () => {
      const whole = (await client.call(videosApi.list)).body ?? [];
      const count = (status: string) => whole.filter((video) => video.status === status).length;
      const { body } = await client.call(videosApi.stats);
      expect(body).toMatchObject({
        videosTotal: whole.length,
        videosProcessed: count('completed'),
        videosProcessing: count('processing'),
        videosFailed: count('failed'),
      });
      const ideas = (await client.call(ideasApi.list)).body ?? [];
      const counts = (await client.call(ideasApi.counts)).body;
      expect(counts?.total).toBe(ideas.length);
      const planned = ideas.filter((idea) => idea.status === 'planned').length;
      expect(counts?.statuses).toContainEqual({ status: 'planned', ideas: planned });
      expect(counts?.statuses).toHaveLength(4);
    });

    it('of drafts give every draft once', async () => {
      const [video] = await page(1);
      const drafts = Array.from({ length: 23 }, (_unused, index) => ({
        id: newId(),
        userId: ownerId,
        videoId: newId(),
        fileName: `take ${index}.mp4`,
        sha256: video?.originalSha256 ?? '',
        sizeBytes: 1,
        // Some have the same time, so only the id distinguishes them.
        lastModified: app.now() - 1000 * Math.floor(index / 4),
        expiresAt: app.now() + 3600_000,
        createdAt: 1,
      }));
      for (const draft of drafts) await Draft.query(app.db).insert(draft);
      const whole = (await client.call(draftsApi.list)).body ?? [];
      const walked: DraftDto[] = [];
      for (;;) {
        const last = walked.at(-1);
        const query = { limit: '5', ...(last ? { cursor: cursorAfterDraft(last) } : {}) };
        const next = (await client.call(draftsApi.list, { query })).body ?? [];
        if (next.length === 0) break;
        walked.push(...next);
      }
      expect(whole).toHaveLength(23);
      expect(walked.map((draft) => draft.id)).toEqual(whole.map((draft) => draft.id));
    });

    it.each(['/api/videos/nothing', '/api/ideas/counts'])('need a session: %s', async (address) => {
      expect((await app.client().fetch(address)).status).toBe(401);
    });

    it('contain videos that their owner can read one by one', async () => {
      const [video] = await page(1);
      const params = { id: video?.id ?? '' };
      expect((await client.call(videosApi.read, { params })).body).toEqual(video);
      expect((await (await app.signIn()).client.call(videosApi.read, { params })).status).toBe(404);
    });

    it.each(BAD_QUERIES)('answer 400 to %j', async (query) => {
      expect((await client.call(videosApi.list, { query })).status).toBe(400);
    });

    it('of ideas give every idea once in each order, and only those of the filter', async () => {
      for (const filter of BOARD_QUERIES) {
        const whole = (await client.call(ideasApi.list, { query: filter })).body ?? [];
        const walked: string[] = [];
        for (let offset = 0; offset < COUNT; offset += 5) {
          const query = { ...filter, limit: '5', offset: String(offset) };
          walked.push(...((await client.call(ideasApi.list, { query })).body ?? []).map((idea) => idea.id));
        }
        expect(whole.length).toBeGreaterThan(5);
        expect(walked).toEqual(whole.map((idea) => idea.id));
      }
    });
  });
});
