import type { z } from 'zod';
import { buildPath, type Endpoint } from '#common/api/endpoint.ts';

export interface Answer<Body> {
  readonly status: number;
  readonly headers: Headers;
  /** The body parsed by the endpoint's schema; null for a refusal. */
  readonly body: Body | null;
  /** The body as received, parsed when it is JSON. */
  readonly raw: unknown;
}

export interface CallInput {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A browser as far as the server can tell: keeps cookies and sends its origin. */
export interface TestClient {
  readonly baseUrl: string;
  call<R extends z.ZodType>(
    endpoint: Endpoint<z.ZodType, z.ZodType, z.ZodType, R>,
    input?: CallInput,
  ): Promise<Answer<z.output<R>>>;
  /** Any request to a path, with cookies and origin. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** The `Cookie` header it would send. */
  cookies(): string;
  setCookie(name: string, value: string): void;
}

/** A client without a session. */
export function createTestClient(baseUrl: string): TestClient {
  const jar = new Map<string, string>();
  const cookies = () => [...jar].map(([name, value]) => `${name}=${value}`).join('; ');

  async function send(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    if (!headers.has('origin')) headers.set('origin', baseUrl);
    if (jar.size > 0 && !headers.has('cookie')) headers.set('cookie', cookies());
    const response = await fetch(new URL(path, baseUrl), { redirect: 'manual', ...init, headers });
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (name === undefined || value === undefined) continue;
      if (value === '' || /expires=Thu, 01 Jan 1970/i.test(line)) jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  }

  return {
    baseUrl,
    cookies,
    fetch: send,
    setCookie: (name, value) => void jar.set(name, value),
    async call(endpoint, { params, query, body, headers } = {}) {
      const search = query ? `?${new URLSearchParams(query).toString()}` : '';
      const response = await send(buildPath(endpoint.path, params) + search, {
        method: endpoint.method,
        headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      const raw = parseJson(text);
      return {
        status: response.status,
        headers: response.headers,
        raw,
        body: response.ok ? endpoint.response.parse(raw) : null,
      };
    },
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
