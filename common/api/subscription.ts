import { z } from 'zod';
import { planSlug } from '../plans.ts';
import { defineEndpoint } from './endpoint.ts';
import { sessionBody } from './auth.ts';

export const subscriptionApi = {
  /** The one call of the sign-up wizard (D-35); card and account fields never leave the browser. */
  subscribe: defineEndpoint({
    method: 'POST',
    path: '/api/subscription',
    summary: 'Starts the 7-day trial of a paid plan, once per plan, or switches to Starter.',
    body: z.object({ plan: planSlug }),
    response: sessionBody,
  }),
} as const;
