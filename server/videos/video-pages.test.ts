import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ideasApi } from '#common/api/ideas.ts';
import { cursorAfter } from '#common/api/paging.ts';
import { videosApi, type VideoDto } from '#common/api/videos.ts';
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

    beforeAll(async () => {
      app = await startTestApp({ engine });
      const signedIn = await app.signIn();
      client = signedIn.client;
      await seedVideos(app.db, signedIn.user.id, COUNT);
      // Thirty of them at the same moment: the id alone tells them apart.
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

    it('go on after a video that was deleted meanwhile', async () => {
      const whole = (await client.call(videosApi.list)).body ?? [];
      const first = await page(10);
      const last = first.at(-1);
      await client.call(videosApi.remove, { params: { id: last?.id ?? '' } });
      const next = await page(10, last);
      expect(next.map((video) => video.id)).toEqual(whole.slice(10, 20).map((video) => video.id));
    });

    it.each(BAD_QUERIES)('answer 400 to %j', async (query) => {
      expect((await client.call(videosApi.list, { query })).status).toBe(400);
    });

    it('of ideas give every idea once in each order, and those of a filter alone', async () => {
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
