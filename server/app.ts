import { randomBytes } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import Koa from 'koa';
import type { Knex } from 'knex';
import type { Config } from './config.ts';
import { AppError } from './errors.ts';
import type { AppContext, AppMiddleware, AppRouter, AppState, Identity } from './http/context.ts';
import { createCookieKeys } from './http/cookie-keys.ts';
import { answerErrors } from './http/error-middleware.ts';
import { loggedPath } from './http/logged-path.ts';
import { checkOrigin } from './http/origin-check.ts';
import { limitApi, type RateLimits } from './http/rate-limit.ts';
import { requireHttps, securityHeaders } from './http/security-headers.ts';
import { createSessionMiddleware, identifyBySession } from './http/session.ts';
import type { SessionStore } from './http/session-store.ts';
import type { Logger } from './logger.ts';

/** Finds the owner of an access token; null when it is unknown, revoked or expired. */
export type TokenIdentifier = (token: string) => Promise<Identity | null>;

export interface AppDeps {
  readonly config: Config;
  readonly logger: Logger;
  readonly db: Knex;
  readonly sessions: SessionStore;
  readonly limits: RateLimits;
  readonly routers: readonly AppRouter[];
  /** Handles `Authorization: Bearer`; without it such requests count as signed out. */
  readonly identifyToken?: TokenIdentifier;
  /** Serves the built pages; absent in tests and in development, where Vite does. */
  readonly webFiles?: AppMiddleware;
}

export type App = Koa<AppState, Record<never, never>>;

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Creates the Koa application: only the order of the middleware. */
export function createApp(deps: AppDeps): { app: App; sessionMiddleware: AppMiddleware } {
  const { config } = deps;
  const app: App = new Koa<AppState, Record<never, never>>({
    env: config.env,
    proxy: config.trustProxy,
    // Only the proxy next to us is trusted; the client can write the rest of the header.
    maxIpsCount: 1,
  });
  app.keys = createCookieKeys(config.sessionKeys);
  const sessionMiddleware = createSessionMiddleware(app, deps.sessions, config.https);
  app.on('error', (error: unknown) => {
    if (!isGoneClient(error)) deps.logger.error({ err: error }, 'answer failed');
  });

  app.use(begin(deps));
  app.use(securityHeaders(config.publicUrl));
  app.use(answerErrors());
  app.use(requireHttps(config.publicUrl));
  app.use(async (ctx, next) => {
    if (!METHODS.has(ctx.method)) throw new AppError('method_unknown');
    // No text may contain a NUL character (`http/validate.ts`); Postgres would refuse the query.
    if (ctx.url.includes('%00')) throw new AppError('bad_request');
    if (ctx.path.startsWith('/api')) ctx.set('Cache-Control', 'no-store');
    await next();
  });
  app.use(checkOrigin(new URL(config.publicUrl).origin));
  app.use(limitApi(deps.limits, config.https));
  if (deps.webFiles) app.use(deps.webFiles);
  app.use(async (ctx, next) => {
    if (/^\/(api|uploads)\//.test(ctx.path)) await sessionMiddleware(ctx, next);
    else await next();
  });
  for (const router of deps.routers) app.use(router.routes());
  for (const router of deps.routers) {
    app.use(
      router.allowedMethods({
        throw: true,
        methodNotAllowed: () => new AppError('method_not_allowed'),
        notImplemented: () => new AppError('method_unknown'),
      }),
    );
  }
  return { app, sessionMiddleware };
}

/** Gives a request its id, its logger and a way to identify its sender; writes one log line when it ends. */
function begin({ logger, db, identifyToken }: AppDeps): AppMiddleware {
  return async (ctx, next) => {
    const startedAt = performance.now();
    const requestId = randomBytes(9).toString('base64url');
    ctx.set('X-Request-Id', requestId);
    let identity: Promise<Identity | null> | null = null;
    let userId: string | undefined;
    ctx.state.requestId = requestId;
    ctx.state.logger = logger.child({ requestId });
    ctx.state.identify = () => {
      identity ??= identify(ctx, db, identifyToken).then((found) => {
        userId = found?.user.id;
        return found;
      });
      return identity;
    };
    try {
      await next();
    } finally {
      const tookMs = Math.round(performance.now() - startedAt);
      const line = {
        method: ctx.method,
        path: loggedPath(ctx.path),
        status: ctx.status,
        tookMs,
        userId,
        ip: ctx.ip,
      };
      const quiet = ctx.status < 400 && (ctx.method === 'GET' || ctx.method === 'HEAD');
      ctx.state.logger[quiet ? 'debug' : 'info'](line, 'request');
    }
  };
}

async function identify(
  ctx: AppContext,
  db: Knex,
  identifyToken: TokenIdentifier | undefined,
): Promise<Identity | null> {
  // A token is sufficient by itself: the cookie is ignored, so the origin check may let the request pass.
  const token = /^Bearer (\S+)$/.exec(ctx.get('authorization'))?.[1];
  if (ctx.get('authorization').startsWith('Bearer ')) return token ? (identifyToken?.(token) ?? null) : null;
  return identifyBySession(ctx, db);
}

/** Error codes of a connection whose browser has left, even in the middle of an upload. */
const GONE_CODES = new Set([
  'ECONNRESET',
  'EPIPE',
  'ECANCELED',
  'ERR_STREAM_PREMATURE_CLOSE',
  'HPE_INVALID_EOF_STATE',
]);

function isGoneClient(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  return typeof code === 'string' && GONE_CODES.has(code);
}
