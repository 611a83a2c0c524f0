import { z } from 'zod';

export { buildPath } from './build-path.ts';

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * One call of the API as an object that router, browser client, tests and API document share. An omitted schema means
 * that the call has no such part, and whatever is sent there is ignored.
 */
export interface Endpoint<
  Params extends z.ZodType = z.ZodUnknown,
  Query extends z.ZodType = z.ZodUnknown,
  Body extends z.ZodType = z.ZodUnknown,
  Response extends z.ZodType = z.ZodUnknown,
> {
  readonly method: HttpMethod;
  /** Path with `:name` parameters, e.g. `/api/videos/:id/status`. */
  readonly path: string;
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  readonly response: Response;
  /** One sentence for the API document. */
  readonly summary: string;
  /** Status of the answer; 200 if omitted. */
  readonly status?: 201;
  /** Largest accepted body, bytes; 64 kB if omitted. */
  readonly maxBodyBytes?: number;
}

/** Any endpoint, for code that treats all of them alike. */
export type AnyEndpoint = Endpoint<z.ZodType, z.ZodType, z.ZodType, z.ZodType>;

/** Keeps the exact schema types of an endpoint object. */
export function defineEndpoint<
  Response extends z.ZodType,
  Params extends z.ZodType = z.ZodUnknown,
  Query extends z.ZodType = z.ZodUnknown,
  Body extends z.ZodType = z.ZodUnknown,
>(endpoint: Endpoint<Params, Query, Body, Response>): Endpoint<Params, Query, Body, Response> {
  return endpoint;
}

/** Ids are opaque: letters, digits, `-` and `_`, so that no id can form a path. */
export const id = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/);
export const idParams = z.object({ id });
export const messageBody = z.object({ message: z.string() });
