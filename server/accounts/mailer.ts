import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename } from 'node:fs/promises';
import path from 'node:path';
import nodemailer from 'nodemailer';
import type { Mail } from './mails.ts';

export interface Mailer {
  /**
   * Gives a mail to the mail server, or writes it to the outbox.
   * @throws when that failed; try again later
   */
  send(mail: Mail): Promise<void>;
}

export interface OutboxMail {
  readonly to: string;
  readonly subject: string;
  /** ISO 8601. */
  readonly at: string;
  readonly links: readonly string[];
}

export interface MailerOptions {
  /** `smtp://user:password@host:port`; null writes files instead. */
  readonly smtpUrl: string | null;
  readonly from: string;
  readonly outboxDir: string;
  readonly logger: { info(fields: Record<string, unknown>, message: string): void };
}

const SMTP_WAIT_MS = 20_000;

/** A mailer over SMTP. Without a mail server it writes one `.eml` file per mail and logs its link. */
export function createMailer(options: MailerOptions): Mailer {
  return options.smtpUrl === null ? createOutbox(options) : createSmtp(options.smtpUrl, options.from);
}

function createSmtp(smtpUrl: string, from: string): Mailer {
  const url = new URL(smtpUrl);
  for (const name of ['connectionTimeout', 'greetingTimeout', 'socketTimeout']) {
    if (!url.searchParams.has(name)) url.searchParams.set(name, String(SMTP_WAIT_MS));
  }
  const transport = nodemailer.createTransport(url.toString());
  return {
    async send(mail) {
      await transport.sendMail({ from, ...mail });
    },
  };
}

function createOutbox({ from, outboxDir, logger }: MailerOptions): Mailer {
  const transport = nodemailer.createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  return {
    async send(mail) {
      const { message } = await transport.sendMail({ from, ...mail });
      if (!Buffer.isBuffer(message)) throw new Error('The mail was not composed.');
      await mkdir(outboxDir, { recursive: true, mode: 0o700 });
      const stamp = new Date().toISOString().replaceAll(/[:.]/g, '-');
      const file = path.join(outboxDir, `${stamp}-${randomBytes(4).toString('hex')}.eml`);
      const handle = await open(`${file}.part`, 'wx', 0o600);
      try {
        await handle.writeFile(message);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(`${file}.part`, file);
      const link = /https?:\/\/\S+/.exec(mail.text)?.[0];
      logger.info({ file, link }, 'mail written to the outbox because SMTP_URL is not set');
    },
  };
}

/** The newest mails of the outbox, newest first. */
export async function readOutbox(outboxDir: string, count: number): Promise<OutboxMail[]> {
  const names = await readdir(outboxDir).catch(() => []);
  const newest = names
    .filter((name) => name.endsWith('.eml'))
    .toSorted()
    .toReversed()
    .slice(0, count);
  return Promise.all(
    newest.map(async (name) => parseMail(await readFile(path.join(outboxDir, name), 'utf8'))),
  );
}

function parseMail(source: string): OutboxMail {
  const [head = ''] = source.split(/\r?\n\r?\n/, 1);
  const header = (name: string) => new RegExp(`^${name}: (.*)$`, 'im').exec(head)?.[1]?.trim() ?? '';
  // Quoted-printable: a "=" at the end of a line continues it, and "=3D" is the sign itself.
  const text = source.replaceAll(/=\r?\n/g, '').replaceAll('=3D', '=');
  const links = [...new Set(text.match(/https?:\/\/[^\s"<>]+/g) ?? [])];
  const date = new Date(header('Date'));
  return {
    to: header('To'),
    subject: header('Subject'),
    at: Number.isNaN(date.getTime()) ? '' : date.toISOString(),
    links,
  };
}
