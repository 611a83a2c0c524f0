import Router, { type RouterContext } from '@koa/router';
import type { ParameterizedContext } from 'koa';
import type { User } from '#db/models/user.ts';
import type { Logger } from '../logger.ts';

/** The sender of a request, determined at most once per request. */
export interface Identity {
  readonly user: User;
  /** SHA-256 of the session id; null when an access token was sent instead of the cookie. */
  readonly sessionHash: string | null;
  /** What an access token may do; null for a browser session, which may do everything. */
  readonly scopes: readonly string[] | null;
}

/** What the middleware of `app.ts` provides to the routes. */
export interface AppState {
  requestId: string;
  /** Log lines with the request's id. */
  logger: Logger;
  /** The sender, or null when nobody is signed in. */
  identify(): Promise<Identity | null>;
  /** Set by the login handler only: the next save of the session makes a new row. */
  openSession?: { readonly passwordHash: string };
}

/** No index signature, so that a misspelt property of a context does not type-check. */
type Nothing = Record<never, never>;

export type AppContext = ParameterizedContext<AppState, Nothing>;
export type AppRouterContext = RouterContext<AppState, Nothing>;
export type AppRouter = Router<AppState, Nothing>;
export type AppMiddleware = (ctx: AppContext, next: () => Promise<unknown>) => Promise<unknown>;

/**
 * An empty router with the types of this application. Paths must match exactly, because limits, sessions and cache
 * rules depend on how a path begins.
 */
export function createRouter(): AppRouter {
  return new Router<AppState, Nothing>({ sensitive: true });
}
