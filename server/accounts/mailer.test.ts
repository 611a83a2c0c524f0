import { mkdtemp, rm } from 'node:fs/promises';
import { createServer as createNetServer } from 'node:net';
import { once } from 'node:events';
import os from 'node:os';
import path from 'node:path';
import { SMTPServer } from 'smtp-server';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { authApi } from '#common/api/auth.ts';
import { Job } from '#db/models/job.ts';
import { startTestApp, tokenOf } from '#server/test/test-app.ts';
import { createMailer, readOutbox } from './mailer.ts';
import { verificationMail } from './mails.ts';

const FROM = 'Reelmend <no-reply@example.test>';
const MAIL = verificationMail(
  'reader@example.test',
  'reader',
  'https://clips.test/verify-email?token=a-very-long-token-that-is-certainly-wrapped-by-quoted-printable-0123456789',
);

interface Letter {
  readonly from: string;
  readonly to: readonly string[];
  readonly source: string;
}

/** A real SMTP server on the loopback address that keeps what it receives, or refuses it. */
async function startSmtp(port = 0) {
  const letters: Letter[] = [];
  let refuse = false;
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        if (refuse) {
          done(Object.assign(new Error('Try again later'), { responseCode: 451 }));
          return;
        }
        const { mailFrom, rcptTo } = session.envelope;
        letters.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          source: Buffer.concat(chunks).toString(),
        });
        done();
      });
    },
  });
  server.on('error', () => undefined);
  server.listen(port, '127.0.0.1');
  await once(server.server, 'listening');
  const address = server.server.address();
  if (address === null || typeof address === 'string') throw new Error('The mail server has no port.');
  return {
    url: `smtp://127.0.0.1:${address.port}`,
    letters,
    refuse: (value: boolean) => {
      refuse = value;
    },
    stop: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

describe('mailer', () => {
  let outboxDir: string;
  beforeEach(async () => {
    outboxDir = await mkdtemp(path.join(os.tmpdir(), 'reelmend-outbox-'));
  });
  afterEach(() => rm(outboxDir, { recursive: true, force: true }));

  const logged: Record<string, unknown>[] = [];
  const logger = { info: (fields: Record<string, unknown>) => void logged.push(fields) };

  it('delivers to a mail server, to the one recipient, as text and as HTML', async () => {
    const smtp = await startSmtp();
    await createMailer({ smtpUrl: smtp.url, from: FROM, outboxDir, logger }).send(MAIL);
    await smtp.stop();
    expect(smtp.letters).toHaveLength(1);
    const [letter] = smtp.letters;
    expect(letter).toMatchObject({ from: 'no-reply@example.test', to: ['reader@example.test'] });
    expect(letter?.source).toMatch(/^Subject: Verify your email address for Reelmend\r?$/m);
    expect(letter?.source).toMatch(/Content-Type: text\/plain/);
    expect(letter?.source).toMatch(/Content-Type: text\/html/);
    expect(letter?.source.replaceAll(/=\r?\n/g, '').replaceAll('=3D', '=')).toContain(
      'https://clips.test/verify-email?token=a-very-long-token',
    );
  });

  it('fails when the mail server refuses or is away, so that the queue tries again', async () => {
    const smtp = await startSmtp();
    smtp.refuse(true);
    const mailer = createMailer({ smtpUrl: smtp.url, from: FROM, outboxDir, logger });
    await expect(mailer.send(MAIL)).rejects.toThrow(/later/i);
    await smtp.stop();
    await expect(mailer.send(MAIL)).rejects.toThrow();
  });

  it('writes files when there is no mail server, logs the link, and reads the files back', async () => {
    const mailer = createMailer({ smtpUrl: null, from: FROM, outboxDir, logger });
    await mailer.send(MAIL);
    const link = MAIL.text.split('\n').find((line) => line.startsWith('https://'));
    expect(logged.at(-1)).toMatchObject({ link });
    expect(await readOutbox(outboxDir, 10)).toEqual([
      {
        to: 'reader@example.test',
        subject: 'Verify your email address for Reelmend',
        at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
        links: [link],
      },
    ]);
  });

  it('shows names and links in HTML as text', () => {
    const { html } = verificationMail(
      'a@b.test',
      '<img src=x onerror=alert(1)>',
      'https://x.test/?a=1&b="2"',
    );
    expect(html).not.toContain('<img');
    expect(html).toContain('&lt;img');
    expect(html).toContain('href="https://x.test/?a=1&amp;b=&quot;2&quot;"');
  });
});

describe('registration by mail', () => {
  it('succeeds although the mail server is away at first', async () => {
    // A port that nobody listens on yet.
    const probe = createNetServer().listen(0, '127.0.0.1');
    await once(probe, 'listening');
    const address = probe.address();
    if (address === null || typeof address === 'string') throw new Error('No port.');
    probe.close();
    await once(probe, 'close');
    const mailer = createMailer({
      smtpUrl: `smtp://127.0.0.1:${address.port}`,
      from: FROM,
      outboxDir: os.tmpdir(),
      logger: { info: () => undefined },
    });
    const app = await startTestApp({ engine: 'sqlite', mailer });
    const body = { username: 'patient', email: 'patient@example.test', password: 'Mended-Clip-42' };
    const answer = await app.client().call(authApi.register, { body });
    expect(answer.status).toBe(201);
    await expect.poll(async () => (await Job.query(app.db).first())?.attempts ?? 0).toBeGreaterThan(0);
    const smtp = await startSmtp(address.port);
    app.advance(10 * 60_000);
    await expect.poll(() => smtp.letters.length).toBe(1);
    const source = smtp.letters[0]?.source.replaceAll(/=\r?\n/g, '').replaceAll('=3D', '=') ?? '';
    const token = tokenOf({ to: '', subject: '', html: '', text: source });
    expect((await app.client().call(authApi.verifyEmail, { query: { token } })).status).toBe(200);
    await app.stop();
    await smtp.stop();
  });
});
