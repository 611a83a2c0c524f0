import { randomBytes } from 'node:crypto';
import type Koa from 'koa';
import koaSession from 'koa-session';
import type { Knex } from 'knex';
import { z } from 'zod';
import { User } from '#db/models/user.ts';
import { AppError } from '../errors.ts';
import type { AppContext, AppMiddleware, AppState, Identity } from './context.ts';
import { hashSessionId, SESSION_ABSOLUTE_MS, type SessionStore } from './session-store.ts';

/** Name of the cookie; the `__Host-` prefix makes browsers insist on https, path `/` and no domain. */
export function sessionCookieName(https: boolean): string {
  return https ? '__Host-sid' : 'sid';
}

const storedSession = z.object({ userId: z.string() });

/**
 * koa-session over our own table. Its `set` never makes a row. The only insert is the login's, marked by
 * `ctx.state.openSession`, so that neither a stale cookie nor a late answer can create a session.
 */
export function createSessionMiddleware(
  app: Koa<AppState, Record<never, never>>,
  store: SessionStore,
  https: boolean,
): AppMiddleware {
  return koaSession(
    {
      key: sessionCookieName(https),
      maxAge: SESSION_ABSOLUTE_MS,
      httpOnly: true,
      sameSite: 'lax',
      secure: https,
      signed: true,
      rolling: false,
      renew: false,
      genid: () => randomBytes(32).toString('base64url'),
      store: {
        async get(key) {
          const found = await store.find(key);
          return found ? { userId: found.userId } : undefined;
        },
        async set(key, value: unknown, _maxAge, options) {
          const ctx: AppContext = options.ctx;
          const session = storedSession.safeParse(value);
          if (!session.success || !ctx.state.openSession) return;
          const { passwordHash } = ctx.state.openSession;
          delete ctx.state.openSession;
          if (!(await store.open(key, session.data.userId, passwordHash)))
            throw new AppError('invalid_credentials');
        },
        destroy: (key) => store.end(key),
      },
    },
    app,
  );
}

interface LiveSession {
  userId?: unknown;
  externalKey?: unknown;
  regenerate(): Promise<void>;
}

function isLiveSession(value: unknown): value is LiveSession {
  return typeof value === 'object' && value !== null && 'regenerate' in value;
}

function liveSession(ctx: AppContext): LiveSession | null {
  return 'session' in ctx && isLiveSession(ctx.session) ? ctx.session : null;
}

/**
 * Signs a person in on this browser: an earlier session of the cookie ends, and a new id is given.
 * @param user the row against which the password was checked
 * @throws AppError `invalid_credentials` when the password was changed meanwhile
 */
export async function openSession(
  ctx: AppContext,
  user: { readonly id: string; readonly passwordHash: string },
): Promise<void> {
  const session = liveSession(ctx);
  if (!session) throw new AppError('internal');
  session.userId = user.id;
  ctx.state.openSession = { passwordHash: user.passwordHash };
  await session.regenerate();
}

/** Signs this browser out; the row goes and the cookie is emptied with the answer. */
export function closeSession(ctx: AppContext): void {
  Reflect.set(ctx, 'session', null);
}

/** Finds the person of the session cookie; runs after the session middleware. */
export async function identifyBySession(ctx: AppContext, db: Knex): Promise<Identity | null> {
  const session = liveSession(ctx);
  if (!session || typeof session.userId !== 'string' || typeof session.externalKey !== 'string') return null;
  const user = await User.query(db).findById(session.userId);
  return user ? { user, sessionHash: hashSessionId(session.externalKey), scopes: null } : null;
}
