import { useAtomValue } from 'jotai';
import { atomWithQuery } from '../query-atoms.ts';
import type { SessionUser } from '#common/api/auth.ts';
import { CURRENT_USER_PATH } from '#common/api/session-path.ts';
import { SESSION_FRESH_MS } from '#common/limits.ts';
import { SESSION_KEY } from '../query-client.ts';
import { absoluteUrl } from '../url.ts';

/** How soon an unreachable server is asked again, in milliseconds. */
const UNREACHABLE_RETRY_MS = 2000;

async function readUser(signal: AbortSignal): Promise<SessionUser | null> {
  const answer = await fetch(absoluteUrl(CURRENT_USER_PATH), { credentials: 'include', signal });
  if (answer.status === 401) return null;
  if (!answer.ok) throw new Error(`${answer.status}: ${answer.statusText}`);
  // Visitors, who are the first to judge how fast a page opens, do without the schema code.
  const [{ parseSession }, body] = await Promise.all([import('./session-body.ts'), answer.json()]);
  return parseSession(body);
}

export const sessionAtom = atomWithQuery(() => ({
  queryKey: SESSION_KEY,
  queryFn: ({ signal }) => readUser(signal),
  staleTime: SESSION_FRESH_MS,
  // Not reaching the server is not being signed out (D-20): ask until it answers.
  refetchInterval: (query) => (query.state.status === 'error' ? UNREACHABLE_RETRY_MS : false),
}));

export type Session =
  | { readonly status: 'loading' | 'unreachable' | 'signed-out'; readonly user: null }
  | { readonly status: 'signed-in'; readonly user: SessionUser };

/** Who is signed in. Without an answer yet: `loading`, or `unreachable` when the server cannot be reached. */
export function useSession(): Session {
  const { data, isError } = useAtomValue(sessionAtom);
  if (data) return { status: 'signed-in', user: data };
  if (data === null) return { status: 'signed-out', user: null };
  return { status: isError ? 'unreachable' : 'loading', user: null };
}
