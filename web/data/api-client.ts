import { z } from 'zod';
import { type AnyEndpoint, type Endpoint, buildPath } from '#common/api/endpoint.ts';
import { type ErrorCode, errorBody } from '#common/errors.ts';
import { absoluteUrl } from './url.ts';

/**
 * A refused request. `message` is `{status}: {body text or status text}` (specification section 7); `serverMessage` and
 * `code` are the readable parts of our own error bodies, absent for an answer that is not ours.
 */
export class ApiError extends Error {
  readonly status: number;
  readonly body: string;
  readonly serverMessage: string | undefined;
  readonly code: ErrorCode | undefined;

  constructor(status: number, statusText: string, body: string) {
    super(`${status}: ${body === '' ? statusText : body}`);
    this.name = 'ApiError';
    this.status = status;
    this.body = body;
    const parsed = errorBody.safeParse(parseJson(body));
    const message = looseMessage.safeParse(parseJson(body));
    this.code = parsed.success ? parsed.data.code : undefined;
    this.serverMessage = message.success ? (message.data.message ?? message.data.error) : plainText(body);
  }
}

/**
 * Replaces a 404 by an answer: the requested thing does not exist, or the server supports only what the specification
 * names. Other failures stay failures.
 */
export function whenMissing<Answer>(answer: Answer): (error: unknown) => Answer {
  return (error) => {
    if (error instanceof ApiError && error.status === 404) return answer;
    throw error;
  };
}

/** Replaces an OK answer that lacks what is read from it, where a server may answer anything. */
export function whenUnreadable<Answer>(answer: Answer): (error: unknown) => Answer {
  return (error) => {
    if (error instanceof z.ZodError) return answer;
    throw error;
  };
}

const looseMessage = z.object({ message: z.string().optional(), error: z.string().optional() });

const LONGEST_SENTENCE = 300;

/** A body of plain words counts as the server's message too; an error page of a proxy does not. */
function plainText(body: string): string | undefined {
  const words = body.trim();
  const isSentence = words !== '' && words.length <= LONGEST_SENTENCE && !/^[<{["]/.test(words);
  return isSentence ? words : undefined;
}

/** Parses JSON; undefined for invalid text. */
export function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** The server's own message for a failed call, or undefined when it gave none (including network failures). */
export function serverMessageOf(error: unknown): string | undefined {
  return error instanceof ApiError ? error.serverMessage : undefined;
}

type Part<Name extends string, Schema extends z.ZodType> =
  unknown extends z.input<Schema>
    ? { readonly [K in Name]?: undefined }
    : Record<never, never> extends z.input<Schema>
      ? { readonly [K in Name]?: z.input<Schema> }
      : { readonly [K in Name]: z.input<Schema> };

type CallInput<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType> = Part<'params', P> &
  Part<'query', Q> &
  Part<'body', B> & { readonly signal?: AbortSignal; readonly headers?: Readonly<Record<string, string>> };

interface RawInput {
  readonly params?: unknown;
  readonly query?: unknown;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
}

const textRecord = z.record(z.string(), z.string());
const queryRecord = z.record(z.string(), z.union([z.string(), z.number()]).transform(String).optional());

/**
 * Calls an endpoint with cookies and JSON; the endpoint's schema checks the answer.
 * @throws ApiError for every answer that is not OK; TypeError when the network fails; ZodError for an answer of the
 *   wrong shape.
 */
export function callApi<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, R extends z.ZodType>(
  endpoint: Endpoint<P, Q, B, R>,
  ...input: Record<never, never> extends CallInput<P, Q, B>
    ? [input?: CallInput<P, Q, B>]
    : [input: CallInput<P, Q, B>]
): Promise<z.output<R>>;
export async function callApi(endpoint: AnyEndpoint, input: RawInput = {}): Promise<unknown> {
  return endpoint.response.parse(parseJson(await readBody(await send(endpoint, input))));
}

/**
 * Calls an endpoint whose answer does not matter: any OK answer is a success, whatever its body.
 * @throws ApiError for every answer that is not OK; TypeError when the network fails.
 */
export function tellApi<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, R extends z.ZodType>(
  endpoint: Endpoint<P, Q, B, R>,
  ...input: Record<never, never> extends CallInput<P, Q, B>
    ? [input?: CallInput<P, Q, B>]
    : [input: CallInput<P, Q, B>]
): Promise<void>;
export async function tellApi(endpoint: AnyEndpoint, input: RawInput = {}): Promise<void> {
  await readBody(await send(endpoint, input));
}

async function send(endpoint: AnyEndpoint, input: RawInput): Promise<Response> {
  const path = buildPath(endpoint.path, textRecord.parse(input.params ?? {}));
  const query = queryText(queryRecord.parse(input.query ?? {}));
  return fetch(absoluteUrl(query === '' ? path : `${path}?${query}`), {
    method: endpoint.method,
    credentials: 'include',
    ...(input.signal ? { signal: input.signal } : {}),
    headers: {
      ...(input.body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...input.headers,
    },
    ...(input.body === undefined ? {} : { body: JSON.stringify(input.body) }),
  });
}

function queryText(values: Readonly<Record<string, string | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value !== undefined) query.set(name, value);
  return query.toString();
}

/**
 * Reads the text of an OK answer.
 * @throws ApiError for every other status.
 */
export async function readBody(answer: Response): Promise<string> {
  const body = await answer.text();
  if (!answer.ok) throw new ApiError(answer.status, answer.statusText, body);
  return body;
}
