import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { AppError } from '../errors.ts';
import { sessionCookieName } from './session.ts';
import type { AppMiddleware } from './context.ts';

/** A number of tries in a span of time, per key. */
export interface RateLimit {
  /** @throws AppError `rate_limited` with the seconds to wait */
  consume(key: string): Promise<void>;
  /** Gives one try back: it was a good one, and only bad ones are limited. */
  giveBack(key: string): Promise<void>;
}

export interface RateLimitRule {
  readonly points: number;
  readonly durationS: number;
}

/** Creates limits that count in this process's memory, so several processes together allow several times as many. */
export type RateLimits = (rule: RateLimitRule) => RateLimit;

export function createRateLimits(enabled: boolean): RateLimits {
  return ({ points, durationS }) => {
    if (!enabled) return { consume: async () => undefined, giveBack: async () => undefined };
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
      async giveBack(key) {
        await limiter.reward(key);
      },
    };
  };
}

/**
 * The key of an address for limits. A line or a rented machine has a whole /64 of IPv6 (RFC 6177), and each address in
 * it would otherwise get fresh tries.
 */
export function senderOf({ ip }: { readonly ip: string }): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip)?.[1];
  if (mapped !== undefined) return mapped;
  if (!ip.includes(':')) return ip;
  const [head = '', tail] = (ip.split('%')[0] ?? '').split('::');
  const groups = (part: string) => (part === '' ? [] : part.split(':'));
  const [left, right] = [groups(head), groups(tail ?? '')];
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length);
  const all = [...left, ...Array.from({ length: zeros }, () => '0'), ...right];
  const network = all.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `${network.join(':')}::/64`;
}

/**
 * The wide limit over the API. Three tabs at the specified polling intervals make about 280 requests a minute; a
 * session or an access token gets three times that. All visitors from one address together get as many as well, because
 * a school or an office has a single one. No address ever gets more than 3000.
 */
export function limitApi(limits: RateLimits, https: boolean): AppMiddleware {
  const perSession = limits({ points: 900, durationS: 60 });
  const perVisitors = limits({ points: 900, durationS: 60 });
  const perAddress = limits({ points: 3000, durationS: 60 });
  const cookie = sessionCookieName(https);
  return async (ctx, next) => {
    if (ctx.path.startsWith('/api/')) {
      const session = ctx.cookies.get(cookie, { signed: true });
      // It is not yet known whether a token is real; made-up ones are stopped by the limit of the address.
      const token = /^Bearer (\S{20,80})$/.exec(ctx.get('authorization'))?.[1];
      const key = token ?? session;
      const sender = senderOf(ctx);
      await perAddress.consume(sender);
      await (key === undefined ? perVisitors.consume(sender) : perSession.consume(key));
    }
    await next();
  };
}
