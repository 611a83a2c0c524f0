import type { Knex } from 'knex';
import type { User } from '#db/models/user.ts';
import { toSessionBody } from './accounts/accounts.presenter.ts';
import { createAccountsRoutes } from './accounts/accounts.routes.ts';
import { createAccountsService } from './accounts/accounts.service.ts';
import { createMailTokens } from './accounts/mail-tokens.ts';
import { createMailer, type Mailer } from './accounts/mailer.ts';
import { createOutboxRoutes } from './accounts/outbox.routes.ts';
import { createPasswords, type Passwords } from './accounts/passwords.ts';
import { createSendMailJob } from './accounts/send-mail.job.ts';
import type { Config } from './config.ts';
import type { EventBus } from './events.ts';
import type { AppRouter } from './http/context.ts';
import type { RateLimits } from './http/rate-limit.ts';
import type { SessionStore } from './http/session-store.ts';
import type { JobQueue } from './jobs/job-queue.ts';
import type { JobHandler } from './jobs/job-runner.ts';
import type { Logger } from './logger.ts';

export interface ComposeAccountsDeps {
  readonly db: Knex;
  readonly events: EventBus;
  readonly queue: JobQueue;
  readonly sessions: SessionStore;
  readonly limits: RateLimits;
  readonly config: Config;
  readonly logger: Logger;
  readonly now: () => number;
  /** Folder for mails when no mail server is configured. */
  readonly outboxDir: string;
  /** Replaces the mail server and the outbox. */
  readonly mailer: Mailer | undefined;
}

export interface ComposedAccounts {
  readonly routers: readonly AppRouter[];
  readonly sendMail: JobHandler;
  readonly passwords: Passwords;
  /** The signed-in user as the client sees it. */
  readonly presentUser: (user: User) => ReturnType<typeof toSessionBody>;
  /** Deletes expired tokens of mailed links. */
  readonly purgeTokens: () => Promise<unknown>;
}

/** The part of `compose()` for accounts: sign-up, sign-in and their mails. */
export function composeAccounts(deps: ComposeAccountsDeps): ComposedAccounts {
  const { db, events, queue, sessions, limits, config, logger, now, outboxDir } = deps;
  const passwords = createPasswords();
  const tokens = createMailTokens(db, now);
  const mailer =
    deps.mailer ?? createMailer({ smtpUrl: config.smtpUrl, from: config.mailFrom, outboxDir, logger });
  const accounts = createAccountsService({
    db,
    events,
    jobs: queue,
    passwords,
    tokens,
    sessions,
    now,
    publicUrl: config.publicUrl,
    emailVerification: config.emailVerification,
    defaultPlan: config.defaultPlan,
  });
  const presentUser = (user: User) => toSessionBody(user, config.billing);
  const mailbox = config.smtpUrl === null && config.env !== 'production';
  return {
    routers: [
      createAccountsRoutes({ accounts, limits, logger, toSessionBody: presentUser }),
      ...(mailbox ? [createOutboxRoutes(outboxDir, config.publicUrl)] : []),
    ],
    sendMail: createSendMailJob({ mailer, logger }),
    passwords,
    presentUser,
    purgeTokens: () => tokens.purge(),
  };
}
