import type { z } from 'zod';
import type { Endpoint } from '#common/api/endpoint.ts';
import type { User } from '#db/models/user.ts';
import { requireUser } from './authenticate.ts';
import type { AppRouter, AppRouterContext } from './context.ts';
import { checkResponse, readInput, type Input } from './validate.ts';

type Call<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType> = Input<P, Q, B> & {
  readonly ctx: AppRouterContext;
};

/**
 * Mounts a call for people who are signed in. Order: session (401), schemas of the endpoint (400, 404),
 * handler; what the handler returns is the JSON body, with the status of the endpoint.
 */
export function signedIn<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, R extends z.ZodType>(
  router: AppRouter,
  endpoint: Endpoint<P, Q, B, R>,
  handler: (call: Call<P, Q, B> & { readonly user: User }) => Promise<z.input<R>>,
): void {
  mount(router, endpoint, async (ctx) => {
    const user = await requireUser(ctx);
    return handler({ ...(await readInput(endpoint, ctx)), ctx, user });
  });
}

/** Mounts a call for everyone; `optionalUser(ctx)` tells who it is, if anybody. */
export function anyone<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, R extends z.ZodType>(
  router: AppRouter,
  endpoint: Endpoint<P, Q, B, R>,
  handler: (call: Call<P, Q, B>) => Promise<z.input<R>>,
): void {
  mount(router, endpoint, async (ctx) => handler({ ...(await readInput(endpoint, ctx)), ctx }));
}

function mount(
  router: AppRouter,
  endpoint: Endpoint<z.ZodType, z.ZodType, z.ZodType, z.ZodType>,
  answer: (ctx: AppRouterContext) => Promise<unknown>,
): void {
  router.register(endpoint.path, [endpoint.method], async (ctx: AppRouterContext) => {
    const body = await answer(ctx);
    if (ctx.app.env !== 'production') checkResponse(endpoint, body);
    ctx.status = endpoint.status ?? 200;
    ctx.body = body;
  });
}
