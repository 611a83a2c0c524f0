import { analyticsApi, analyticsCsvPath, analyticsQuery } from '#common/api/analytics.ts';
import { requireUser } from '#server/http/authenticate.ts';
import { createRouter, type AppRouter } from '#server/http/context.ts';
import { signedIn } from '#server/http/route.ts';
import { check } from '#server/http/validate.ts';
import { toAnalyticsCsv } from './analytics-csv.ts';
import type { AnalyticsService } from './analytics.service.ts';

/** `/api/analytics` and the same figures as CSV. */
export function createAnalyticsRoutes({ analytics }: { readonly analytics: AnalyticsService }): AppRouter {
  const router = createRouter();

  signedIn(router, analyticsApi.monthly, async ({ user, query }) => analytics.monthly(user, query.months));

  router.get(analyticsCsvPath, async (ctx) => {
    const user = await requireUser(ctx);
    const { months } = check(analyticsQuery, { ...ctx.query });
    const body = await analytics.monthly(user, months);
    ctx.attachment('reelmend-analytics.csv');
    ctx.type = 'text/csv; charset=utf-8';
    ctx.body = toAnalyticsCsv(body.months);
  });

  return router;
}
