import { describe, expect, it } from 'vitest';
import { loginBody, registerBody, registerForm } from './auth.ts';

const good = { username: 'a-b_1', email: 'ann@example.test', password: 'Abcdefg1' };

function messages(result: { success: boolean; error?: { issues: { message: string }[] } }): string[] {
  return result.error?.issues.map((issue) => issue.message) ?? [];
}

describe('registration rules', () => {
  it('accept a valid account', () => expect(registerBody.safeParse(good).success).toBe(true));

  it.each([
    ['ab', 'Username must be at least 3 characters'],
    ['a'.repeat(21), 'Username must be less than 20 characters'],
    ['a b', 'Username can only contain letters, numbers, hyphens, and underscores'],
    ['a.b', 'Username can only contain letters, numbers, hyphens, and underscores'],
  ])('refuse the username %s', (username, message) => {
    expect(messages(registerBody.safeParse({ ...good, username }))).toContain(message);
  });

  it.each(['abc', 'a'.repeat(20)])('accept the username %s', (username) => {
    expect(registerBody.safeParse({ ...good, username }).success).toBe(true);
  });

  it('distinguish an empty from a malformed address', () => {
    expect(messages(registerBody.safeParse({ ...good, email: '' }))[0]).toBe('Email is required');
    expect(messages(registerBody.safeParse({ ...good, email: 'nobody' }))[0]).toBe(
      'Please enter a valid email address',
    );
  });

  it('require a length and a composition of the password', () => {
    expect(messages(registerBody.safeParse({ ...good, password: 'Abcdef1' }))[0]).toBe(
      'Password must be at least 8 characters',
    );
    for (const password of ['abcdefg1', 'ABCDEFG1', 'Abcdefgh']) {
      expect(messages(registerBody.safeParse({ ...good, password }))).toContain(
        'Password must contain at least one lowercase letter, one uppercase letter, and one number',
      );
    }
  });

  it('compare the repeated password', () => {
    expect(messages(registerForm.safeParse({ ...good, confirmPassword: '' }))).toContain(
      'Please confirm your password',
    );
    expect(messages(registerForm.safeParse({ ...good, confirmPassword: 'Abcdefg2' }))).toContain(
      "Passwords don't match",
    );
    expect(registerForm.safeParse({ ...good, confirmPassword: good.password }).success).toBe(true);
  });

  it('drop fields that nobody may set', () => {
    expect(registerBody.parse({ ...good, plan: 'business', id: 'x' })).toEqual(good);
  });
});

describe('login rules', () => {
  it('name the empty field', () => {
    expect(messages(loginBody.safeParse({ username: '', password: '' }))).toEqual([
      'Username or email is required',
      'Password is required',
    ]);
  });
});

describe('messages of the forms', () => {
  const generic =
    /^(Required|Expected .*, received .*|Invalid input.*|Too (big|small).*|Invalid (string|email).*)$/;

  it.each([
    ['signing in', loginBody, ['username', 'password']],
    ['registering', registerForm, ['username', 'email', 'password', 'confirmPassword']],
  ] as const)('are never generic when %s', (_what, form, fields) => {
    const filled: Record<string, unknown> = { ...good, confirmPassword: good.password };
    expect(form.safeParse(filled).success).toBe(true);
    for (const field of fields)
      for (const wrong of [undefined, null, 7, true, [], {}, '', ' ', 'x'.repeat(5000)]) {
        const found = messages(form.safeParse({ ...filled, [field]: wrong }));
        expect(
          found.filter((message) => generic.test(message)),
          `${field}: ${String(wrong)}`,
        ).toEqual([]);
      }
  });
});
