import type { IncomingMessage } from 'node:http';
import { AppError } from '../errors.ts';
import type { AppMiddleware } from './context.ts';

const READING = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Whether a request comes from our own pages or from a program. Browsers state their site in `Sec-Fetch-Site` on secure
 * origins and in `Origin` with every write and every websocket; a request that names another site is refused. A request
 * that names none comes from a program (curl, a script with a cookie jar): no page can make a browser send one, and
 * even then the SameSite cookie would not be sent. The requested host counts as well as PUBLIC_URL, because people
 * reach one server by several names.
 * @param publicOrigin origin of PUBLIC_URL, e.g. "https://clips.example"
 */
export function isOwnOrigin(request: IncomingMessage, publicOrigin: string): boolean {
  const { origin, referer, host } = request.headers;
  const site = request.headers['sec-fetch-site'];
  if (site === 'same-origin') return true;
  if (site !== undefined && site !== 'none') return false;
  const named = origin ?? referer;
  if (named === undefined) return true;
  const url = parseOrigin(named);
  return url !== null && (url.origin === publicOrigin || url.host === host);
}

function parseOrigin(address: string): URL | null {
  try {
    return new URL(address);
  } catch {
    return null;
  }
}

/**
 * Refuses writes that another site's page sends with the visitor's cookie (403 `forbidden_origin`). Requests with an
 * access token pass, because no browser sends one by itself.
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
