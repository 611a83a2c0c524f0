import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ANALYTICS_COLUMNS, analyticsApi, analyticsCsvPath } from '#common/api/analytics.ts';
import { NO_ISSUES } from '#common/video.ts';
import { Video } from '#db/models/video.ts';
import { createUser } from '#server/test/factories.ts';
import { startTestApp, type TestApp } from '#server/test/test-app.ts';
import { ENGINES, hasEngine } from '#server/test/test-database.ts';
import { uploadBytes } from '#server/test/upload-bytes.ts';

describe.each(ENGINES)('analytics on %s', (engine) => {
  describe.skipIf(!hasEngine(engine))('with a running server', () => {
    let app: TestApp;

    beforeAll(async () => {
      app = await startTestApp({ engine });
    });
    afterAll(async () => app.stop());

    it('answers 401 to the signed-out and 403 to other plans', async () => {
      const visitor = app.client();
      expect((await visitor.call(analyticsApi.monthly)).status).toBe(401);
      expect((await visitor.fetch(analyticsCsvPath)).status).toBe(401);
      const { client } = await app.signIn(await createUser(app.db, { plan: 'creator-pro' }));
      expect((await client.call(analyticsApi.monthly)).raw).toMatchObject({ code: 'plan_required' });
      expect((await client.fetch(analyticsCsvPath)).status).toBe(403);
    });

    it.each(['0', '37', '-1', 'x', '1.5'])('answers 400 to %j months', async (months) => {
      const { client } = await app.signIn(await createUser(app.db, { plan: 'business' }));
      expect((await client.call(analyticsApi.monthly, { query: { months } })).status).toBe(400);
      expect((await client.fetch(`${analyticsCsvPath}?months=${months}`)).status).toBe(400);
    });

    it('shows only the videos of the account, with the same figures as JSON and as CSV', async () => {
      const other = await app.signIn(await createUser(app.db, { plan: 'business' }));
      await uploadBytes(other.client, new TextEncoder().encode('of somebody else'));
      const { client } = await app.signIn(await createUser(app.db, { plan: 'business' }));
      const id = await uploadBytes(client, new TextEncoder().encode('twelve bytes'));
      await Video.query(app.db)
        .patch({
          status: 'completed',
          durationMs: 60_000,
          issues: { ...NO_ISSUES, stutteredCuts: 2, windNoise: true },
          fixesApplied: { stutteredCuts: 2, windNoise: true },
        })
        .where('id', id);
      const { body } = await client.call(analyticsApi.monthly, { query: { months: '3' } });
      const month = new Date(app.now()).toISOString().slice(0, 7);
      expect(body?.months).toHaveLength(3);
      expect(body?.months.at(-1)).toMatchObject({
        month,
        videos: 1,
        completed: 1,
        failed: 0,
        defects: { stuttered_cut: 2, wind_noise: 1, dropped_frames: 0 },
        issuesFixed: 3,
        minutesMended: 1,
        minutesSaved: 15,
        addedBytes: 12,
        storedBytes: 12,
      });
      const csv = await client.fetch(`${analyticsCsvPath}?months=3`);
      expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8');
      expect(csv.headers.get('content-disposition')).toBe('attachment; filename="reelmend-analytics.csv"');
      const lines = (await csv.text()).trimEnd().split('\r\n');
      expect(lines[0]).toBe(ANALYTICS_COLUMNS.join(','));
      expect(lines.at(-1)).toBe(`${month},1,1,0,2,0,0,0,1,0,0,0,3,1.00,15.00,12,12`);
    });
  });
});
