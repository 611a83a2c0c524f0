import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useAtomValue } from 'jotai';
import { atomWithQuery } from 'jotai-tanstack-query';
import { authApi, type SessionUser } from '#common/api/auth.ts';
import { SESSION_FRESH_MS } from '#common/limits.ts';
import { ApiError, callApi } from './api-client.ts';
import { queryKeyOf } from './query-client.ts';

const SESSION_KEY = queryKeyOf(authApi.currentUser);
/** How soon an unreachable server is asked again, in milliseconds. */
const UNREACHABLE_RETRY_MS = 2000;

async function readUser(signal: AbortSignal): Promise<SessionUser | null> {
  try {
    return (await callApi(authApi.currentUser, { signal })).user;
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return null;
    throw error;
  }
}

export const sessionAtom = atomWithQuery(() => ({
  queryKey: SESSION_KEY,
  queryFn: ({ signal }) => readUser(signal),
  staleTime: SESSION_FRESH_MS,
  // Not reaching the server is not being signed out (D-20): ask until it answers.
  refetchInterval: (query) => (query.state.status === 'error' ? UNREACHABLE_RETRY_MS : false),
}));

// The error catalogue (specification section 8) wants these four failures on the console as well.
function logFailure(what: string, error: unknown): void {
  // oxlint-disable-next-line no-console
  console.error(what, error);
}

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

/** Signs in; the cached user is set at once and then read again (specification section 4). */
export function useLogin() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: { username: string; password: string }) => callApi(authApi.login, { body }),
    onSuccess: async ({ user }) => {
      client.setQueryData(SESSION_KEY, user);
      await client.invalidateQueries({ queryKey: SESSION_KEY });
    },
    onError: (error) => logFailure('Login failed:', error),
  });
}

/** Signs out; the cached user and all cached data are dropped. */
export function useLogout() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => callApi(authApi.logout),
    onSuccess: () => {
      client.setQueryData(SESSION_KEY, null);
      client.removeQueries({ predicate: (query) => query.queryHash !== JSON.stringify(SESSION_KEY) });
    },
    onError: (error) => logFailure('Logout failed:', error),
  });
}

export function useRegister() {
  return useMutation({
    mutationFn: (body: { username: string; email: string; password: string }) =>
      callApi(authApi.register, { body }),
    onError: (error) => logFailure('Registration failed:', error),
  });
}

/** Mails the verification link again; the field takes an email or a user name (D-17). */
export function useResendVerification() {
  return useMutation({
    mutationFn: (email: string) => callApi(authApi.resendVerification, { body: { email } }),
    onError: (error) => logFailure('Resending the verification email failed:', error),
  });
}

export function useForgotPassword() {
  return useMutation({
    mutationFn: (email: string) => callApi(authApi.forgotPassword, { body: { email } }),
  });
}

export function useResetPassword() {
  return useMutation({
    mutationFn: (body: { token: string; password: string }) => callApi(authApi.resetPassword, { body }),
  });
}

/** Verifies a mailed token by the page's own call (D-25). */
export function useVerifyEmail() {
  return useMutation({
    mutationFn: (token: string) => callApi(authApi.verifyEmail, { query: { token } }),
  });
}
