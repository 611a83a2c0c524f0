import { createAccountRoutes } from './account/account.routes.ts';
import { createAccountService, type AccountDeps } from './account/account.service.ts';
import { createAnalyticsRoutes } from './analytics/analytics.routes.ts';
import { createAnalyticsService } from './analytics/analytics.service.ts';
import { createApiAccessRoutes } from './api-access/api-access.routes.ts';
import { createTokensService } from './api-access/tokens.service.ts';
import type { TokenIdentifier } from './app.ts';
import type { ComposedBase } from './compose-base.ts';
import type { AppRouter } from './http/context.ts';
import { closeSession } from './http/session.ts';
import { createSubscriptionRoutes, type SubscriptionRoutesDeps } from './subscription/subscription.routes.ts';
import {
  createSubscriptionService,
  type SubscriptionDeps,
  type SubscriptionService,
} from './subscription/subscription.service.ts';

export interface ComposeAccountDeps
  extends
    ComposedBase,
    Pick<AccountDeps, 'verifyPassword' | 'stopWork' | 'removeUploadFiles' | 'collect'>,
    Pick<SubscriptionDeps, 'notify'>,
    Pick<SubscriptionRoutesDeps, 'toSessionBody'> {
  readonly version: string;
}

export interface ComposedAccount {
  readonly routers: readonly AppRouter[];
  readonly subscription: SubscriptionService;
  readonly identifyToken: TokenIdentifier;
}

/** The part of `compose()` for what people do with their own account: plan, access tokens, figures, export, deletion. */
export function composeAccount(deps: ComposeAccountDeps): ComposedAccount {
  const { config, db, events, now, notify, toSessionBody, version } = deps;
  const { enforcePlans, publicUrl } = config;
  const subscription = createSubscriptionService({ db, events, now, billing: config.billing, notify });
  const tokens = createTokensService({ db, enforcePlans, now });
  const passwordGuesses = deps.rateLimits({ points: 5, durationS: 60 });
  const account = createAccountService(deps);
  return {
    routers: [
      createSubscriptionRoutes({ subscription, toSessionBody, now }),
      createAccountRoutes({
        account,
        limitPassword: (userId) => passwordGuesses.consume(userId),
        endSession: async (ctx) => closeSession(ctx),
      }),
      createApiAccessRoutes({ tokens, publicUrl, version }),
      createAnalyticsRoutes({ analytics: createAnalyticsService({ db, enforcePlans, now }) }),
    ],
    subscription,
    async identifyToken(token) {
      const bearer = await tokens.authenticate(token);
      return bearer && { user: bearer.user, sessionHash: null, scopes: bearer.scopes };
    },
  };
}
