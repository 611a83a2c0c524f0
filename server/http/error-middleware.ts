import { ERRORS, type ErrorBody, type ErrorCode } from '#common/errors.ts';
import { AppError } from '../errors.ts';
import type { AppContext, AppMiddleware } from './context.ts';
import { loggedPath } from './logged-path.ts';

/**
 * Turns everything thrown by later middleware into a status and an error body; the only place that does.
 * Expected errors keep their text; all others say only "Something went wrong." and are logged.
 */
export function answerErrors(): AppMiddleware {
  return async (ctx, next) => {
    try {
      await next();
      if (ctx.status === 404 && ctx.body === undefined) throw new AppError('not_found');
    } catch (error) {
      const known = toAppError(error);
      if (known.status >= 500) ctx.state.logger.error({ err: error }, 'request failed');
      else if (AUDITED.has(known.code)) audit(ctx, known.code);
      writeError(ctx, known);
    }
  };
}

// Refusals that an operator wants to see as separate events.
const AUDITED = new Set<ErrorCode>([
  'invalid_credentials',
  'email_not_verified',
  'forbidden_origin',
  'plan_required',
  'quota_reached',
  'rate_limited',
  'unsupported_type',
]);

function audit(ctx: AppContext, code: ErrorCode): void {
  ctx.state.logger.warn(
    { event: 'refused', code, method: ctx.method, path: loggedPath(ctx.path), ip: ctx.ip },
    'refused',
  );
}

// Headers that a handler set for an answer which then failed. If kept, an error would be cached like a permanent file,
// taken for compressed data, or saved as a download.
const ABOUT_THE_ANSWER = [
  'Accept-Ranges',
  'Content-Disposition',
  'Content-Encoding',
  'Content-Range',
  'ETag',
  'Repr-Digest',
  'X-Content-SHA256',
];

/** Removes the headers of an answer that failed; the error sent instead is never cached. */
export function forgetAnswer(ctx: AppContext): void {
  for (const header of ABOUT_THE_ANSWER) ctx.remove(header);
  ctx.set('Cache-Control', 'no-store');
}

function writeError(ctx: AppContext, error: AppError): void {
  forgetAnswer(ctx);
  const body: ErrorBody = {
    code: error.code,
    message: error.message,
    error: error.message,
    ...(error.fields ? { fields: { ...error.fields } } : {}),
    requestId: ctx.state.requestId,
  };
  ctx.status = error.status;
  if (error.retryAfterSeconds !== null) ctx.set('Retry-After', String(error.retryAfterSeconds));
  ctx.body = body;
  ctx.type = 'application/json; charset=utf-8';
}

const BY_STATUS: Readonly<Record<number, { code: ErrorCode; message?: string }>> = {
  400: { code: 'bad_request' },
  404: { code: 'not_found' },
  405: { code: 'method_not_allowed' },
  413: { code: 'too_large', message: 'The request is too large.' },
  415: { code: 'unsupported_type' },
  501: { code: 'method_unknown' },
};

const DATABASE_AWAY = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'ETIMEDOUT',
  'EPIPE',
  'SQLITE_BUSY',
  'SQLITE_FULL',
]);
// SQLSTATE classes of Postgres: connection lost, out of resources, shut down by an operator, not accepting connections.
const POSTGRES_AWAY = /^(08...|53...|57P0.|55000)$/;
// The client has no code for a connection that ended during a query, or before one that it was given to.
const POSTGRES_LOST = /Connection terminated|is not queryable/;

/** The expected error that corresponds to anything thrown. */
function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const { status, code, name, message } = describe(error);
  const away =
    name === 'KnexTimeoutError' ||
    (code !== null && (DATABASE_AWAY.has(code) || POSTGRES_AWAY.test(code))) ||
    POSTGRES_LOST.test(message);
  if (away) return new AppError('unavailable', undefined, { retryAfterSeconds: 5 });
  // The body is not compressed as its header says.
  if (code?.startsWith('Z_') === true) return new AppError('bad_request');
  const known = status === null ? undefined : BY_STATUS[status];
  if (known) return new AppError(known.code, known.message);
  return new AppError('internal', ERRORS.internal.message);
}

function describe(error: unknown) {
  const isObject = typeof error === 'object' && error !== null;
  const status = isObject && 'status' in error && typeof error.status === 'number' ? error.status : null;
  const own = isObject && 'code' in error ? error.code : null;
  const native = isObject && 'nativeError' in error ? error.nativeError : null;
  const deep = typeof native === 'object' && native !== null && 'code' in native ? native.code : null;
  const code = typeof own === 'string' ? own : typeof deep === 'string' ? deep : null;
  const name = error instanceof Error ? error.name : '';
  return { status, code, name, message: error instanceof Error ? error.message : '' };
}
