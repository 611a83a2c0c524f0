import { HttpMethodEnum, koaBody } from 'koa-body';
import type { z } from 'zod';
import type { Endpoint } from '#common/api/endpoint.ts';
import { AppError, notFound } from '../errors.ts';
import { within } from '../within.ts';
import type { AppRouterContext } from './context.ts';

/** Values of a request after validation by its endpoint's schemas; `unknown` where the endpoint has no such part. */
export interface Input<Params extends z.ZodType, Query extends z.ZodType, Body extends z.ZodType> {
  readonly params: z.output<Params>;
  readonly query: z.output<Query>;
  readonly body: z.output<Body>;
}

const MOST_BODY_BYTES = 64 * 1024;

/**
 * How long a body may take to arrive, ms, and how many bytes a second it must bring beyond that where larger bodies are
 * allowed. Files are uploaded elsewhere, without this limit.
 */
const BODY_DEADLINE_MS = 30_000;
const LEAST_BYTES_PER_SECOND = 4096;

const jsonReader = (maxBytes: number) =>
  koaBody({
    json: true,
    jsonLimit: maxBytes,
    urlencoded: false,
    text: false,
    multipart: false,
    parsedMethods: [HttpMethodEnum.POST, HttpMethodEnum.PUT, HttpMethodEnum.PATCH, HttpMethodEnum.DELETE],
  });

const readJson = jsonReader(MOST_BODY_BYTES);

/**
 * Reads and checks all parts of a request.
 * @throws AppError `not_found` for an id that cannot exist, `invalid_input` with field messages,
 * `unsupported_type` for a body that is not JSON
 */
export async function readInput<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType>(
  endpoint: Endpoint<P, Q, B, z.ZodType>,
  ctx: AppRouterContext,
): Promise<Input<P, Q, B>>;
export async function readInput(
  endpoint: Endpoint<z.ZodType, z.ZodType, z.ZodType, z.ZodType>,
  ctx: AppRouterContext,
): Promise<Input<z.ZodType, z.ZodType, z.ZodType>> {
  const params = endpoint.params?.safeParse(ctx.params);
  if (params && !params.success) throw notFound();
  const query = endpoint.query ? check(endpoint.query, { ...ctx.query }) : undefined;
  const body = endpoint.body ? check(endpoint.body, await readBody(ctx, endpoint.maxBodyBytes)) : undefined;
  return { params: params?.data, query, body };
}

/** @throws AppError `invalid_input`: its message is the first field's */
export function check<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const fields: Record<string, string> = {};
  for (const issue of parsed.error.issues) fields[issue.path.join('.')] ??= issue.message;
  throw new AppError('invalid_input', parsed.error.issues[0]?.message, { fields });
}

async function readBody(ctx: AppRouterContext, maxBytes: number | undefined): Promise<unknown> {
  const sent = ctx.get('content-length') !== '0' && (ctx.request.length !== undefined || isChunked(ctx));
  if (!sent) return undefined;
  if (!ctx.is('json')) throw new AppError('unsupported_type', 'Send the body as application/json.');
  const read = maxBytes === undefined ? readJson : jsonReader(maxBytes);
  await withinDeadline(
    ctx,
    read(ctx, async () => undefined),
    deadlineFor(maxBytes ?? MOST_BODY_BYTES),
  );
  if (holdsNul(ctx.request.body)) {
    throw new AppError('invalid_input', 'Texts cannot hold the character U+0000.');
  }
  return ctx.request.body;
}

const deadlineFor = (maxBytes: number) =>
  BODY_DEADLINE_MS + ((maxBytes - MOST_BODY_BYTES) * 1000) / LEAST_BYTES_PER_SECOND;

/**
 * Waits for a body no longer than its time. A trickling body would otherwise hold its connection for ever, because
 * every byte is a sign of life.
 * @throws AppError `too_slow`; the connection ends with the answer
 */
export async function withinDeadline(
  { req, res }: Pick<AppRouterContext, 'req' | 'res'>,
  reading: Promise<unknown>,
  deadlineMs: number,
): Promise<void> {
  // What still arrives after the answer is ignored.
  reading.catch(() => undefined);
  await within(reading, deadlineMs, () => {
    res.setHeader('Connection', 'close');
    res.once('finish', () => req.destroy());
    return new AppError('too_slow');
  });
}

/**
 * Postgres refuses a text with a NUL character and SQLite keeps it, so neither gets one. Without recursion, for deeply
 * nested bodies.
 */
function holdsNul(body: unknown): boolean {
  const waiting: unknown[] = [body];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value === 'string' && value.includes('\0')) return true;
    if (typeof value === 'object' && value !== null)
      for (const part of Object.values(value)) waiting.push(part);
  }
  return false;
}

function isChunked(ctx: AppRouterContext): boolean {
  return ctx.get('transfer-encoding') !== '';
}

/** Outside production: a response that does not fit its schema is a programming error and must be noticed. */
export function checkResponse(endpoint: Endpoint<z.ZodType, z.ZodType, z.ZodType, z.ZodType>, body: unknown) {
  const parsed = endpoint.response.safeParse(body);
  if (parsed.success) return;
  throw new Error(
    `${endpoint.method} ${endpoint.path} answers what its schema refuses: ${parsed.error.message}`,
  );
}
