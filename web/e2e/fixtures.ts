import { randomBytes } from 'node:crypto';
import { test as base, expect, type Page } from 'playwright/test';
import { askForSample, expectMended } from './api-steps.ts';
import { fillAccount } from './shelf.ts';
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
  /** An account in use, made once: a mended clip, others beside it, a backup, ideas. Tests only look at it. */
  filled: { readonly account: Account; readonly videoId: string };
}

/** A new name each time, so that tests share a server without meeting each other. */
export function newAccount(): Account {
  const username = `e2e-${randomBytes(5).toString('hex')}`;
  return { username, email: `${username}@example.test`, password: 'Mended-Clip-42' };
}

type Browsing = Pick<Page, 'request'>;

/** Signs the page's browser in, through the API. */
export async function logIn(page: Browsing, server: ServerProcess, account: Account): Promise<void> {
  const { username, password } = account;
  const login = await page.request.post('/api/auth/login', {
    headers: { origin: server.baseUrl },
    data: { username, password },
  });
  expect(login.ok(), await login.text()).toBe(true);
}

/** Registers and verifies through the API; signs the page's browser in. */
export async function signIn(page: Browsing, server: ServerProcess, account: Account): Promise<void> {
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
  await logIn(page, server, account);
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
  filled: [
    async ({ server, playwright }, use) => {
      const request = await playwright.request.newContext({ baseURL: server.baseUrl });
      const account = newAccount();
      await signIn({ request }, server, account);
      const videoId = await askForSample(request, server.baseUrl);
      await expectMended(request, videoId);
      await fillAccount(request, server, videoId);
      await request.dispose();
      await use({ account, videoId });
    },
    { scope: 'worker', timeout: 300_000 },
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
