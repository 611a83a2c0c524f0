import type { IncomingMessage } from 'node:http';
import { AppError } from '../errors.ts';
import type { AppMiddleware } from './context.ts';

const READING = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Whether a request comes from our own pages. Browsers state it in `Sec-Fetch-Site` on secure origins and
 * in `Origin` with every write; a program that sends neither is trusted only when it also sends no cookie,
 * because then it cannot act for anybody. The own host counts as well as PUBLIC_URL: people reach one
 * server by several names.
 * @param publicOrigin origin of PUBLIC_URL, e.g. "https://clips.example"
 */
export function isOwnOrigin(request: IncomingMessage, publicOrigin: string): boolean {
  const site = request.headers['sec-fetch-site'];
  const origin = request.headers.origin;
  if (site === 'same-origin') return true;
  if (site !== undefined && site !== 'none') return false;
  if (origin !== undefined) return origin === publicOrigin || originHost(origin) === request.headers.host;
  return request.headers.cookie === undefined;
}

function originHost(origin: string): string | null {
  try {
    return new URL(origin).host;
  } catch {
    return null;
  }
}

/**
 * Refuses writes that another site's page sends with the visitor's cookie (403 `forbidden_origin`).
 * Requests with an access token pass: no browser sends one by itself.
 */
export function checkOrigin(publicOrigin: string): AppMiddleware {
  return async (ctx, next) => {
    const byToken = ctx.get('authorization').startsWith('Bearer ') && ctx.path.startsWith('/api/');
    if (!READING.has(ctx.method) && !byToken && !isOwnOrigin(ctx.req, publicOrigin)) {
      throw new AppError('forbidden_origin');
    }
    await next();
  };
}
