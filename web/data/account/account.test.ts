import { act, renderHook } from '@testing-library/react';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { authApi } from '#common/api/auth.ts';
import { createFrame } from '../../test/render.tsx';
import { on, refusal, server } from '../../test/server.ts';
import { useLogin, useLogout, useRegister, useResendVerification } from './account.ts';

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
