import type { SessionBody } from '#common/api/auth.ts';
import { subscriptionApi } from '#common/api/subscription.ts';
import type { User } from '#db/models/user.ts';
import { requireSession } from '#server/http/require-session.ts';
import { createRouter, type AppRouter } from '#server/http/context.ts';
import { signedIn } from '#server/http/route.ts';
import { toSubscriptionState } from './subscription.presenter.ts';
import type { SubscriptionService } from './subscription.service.ts';

export interface SubscriptionRoutesDeps {
  readonly subscription: SubscriptionService;
  /** The signed-in user as the client sees it. */
  readonly toSessionBody: (user: User) => SessionBody;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** `/api/subscription`; only for users with a session, not for access tokens. */
export function createSubscriptionRoutes(deps: SubscriptionRoutesDeps): AppRouter {
  const router = createRouter();
  const { subscription } = deps;

  signedIn(router, subscriptionApi.state, async ({ ctx, user }) => {
    await requireSession(ctx);
    const trials = await subscription.trialsOf(user.id);
    return toSubscriptionState(user, trials, subscription.billing, deps.now());
  });

  signedIn(router, subscriptionApi.subscribe, async ({ ctx, user, body }) => {
    await requireSession(ctx);
    return deps.toSessionBody(await subscription.subscribe(user.id, body.plan));
  });

  return router;
}
