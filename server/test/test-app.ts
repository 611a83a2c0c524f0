import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { inject } from 'vitest';
import type { Mailer } from '#server/accounts/mailer.ts';
import type { Mail } from '#server/accounts/mails.ts';
import { User } from '#db/models/user.ts';
import { compose, type Services } from '#server/compose.ts';
import { readConfig, type Config } from '#server/config.ts';
import { createCookieKeys } from '#server/http/cookie-keys.ts';
import { sessionCookieName } from '#server/http/session.ts';
import { createLogger } from '#server/logger.ts';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';
import { createUser } from './factories.ts';
import { createTestClient, type TestClient } from './test-client.ts';
import { createTestDatabase, type Engine } from './test-database.ts';

export interface TestAppOptions {
  readonly engine: Engine;
  /** Environment variables over the test defaults (no rate limits, port 0, a temporary data folder). */
  readonly env?: Readonly<Record<string, string>>;
  /** Kinds of queued work that the app does; by default only mail, repairs where a test asks for them. */
  readonly work?: readonly ('media' | 'mail')[];
  /** Sends mails; by default they are collected in `mails`. */
  readonly mailer?: Mailer;
  /** Only for tests that run repairs. */
  readonly tools?: ToolPaths;
}

export interface TestApp extends Services {
  readonly baseUrl: string;
  readonly config: Config;
  /** Everything that was mailed, oldest first. */
  readonly mails: readonly Mail[];
  /**
   * Waits for the newest mail to an address.
   * @throws after 5 s
   */
  mailTo(address: string): Promise<Mail>;
  /** Moves the clock of the server forward; it continues from there. */
  advance(ms: number): void;
  now(): number;
  /** A browser without a session. */
  client(): TestClient;
  /** A browser in which this user is signed in; a new user when none is given. */
  signIn(user?: User): Promise<{ client: TestClient; user: User }>;
  stop(): Promise<void>;
}

/** Origin of links in mails; nothing listens there. */
export const TEST_PUBLIC_URL = 'http://reelmend.test';

/**
 * Starts the real server on a free port with its own database. Everything is wired as in production, but mails are
 * collected and the clock can be moved. Always `stop()` it.
 */
export async function startTestApp(options: TestAppOptions): Promise<TestApp> {
  const database = await createTestDatabase(options.engine);
  const config = readConfig({
    NODE_ENV: 'test',
    PORT: '0',
    PUBLIC_URL: TEST_PUBLIC_URL,
    DATA_DIR: database.dataDir,
    DATABASE_URL: database.databaseUrl ?? '',
    RATE_LIMITS: 'off',
    LOG_LEVEL: 'silent',
    PATH: process.env['PATH'],
    ...options.env,
  });
  let offsetMs = 0;
  const now = () => Date.now() + offsetMs;
  const mails: Mail[] = [];
  const services = await compose({
    config,
    logger: createLogger(config.logLevel),
    version: '0.0.0-test',
    // Each worker loads its code anew: bundled, that takes a tenth of the time that the sources need.
    workerUrl: pathToFileURL(path.join(inject('builtServer'), 'worker.js')),
    tools: options.tools ?? { ffmpeg: 'ffmpeg', ffprobe: 'ffprobe' },
    webDir: null,
    now,
    mailer: options.mailer ?? { send: async (mail) => void mails.push(mail) },
    work: options.work ?? ['mail'],
  });
  services.httpServer.listen(0, '127.0.0.1');
  await once(services.httpServer, 'listening');
  await services.runner.start();
  const address = services.httpServer.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  const baseUrl = `http://127.0.0.1:${address.port}`;
  const keys = createCookieKeys(config.sessionKeys);

  return {
    ...services,
    baseUrl,
    config,
    mails,
    now,
    advance(ms) {
      offsetMs += ms;
    },
    client: () => createTestClient(baseUrl),
    async signIn(given) {
      const user = given ?? (await createUser(services.db));
      const sessionId = randomBytes(32).toString('base64url');
      const { passwordHash } = await User.query(services.db).findById(user.id).throwIfNotFound();
      await services.sessions.open(sessionId, user.id, passwordHash);
      const client = createTestClient(baseUrl);
      const name = sessionCookieName(config.https);
      client.setCookie(name, sessionId);
      client.setCookie(`${name}.sig`, keys.sign(`${name}=${sessionId}`));
      return { client, user };
    },
    async mailTo(to) {
      const until = Date.now() + 5000;
      while (Date.now() < until) {
        const mail = mails.findLast((one) => one.to.toLowerCase() === to.toLowerCase());
        if (mail) return mail;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      throw new Error(`No mail to ${to} arrived.`);
    },
    async stop() {
      services.stopAccepting();
      await services.runner.drain(0);
      await services.housekeeping.stop();
      await services.sockets.close();
      const closed = once(services.httpServer, 'close');
      services.httpServer.close();
      services.httpServer.closeAllConnections();
      await closed;
      await services.close();
      await database.remove();
    },
  };
}

/** The token in the first link of a mail. */
export function tokenOf(mail: Mail): string {
  const token = /[?&]token=([A-Za-z0-9_-]+)/.exec(mail.text)?.[1];
  if (token === undefined) throw new Error(`No link in: ${mail.text}`);
  return token;
}
