import { randomBytes } from 'node:crypto';
import helmet from 'koa-helmet';
import { AppError } from '../errors.ts';
import type { AppMiddleware } from './context.ts';
import { isServicePath } from './service-paths.ts';

/**
 * Content security policy of the pages: everything from this server, no inline scripts, nobody may frame
 * them. Style elements that libraries make carry the nonce of the page.
 */
export function pagePolicy(publicUrl: string, nonce: string | null): string {
  const url = new URL(publicUrl);
  const socket = `${url.protocol === 'https:' ? 'wss:' : 'ws:'}//${url.host}`;
  const rules = [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self'${nonce ? ` 'nonce-${nonce}'` : ''}`,
    "img-src 'self' data: blob:",
    "media-src 'self' blob:",
    "font-src 'self'",
    "worker-src 'self' blob:",
    `connect-src 'self' ${socket}`,
    "form-action 'self'",
    "base-uri 'none'",
    "object-src 'none'",
    "frame-ancestors 'none'",
    "manifest-src 'self'",
  ];
  if (url.protocol === 'https:') rules.push('upgrade-insecure-requests');
  return rules.join('; ');
}

export function createNonce(): string {
  return randomBytes(16).toString('base64');
}

/** Headers of every answer; routes that serve media narrow the policy further. */
export function securityHeaders(publicUrl: string): AppMiddleware {
  const https = publicUrl.startsWith('https:');
  const policy = pagePolicy(publicUrl, null);
  const base = helmet({
    contentSecurityPolicy: false,
    crossOriginEmbedderPolicy: false,
    strictTransportSecurity: https ? { maxAge: 31_536_000, includeSubDomains: true } : false,
    referrerPolicy: { policy: 'no-referrer' },
    xFrameOptions: { action: 'deny' },
  });
  return async (ctx, next) => {
    ctx.set('Content-Security-Policy', policy);
    ctx.set('Permissions-Policy', 'camera=(), microphone=(), geolocation=(), browsing-topics=()');
    await base(ctx, next);
  };
}

/**
 * With an https PUBLIC_URL: a page asked for over plain http is redirected, a call is refused, because
 * a silent redirect would have sent its secrets in the open already.
 */
export function requireHttps(publicUrl: string): AppMiddleware {
  const https = publicUrl.startsWith('https:');
  return async (ctx, next) => {
    const probe = ctx.path === '/healthz' || ctx.path === '/readyz';
    if (!https || ctx.secure || probe) return next();
    const page = ctx.method === 'GET' && !isServicePath(ctx.path);
    if (!page) throw new AppError('forbidden_origin', 'Use https for this address.');
    ctx.status = 308;
    ctx.set('Location', publicUrl + ctx.url);
    return undefined;
  };
}
