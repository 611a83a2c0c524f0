import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AnyEndpoint } from '#common/api/endpoint.ts';
import { storylineApi } from '#common/api/storyline.ts';
import { videosApi } from '#common/api/videos.ts';
import type { PlanSlug } from '#common/plans.ts';
import { Video } from '#db/models/video.ts';
import { createUser } from '#server/test/factories.ts';
import { startTestApp, type TestApp } from '#server/test/test-app.ts';
import { ENGINES, hasEngine } from '#server/test/test-database.ts';
import { uploadBytes } from '#server/test/upload-bytes.ts';

const FIXES = { fixes: ['wind-noise'] };
const CALLS: readonly [string, AnyEndpoint, unknown][] = [
  ['apply-fixes', videosApi.applyFixes, FIXES],
  ['GET storyline', storylineApi.get, undefined],
  ['storyline state', storylineApi.state, undefined],
  ['analyze', storylineApi.analyze, undefined],
];

describe.each(ENGINES)('the AI tools on %s', (engine) => {
  describe.skipIf(!hasEngine(engine))('with a running server', () => {
    let app: TestApp;

    beforeAll(async () => {
      app = await startTestApp({ engine });
    });
    afterAll(async () => app.stop());

    async function owner(plan: PlanSlug, status: Video['status'] = 'completed') {
      const { client } = await app.signIn(await createUser(app.db, { plan }));
      const id = await uploadBytes(client, new TextEncoder().encode(`clip of ${plan} ${status} ${engine}`));
      await Video.query(app.db).patch({ status }).where('id', id);
      return { client, params: { id } };
    }

    it.each(CALLS)('%s: 401 for the signed-out', async (_name, endpoint, body) => {
      expect((await app.client().call(endpoint, { params: { id: 'x' }, body })).status).toBe(401);
    });

    it.each(CALLS)('%s: 403 on both other plans', async (_name, endpoint, body) => {
      for (const plan of ['starter', 'creator-pro'] as const) {
        const { client, params } = await owner(plan);
        const { status, raw } = await client.call(endpoint, { params, body });
        const message = 'The AI tools are part of Creator Pro+.';
        expect([status, raw]).toMatchObject([403, { code: 'plan_required', message }]);
      }
    });

    it.each(CALLS)(
      '%s: the same 404 for a video of someone else and for none, before the plan is checked',
      async (_name, endpoint, body) => {
        const { params } = await owner('business');
        for (const plan of ['starter', 'business'] as const) {
          const stranger = (await app.signIn(await createUser(app.db, { plan }))).client;
          const theirs = await stranger.call(endpoint, { params, body });
          const nothing = await stranger.call(endpoint, { params: { id: 'nothing' }, body });
          expect([theirs.status, nothing.status]).toEqual([404, 404]);
          const unmarked = (raw: unknown) => JSON.stringify(raw).replace(/"requestId":"[^"]*"/, '');
          expect(unmarked(theirs.raw)).toBe(unmarked(nothing.raw));
        }
      },
    );

    it.each([
      { fixes: ['wind-noise', 'rm -rf'] },
      { fixes: [] },
      { fixes: 'x' },
      { fixes: Array.from({ length: 10 }, () => 'sharpen') },
      'x',
      { 0: 'x' },
      null,
    ])('apply-fixes: 400 for %j', async (body) => {
      const { client, params } = await owner('business');
      expect((await client.call(videosApi.applyFixes, { params, body })).status).toBe(400);
    });

    it.each(['processing', 'failed'] as const)('409 while the video is %s', async (status) => {
      const { client, params } = await owner('business', status);
      expect((await client.call(videosApi.applyFixes, { params, body: FIXES })).status).toBe(409);
      expect((await client.call(storylineApi.analyze, { params })).status).toBe(409);
    });
  });
});
