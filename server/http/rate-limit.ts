import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { AppError } from '../errors.ts';
import { sessionCookieName } from './session.ts';
import type { AppMiddleware } from './context.ts';

/** A number of tries in a span of time, for each key. */
export interface RateLimit {
  /** @throws AppError `rate_limited` with the seconds to wait */
  consume(key: string): Promise<void>;
}

export interface RateLimitRule {
  readonly points: number;
  readonly durationS: number;
}

/** Makes limits that count in this process' memory: several processes allow as many times more. */
export type RateLimits = (rule: RateLimitRule) => RateLimit;

export function createRateLimits(enabled: boolean): RateLimits {
  return ({ points, durationS }) => {
    if (!enabled) return { consume: async () => undefined };
    const limiter = new RateLimiterMemory({ points, duration: durationS });
    return {
      async consume(key) {
        try {
          await limiter.consume(key);
        } catch (error) {
          if (!(error instanceof RateLimiterRes)) throw error;
          const retryAfterSeconds = Math.max(1, Math.ceil(error.msBeforeNext / 1000));
          throw new AppError('rate_limited', undefined, { retryAfterSeconds });
        }
      },
    };
  };
}

/**
 * The wide limit over the API. Three tabs at the specified polling intervals make about 280 requests a
 * minute; a session or an access token gets three times that, a visitor 120, and one address never more
 * than 3000.
 */
export function limitApi(limits: RateLimits, https: boolean): AppMiddleware {
  const perSession = limits({ points: 900, durationS: 60 });
  const perVisitor = limits({ points: 120, durationS: 60 });
  const perAddress = limits({ points: 3000, durationS: 60 });
  const cookie = sessionCookieName(https);
  return async (ctx, next) => {
    if (ctx.path.startsWith('/api/')) {
      const session = ctx.cookies.get(cookie, { signed: true });
      // Whether a token is real is not known yet; made-up ones end at the limit of the address.
      const token = /^Bearer (\S{20,80})$/.exec(ctx.get('authorization'))?.[1];
      const key = token ?? session;
      await perAddress.consume(ctx.ip);
      await (key === undefined ? perVisitor.consume(ctx.ip) : perSession.consume(key));
    }
    await next();
  };
}
