import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import Koa from 'koa';
import { pino } from 'pino';
import request from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AppState } from '#server/http/context.ts';
import { answerErrors } from '#server/http/error-middleware.ts';
import { createMailer } from './mailer.ts';
import { createOutboxRoutes } from './outbox.routes.ts';

const LINK = 'http://clips.test/verify-email?token=abc';

describe('the mailbox of this machine', () => {
  let folder: string;
  const app = new Koa<AppState, Record<never, never>>();
  const ask = (headers: Record<string, string>) =>
    request(app.callback())
      .get('/api/dev/outbox')
      .set({ host: 'localhost:3000', ...headers });

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'reelmend-outbox-'));
    const logger = pino({ level: 'silent' });
    const mailer = createMailer({ smtpUrl: null, from: 'a@b.test', outboxDir: folder, logger });
    await mailer.send({ to: 'ana@b.test', subject: 'Verify <now>', text: `Open ${LINK}`, html: '' });
    app.use(async (ctx, next) => {
      ctx.state.logger = logger;
      await next();
    });
    app.use(answerErrors());
    app.use(createOutboxRoutes(folder, 'http://clips.test').routes());
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it.each(['localhost:3000', '127.0.0.1:3000', '[::1]:3000', 'clips.test'])(
    'shows its mails to a visitor on this machine who calls it %s',
    async (host) => {
      const answer = await ask({ host, accept: 'application/json' });
      expect(answer.status).toBe(200);
      expect(answer.body).toMatchObject([{ to: 'ana@b.test', subject: 'Verify <now>', links: [LINK] }]);
    },
  );

  it('is a page for a browser, in which mails are text', async () => {
    const answer = await ask({ accept: 'text/html' });
    expect(answer.text).toContain('Verify &lt;now&gt;');
    expect(answer.text).toContain(`<a href="${LINK}">`);
  });

  it.each([
    ['a site whose name leads to this machine', { host: 'evil.test:3000' }],
    ['who comes through a proxy', { 'x-forwarded-for': '203.0.113.9' }],
  ])('does not exist for %s', async (_who, headers) => {
    expect((await ask(headers)).status).toBe(404);
  });
});
