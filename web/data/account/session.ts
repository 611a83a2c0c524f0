import { useAtomValue } from 'jotai';
import { atomWithQuery } from '../query-atoms.ts';
import type { SessionUser } from '#common/api/auth.ts';
import { CURRENT_USER_PATH } from '#common/api/session-path.ts';
import { SESSION_FRESH_MS } from '#common/limits.ts';
import { SESSION_KEY } from '../query-client.ts';
import { absoluteUrl } from '../url.ts';

/** Retry interval while the server is unreachable, ms. */
const UNREACHABLE_RETRY_MS = 2000;

async function readUser(signal: AbortSignal): Promise<SessionUser | null> {
  const answer = await fetch(absoluteUrl(CURRENT_USER_PATH), { credentials: 'include', signal });
  if (answer.status === 401) return null;
  if (!answer.ok) throw new Error(`${answer.status}: ${answer.statusText}`);
  // Visitors load without the schema code, because they judge first how fast a page opens.
  const [{ parseSession }, body] = await Promise.all([import('./session-body.ts'), answer.json()]);
  return parseSession(body);
}

export const sessionAtom = atomWithQuery(() => ({
  queryKey: SESSION_KEY,
  queryFn: ({ signal }) => readUser(signal),
  staleTime: SESSION_FRESH_MS,
  // An unreachable server does not mean signed out, so the request is repeated until it is answered.
  refetchInterval: (query) => (query.state.status === 'error' ? UNREACHABLE_RETRY_MS : false),
}));

export type Session =
  | { readonly status: 'loading' | 'unreachable' | 'signed-out'; readonly user: null }
  | { readonly status: 'signed-in'; readonly user: SessionUser };

/** Who is signed in. Before an answer: `loading`, or `unreachable` when the server cannot be reached. */
export function useSession(): Session {
  const { data, isError } = useAtomValue(sessionAtom);
  if (data) return { status: 'signed-in', user: data };
  if (data === null) return { status: 'signed-out', user: null };
  return { status: isError ? 'unreachable' : 'loading', user: null };
}
