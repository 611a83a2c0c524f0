import { ideasApi } from '#common/api/ideas.ts';
import { createRouter, type AppRouter } from '../http/context.ts';
import { withPageSize } from '../http/page-size.ts';
import type { RateLimits } from '../http/rate-limit.ts';
import { signedIn } from '../http/route.ts';
import type { IdeasService } from './ideas.service.ts';

export interface IdeasRoutesDeps {
  readonly ideas: IdeasService;
  readonly limits: RateLimits;
}

/** `/api/ideas`, votes and `/api/users/leaderboard`. */
export function createIdeasRoutes({ ideas, limits }: IdeasRoutesDeps): AppRouter {
  const router = createRouter();
  const submissions = limits({ points: 10, durationS: 60 });
  const votes = limits({ points: 60, durationS: 60 });
  const searches = limits({ points: 120, durationS: 60 });

  signedIn(router, ideasApi.similar, async ({ user, query }) => {
    await searches.consume(user.id);
    return ideas.similar(user, query.text);
  });

  signedIn(router, ideasApi.counts, () => ideas.counts());

  signedIn(router, ideasApi.list, async ({ ctx, user, query }) =>
    ideas.list(user, withPageSize(ctx, query ?? {})),
  );

  signedIn(router, ideasApi.create, async ({ user, body }) => {
    await submissions.consume(user.id);
    return ideas.create(user, body.text, body.userName ?? undefined);
  });

  signedIn(router, ideasApi.vote, async ({ user, params }) => {
    await votes.consume(user.id);
    return ideas.vote(user, params.id);
  });

  signedIn(router, ideasApi.unvote, async ({ user, params }) => {
    await votes.consume(user.id);
    return ideas.unvote(user, params.id);
  });

  signedIn(router, ideasApi.leaderboard, async () => ideas.leaders());

  return router;
}
