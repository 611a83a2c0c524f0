import { act, renderHook, waitFor } from '@testing-library/react';
import { HttpResponse } from 'msw';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { authApi } from '#common/api/auth.ts';
import { createFrame } from '../../test/render.tsx';
import { on, refusal, server, signedIn, user } from '../../test/server.ts';
import { SESSION_KEY } from '../query-client.ts';
import { useLogin, useLogout, useRegister, useResendVerification } from './account.ts';
import { SESSION_CHANGE_KEY, useOtherTabs } from './other-tabs.ts';
import { useSession } from './session.ts';

beforeEach(() => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
});

function useAll() {
  return { login: useLogin(), register: useRegister(), resend: useResendVerification(), logout: useLogout() };
}

describe('failures of the account', () => {
  it('are also written to the console, without what was typed', async () => {
    server.use(
      ...[authApi.login, authApi.register, authApi.resendVerification, authApi.logout].map((endpoint) =>
        on(endpoint, () => refusal('rate_limited')),
      ),
    );
    const { result } = renderHook(useAll, { wrapper: createFrame().wrapper });
    const { login, register, resend, logout } = result.current;
    const secret = 'Mended-42x';
    const calls = [
      () => login.mutateAsync({ username: 'mara', password: secret }),
      () => register.mutateAsync({ username: 'mara', email: 'mara@example.test', password: secret }),
      () => resend.mutateAsync('mara@example.test'),
      () => logout.mutateAsync(),
    ];
    for (const call of calls) await act(async () => expect(call()).rejects.toThrow(/^429/));
    const lines = vi.mocked(console.error).mock.calls.map((line) => line.map(String).join(' '));
    expect(lines.map((line) => line.split(':')[0])).toEqual([
      'Login failed',
      'Registration failed',
      'Resending the verification email failed',
      'Logout failed',
    ]);
    expect(lines.join('\n')).not.toContain(secret);
  });
});

describe('the tabs of one browser', () => {
  it('are told when somebody signs in or out', async () => {
    server.use(
      signedIn(user),
      on(authApi.login, () => HttpResponse.json({ user })),
      on(authApi.logout, () => HttpResponse.json({ message: 'done' })),
    );
    const told = vi.spyOn(Storage.prototype, 'setItem');
    const { result } = renderHook(useAll, { wrapper: createFrame().wrapper });
    await act(async () => void (await result.current.login.mutateAsync({ username: 'mara', password: 'x' })));
    expect(told).toHaveBeenCalledTimes(1);
    await act(async () => void (await result.current.logout.mutateAsync()));
    expect(told.mock.calls.map(([key]) => key)).toEqual([SESSION_CHANGE_KEY, SESSION_CHANGE_KEY]);
  });

  it('ask again who is signed in when another one tells them', async () => {
    server.use(signedIn(user));
    const { client, wrapper } = createFrame();
    client.setQueryData(SESSION_KEY, null);
    const { result } = renderHook(() => (useOtherTabs(), useSession()), { wrapper });
    expect(result.current.status).toBe('signed-out');
    act(() => void window.dispatchEvent(new StorageEvent('storage', { key: 'reelmend-theme' })));
    expect(client.isFetching()).toBe(0);
    act(() => void window.dispatchEvent(new StorageEvent('storage', { key: SESSION_CHANGE_KEY })));
    await waitFor(() => expect(result.current.status).toBe('signed-in'));
  });
});
