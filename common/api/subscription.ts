import { z } from 'zod';
import { planSlug } from '../plan-slug.ts';
import { defineEndpoint } from './endpoint.ts';
import { sessionBody } from './auth.ts';

/** One trial of the account: each plan has one, with a fixed end. */
export const trialDto = z.object({
  plan: planSlug,
  startedAt: z.string(),
  endsAt: z.string(),
  /** `running`: the account has this plan now; `paused`: left before its end, and can be resumed until then. */
  state: z.enum(['running', 'paused', 'ended']),
});

export const subscriptionState = z.object({
  plan: planSlug,
  /** End of the running trial, ISO 8601; null without one. */
  trialEndsAt: z.string().nullable(),
  /** `off`: only the operator sets plans, and `POST /api/subscription` changes nothing. */
  billing: z.enum(['trial', 'off']),
  trials: z.array(trialDto),
});
export type SubscriptionState = z.infer<typeof subscriptionState>;

export const subscriptionApi = {
  state: defineEndpoint({
    method: 'GET',
    path: '/api/subscription',
    summary: 'The plan of the account, its running trial and the trials it has had.',
    response: subscriptionState,
  }),
  /** The only call of the sign-up wizard; card and account fields never leave the browser. */
  subscribe: defineEndpoint({
    method: 'POST',
    path: '/api/subscription',
    summary: 'Starts the 7-day trial of a paid plan, once per plan, or switches to Starter.',
    body: z.object({ plan: planSlug }),
    response: sessionBody,
  }),
} as const;
