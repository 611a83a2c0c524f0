import { randomBytes } from 'node:crypto';
import { test as base, expect, type Page } from 'playwright/test';
import { createServerProcess, type ServerProcess } from './server-process.ts';

export interface Account {
  readonly username: string;
  readonly email: string;
  readonly password: string;
}

interface TestFixtures {
  /** A verified account, signed in in this test's browser. */
  account: Account;
}
interface WorkerFixtures {
  server: ServerProcess;
}

/** A new name each time, so that tests share a server without meeting each other. */
export function newAccount(): Account {
  const username = `e2e-${randomBytes(5).toString('hex')}`;
  return { username, email: `${username}@example.test`, password: 'Mended-Clip-42' };
}

/** Registers and verifies through the API; signs the page's browser in. */
export async function signIn(page: Page, server: ServerProcess, account: Account): Promise<void> {
  const headers = { origin: server.baseUrl };
  const { username, email, password } = account;
  const registered = await page.request.post('/api/auth/register', {
    headers,
    data: { username, email, password },
  });
  expect(registered.ok(), await registered.text()).toBe(true);
  const link = verificationLink(await server.mailTo(email));
  const token = new URL(link).searchParams.get('token') ?? '';
  const verified = await page.request.get(`/api/auth/verify-email?token=${token}`);
  expect(verified.ok(), await verified.text()).toBe(true);
  const login = await page.request.post('/api/auth/login', { headers, data: { username, password } });
  expect(login.ok(), await login.text()).toBe(true);
}

/** The link of a verification mail. */
export function verificationLink(mail: string): string {
  const link = /https?:\/\/\S+\/verify-email\?token=[A-Za-z0-9_-]+/.exec(mail)?.[0];
  if (!link) throw new Error(`No verification link in:\n${mail}`);
  return link;
}

export const test = base.extend<TestFixtures, WorkerFixtures>({
  server: [
    async ({}, use) => {
      const server = await createServerProcess();
      await server.start();
      await use(server);
      await server.stop();
    },
    { scope: 'worker' },
  ],
  baseURL: async ({ server }, use) => {
    await use(server.baseUrl);
  },
  account: async ({ page, server }, use) => {
    const account = newAccount();
    await signIn(page, server, account);
    await use(account);
  },
});

export { expect };
