import { http, HttpResponse } from 'msw';
import { setupServer } from 'msw/node';
import type { SessionUser } from '#common/api/auth.ts';
import type { AnyEndpoint } from '#common/api/endpoint.ts';
import { PAGE_SIZE_HEADER } from '#common/api/paging.ts';
import { type ErrorCode, ERRORS } from '#common/errors.ts';

export const user: SessionUser = {
  id: 'user-1',
  username: 'mara-films',
  email: 'mara@example.test',
  plan: 'starter',
  emailVerified: true,
  trialEndsAt: null,
};

/** An error answer as the server writes it. */
export function refusal(code: ErrorCode, message: string = ERRORS[code].message) {
  return HttpResponse.json({ code, message, error: message }, { status: ERRORS[code].status });
}

/** The handler of one endpoint; the answer is made anew for each call. */
export function on(endpoint: AnyEndpoint, answer: (request: Request) => Response | Promise<Response>) {
  const method = endpoint.method.toLowerCase();
  const register = { get: http.get, post: http.post, put: http.put, patch: http.patch, delete: http.delete };
  const add = Object.entries(register).find(([name]) => name === method)?.[1] ?? http.get;
  return add(`*${endpoint.path}`, ({ request }) => answer(request));
}

/** A signed-in person. */
export function signedIn(who: SessionUser = user) {
  return http.get('*/api/auth/user', () => HttpResponse.json({ user: who }));
}

/** A visitor, unless a test says otherwise. */
export const server = setupServer(
  http.get('*/api/auth/user', () => refusal('signed_out')),
  http.get('*/api/dev/outbox', () => refusal('not_found')),
  // Pages do without these counts and hints.
  http.get('*/api/stats', () => refusal('not_found')),
  http.get('*/api/drafts', () => HttpResponse.json([])),
  http.get('*/api/ideas/counts', () => refusal('not_found')),
  http.get('*/api/ideas/similar', () => HttpResponse.json([])),
  http.get('*/api/videos/:id/fixes', () =>
    HttpResponse.json({ run: null, done: [], versions: [], exports: [] }),
  ),
  http.get('*/api/videos/:id/captions/burned', () => HttpResponse.json({ run: null, file: null })),
  http.get('*/api/videos/:id/captions/heard', () =>
    HttpResponse.json({ engine: false, state: 'none', progress: 0, message: null, cues: [] }),
  ),
  http.get('*/api/videos/:id/captions', () =>
    HttpResponse.json({ revision: 0, cues: [], updatedAt: null, speech: [], hasSound: true }),
  ),
  http.get('*/api/notifications', () => HttpResponse.json({ notifications: [], unread: 0 })),
);

/** How many items a list request asks for: in its query, or as our plain first pages do, in a header. */
export function sizeOf(request: Request): number {
  return Number(new URL(request.url).searchParams.get('limit') ?? request.headers.get(PAGE_SIZE_HEADER));
}
