import { MutationCache, QueryCache, QueryClient, type QueryKey } from '@tanstack/react-query';
import { buildPath } from '#common/api/build-path.ts';
import { CURRENT_USER_PATH } from '#common/api/session-path.ts';
import { SAFETY_POLL_MS } from '#common/limits.ts';
import { absoluteUrl } from './url.ts';
import type { PushState } from './push/push-state.ts';

/** Parts of an endpoint's path; joined by a slash they give the address again (specification section 7). */
export function queryKeyOf(
  endpoint: { readonly path: string },
  params?: Readonly<Record<string, string>>,
): readonly string[] {
  return buildPath(endpoint.path, params).split('/');
}

/** Query key of the current user. */
export const SESSION_KEY: readonly string[] = CURRENT_USER_PATH.split('/');

/** Refusals within this time after one that reloaded the current user do not reload it again. */
const ASK_AGAIN_MS = 3000;

async function defaultRead({ queryKey }: { queryKey: QueryKey }): Promise<unknown> {
  const { readBody } = await import('./api-client.ts');
  const answer = await fetch(absoluteUrl(queryKey.join('/')), { credentials: 'include' });
  return JSON.parse(await readBody(answer));
}

/**
 * The cache with the specification's rules (section 9): data never becomes stale, no refetch on focus, no interval, no
 * retries. A call that finds the session ended reloads the current user.
 */
export function createQueryClient(): QueryClient {
  let askedAtMs = Number.NEGATIVE_INFINITY;
  const onError = (error: unknown): void => {
    // Recognises an ApiError by its fields, because importing the class would add the schema code to every page.
    if (!(error instanceof Error && 'status' in error && 'code' in error)) return;
    // A wrong password is a 401 too, but says nothing about the session.
    if (error.status !== 401 || error.code === 'invalid_credentials') return;
    // If the answer is that somebody is signed in, refusals and reloads would trigger each other endlessly.
    const nowMs = Date.now();
    if (nowMs - askedAtMs < ASK_AGAIN_MS) return;
    askedAtMs = nowMs;
    void client.invalidateQueries({ queryKey: SESSION_KEY });
  };
  const client = new QueryClient({
    queryCache: new QueryCache({
      onError: (error, query) => {
        if (query.queryHash !== JSON.stringify(SESSION_KEY)) onError(error);
      },
    }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        queryFn: defaultRead,
        staleTime: Number.POSITIVE_INFINITY,
        refetchOnWindowFocus: false,
        refetchOnReconnect: false,
        refetchInterval: false,
        retry: false,
        // A request made offline must fail visibly instead of waiting unnoticed.
        networkMode: 'always',
      },
      mutations: { retry: false, networkMode: 'always' },
    },
  });
  return client;
}

/**
 * Options for data that changes by itself: the specified interval in ms while push is down, one safety read every 30 s
 * while it is healthy, nothing in a hidden tab and one read on return.
 */
export function liveQuery(push: PushState, intervalMs: number) {
  return {
    refetchInterval: push === 'live' ? SAFETY_POLL_MS : intervalMs,
    refetchIntervalInBackground: false,
    refetchOnWindowFocus: 'always',
    meta: { live: true },
  } as const;
}

/** Reads everything again that may have changed unnoticed, e.g. after the socket has connected. */
export function resyncLiveQueries(client: QueryClient): Promise<void> {
  return client.invalidateQueries({ predicate: (query) => query.meta?.['live'] === true });
}
