import { useMutation, useQueryClient } from '@tanstack/react-query';
import { authApi } from '#common/api/auth.ts';
import { callApi, tellApi, whenUnreadable } from '../api-client.ts';
import { useForgetIdeaDraft } from '../ideas/idea-draft.ts';
import { SESSION_KEY } from '../query-client.ts';
import { useEndSession } from './end-session.ts';
import { tellOtherTabs } from './other-tabs.ts';

// The error catalogue (specification section 8) requires these four failures on the console as well.
function logFailure(what: string, error: unknown): void {
  // oxlint-disable-next-line no-console
  console.error(what, error);
}

/** Signs in; the cached user is set at once and then read again (specification section 4). */
export function useLogin() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: { username: string; password: string }) => callApi(authApi.login, { body }),
    onSuccess: async ({ user }) => {
      client.setQueryData(SESSION_KEY, user);
      tellOtherTabs();
      await client.invalidateQueries({ queryKey: SESSION_KEY });
    },
    onError: (error) => logFailure('Login failed:', error),
  });
}

/** Signs out; the cached user and all cached data are dropped. */
export function useLogout() {
  const endSession = useEndSession();
  const forgetIdea = useForgetIdeaDraft();
  return useMutation({
    mutationFn: () => tellApi(authApi.logout),
    onSuccess: () => {
      endSession();
      forgetIdea();
    },
    onError: (error) => logFailure('Logout failed:', error),
  });
}

export function useRegister() {
  return useMutation({
    mutationFn: (body: { username: string; email: string; password: string }) =>
      callApi(authApi.register, { body }).catch(whenUnreadable({ message: '', emailVerified: false })),
    onError: (error) => logFailure('Registration failed:', error),
  });
}

/** Mails the verification link again; the field takes an email or a user name. */
export function useResendVerification() {
  return useMutation({
    mutationFn: (email: string) => tellApi(authApi.resendVerification, { body: { email } }),
    onError: (error) => logFailure('Resending the verification email failed:', error),
  });
}

export function useForgotPassword() {
  return useMutation({
    mutationFn: (email: string) => tellApi(authApi.forgotPassword, { body: { email } }),
  });
}

export function useResetPassword() {
  return useMutation({
    mutationFn: (body: { token: string; password: string }) => tellApi(authApi.resetPassword, { body }),
  });
}

/** Verifies a mailed token by a call from the page. */
export function useVerifyEmail() {
  return useMutation({
    mutationFn: (token: string) => tellApi(authApi.verifyEmail, { query: { token } }),
  });
}
