import type { Knex } from 'knex';
import { UniqueViolationError } from 'objection';
import { newId } from '#db/base-model.ts';
import type { PlanSlug } from '#common/plans.ts';
import { User } from '#db/models/user.ts';
import { AppError } from '../errors.ts';
import type { EventBus } from '../events.ts';
import type { SessionStore } from '../http/session-store.ts';
import type { JobQueue } from '../jobs/job-queue.ts';
import type { MailTokens, TokenPurpose } from './mail-tokens.ts';
import { passwordChangedMail, resetMail, verificationMail } from './mails.ts';
import type { Passwords } from './passwords.ts';

export interface AccountsDeps {
  readonly db: Knex;
  readonly events: EventBus;
  readonly jobs: JobQueue;
  readonly passwords: Passwords;
  readonly tokens: MailTokens;
  readonly sessions: SessionStore;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Base of mailed links. */
  readonly publicUrl: string;
  /** False: addresses count as verified at once. */
  readonly emailVerification: boolean;
  /** Plan of a new account. */
  readonly defaultPlan: PlanSlug;
}

export interface Registration {
  readonly username: string;
  readonly email: string;
  readonly password: string;
}

export interface AccountsService {
  /** @throws AppError `username_taken`, `email_taken` */
  register(registration: Registration): Promise<User>;
  /** @throws AppError `invalid_credentials`; `email_not_verified` when name and password are right */
  login(nameOrEmail: string, password: string): Promise<User>;
  /**
   * @returns whether this call verified the address.
   * @throws AppError `invalid_token`
   */
  verifyEmail(token: string): Promise<boolean>;
  /** Mails the link again to an unverified account, at most once a minute; does not reveal whether there is one. */
  resendVerification(nameOrEmail: string): Promise<void>;
  /** Mails a link for a new password, at most once a minute; does not reveal whether there is such an account. */
  forgotPassword(nameOrEmail: string): Promise<void>;
  /**
   * Sets the password and ends all sessions.
   * @throws AppError `invalid_token`
   */
  resetPassword(token: string, password: string): Promise<void>;
  /**
   * Sets the password and ends all other sessions.
   * @throws AppError `invalid_credentials`
   */
  changePassword(user: User, present: string, next: string, sessionHash: string | null): Promise<void>;
}

const RESEND_MS = 60_000;
const RESET_LINK_DEAD = 'The link may be expired or invalid. Please ask for a new one.';

/** Rules of accounts; see `AccountsService`. */
export function createAccountsService(deps: AccountsDeps): AccountsService {
  const { db, jobs, passwords, tokens, sessions, now } = deps;

  async function findByNameOrEmail(nameOrEmail: string): Promise<User | undefined> {
    const lower = nameOrEmail.trim().toLowerCase();
    // A user name cannot contain "@", so the two cannot be confused.
    return User.query(db).findOne(lower.includes('@') ? { email_lower: lower } : { username_lower: lower });
  }

  async function taken({ username, email }: Registration): Promise<AppError | null> {
    if (await User.query(db).findOne({ username_lower: username.toLowerCase() }))
      return new AppError('username_taken');
    if (await User.query(db).findOne({ email_lower: email.toLowerCase() }))
      return new AppError('email_taken');
    return null;
  }

  async function mailLink(user: User, purpose: TokenPurpose): Promise<void> {
    await db.transaction(async (trx) => {
      // The lock makes check and insert one step, so that repeated clicks get one mail.
      await User.query(trx).findById(user.id).forUpdate();
      const last = await tokens.lastIssuedAt(user.id, purpose, trx);
      if (last !== null && last > now() - RESEND_MS && last <= now()) return;
      const token = await tokens.issue(user, purpose, trx);
      const mail =
        purpose === 'verify'
          ? verificationMail(user.email, user.username, `${deps.publicUrl}/verify-email?token=${token}`)
          : resetMail(user.email, user.username, `${deps.publicUrl}/reset-password?token=${token}`);
      await jobs.enqueue('send-mail', mail, { trx, userId: user.id });
    });
  }

  return {
    async register(registration) {
      const { username, email, password } = registration;
      const refused = await taken(registration);
      if (refused) throw refused;
      const passwordHash = await passwords.hash(password);
      const row = {
        id: newId(),
        username,
        usernameLower: username.toLowerCase(),
        email,
        emailLower: email.toLowerCase(),
        passwordHash,
        emailVerifiedAt: deps.emailVerification ? null : now(),
        plan: deps.defaultPlan,
        trialEndsAt: null,
        reputation: 0,
        createdAt: now(),
        updatedAt: now(),
      } as const;
      try {
        await User.query(db).insert(row);
      } catch (error) {
        // With two registrations at once the unique index decides; the answer names the field.
        if (error instanceof UniqueViolationError) throw (await taken(registration)) ?? error;
        throw error;
      }
      const user = User.fromJson(row, { skipValidation: true });
      if (deps.emailVerification) await mailLink(user, 'verify');
      return user;
    },

    async login(nameOrEmail, password) {
      const user = await findByNameOrEmail(nameOrEmail);
      const right = user
        ? await passwords.verify(user.passwordHash, password)
        : await passwords.verifyNobody(password);
      if (!user || !right) throw new AppError('invalid_credentials');
      if (user.emailVerifiedAt === null) throw new AppError('email_not_verified');
      if (!passwords.isOutdated(user.passwordHash)) return user;
      const renewed = await passwords.hash(password);
      // Must not overwrite a password that was changed meanwhile.
      await User.query(db)
        .findById(user.id)
        .where('password_hash', user.passwordHash)
        .patch({ passwordHash: renewed });
      const current = await User.query(db).findById(user.id);
      if (!current || !(await passwords.verify(current.passwordHash, password)))
        throw new AppError('invalid_credentials');
      return current;
    },

    async verifyEmail(token) {
      const row = await tokens.find(token, 'verify');
      const user = row && (await User.query(db).findById(row.userId));
      if (!user || user.emailLower !== row.emailLower) throw new AppError('invalid_token');
      const changed = await User.query(db)
        .findById(user.id)
        .whereNull('email_verified_at')
        .patch({ emailVerifiedAt: now(), updatedAt: now() });
      if (changed > 0) deps.events.emit('user.changed', { userId: user.id });
      return changed > 0;
    },

    async resendVerification(nameOrEmail) {
      const user = await findByNameOrEmail(nameOrEmail);
      if (user && user.emailVerifiedAt === null) await mailLink(user, 'verify');
    },

    async forgotPassword(nameOrEmail) {
      const user = await findByNameOrEmail(nameOrEmail);
      if (user) await mailLink(user, 'reset');
    },

    async resetPassword(token, password) {
      const row = await tokens.find(token, 'reset');
      const user = row && row.usedAt === null && (await User.query(db).findById(row.userId));
      if (!user || user.emailLower !== row.emailLower) throw new AppError('invalid_token', RESET_LINK_DEAD);
      const passwordHash = await passwords.hash(password);
      await db.transaction(async (trx) => {
        if (!(await tokens.use(row, trx))) throw new AppError('invalid_token', RESET_LINK_DEAD);
        await User.query(trx)
          .findById(user.id)
          // Whoever has the mailed link has access to the mailbox, so the address is verified.
          .patch({ passwordHash, emailVerifiedAt: user.emailVerifiedAt ?? now(), updatedAt: now() });
        await tokens.revoke(user.id, 'reset', trx);
        await jobs.enqueue('send-mail', passwordChangedMail(user.email, user.username), { trx });
      });
      await sessions.endAll(user.id);
    },

    async changePassword(user, present, next, sessionHash) {
      if (!(await passwords.verify(user.passwordHash, present))) throw new AppError('invalid_credentials');
      const passwordHash = await passwords.hash(next);
      await db.transaction(async (trx) => {
        await User.query(trx).findById(user.id).patch({ passwordHash, updatedAt: now() });
        await tokens.revoke(user.id, 'reset', trx);
        await jobs.enqueue('send-mail', passwordChangedMail(user.email, user.username), { trx });
      });
      await sessions.endAll(user.id, sessionHash);
    },
  };
}
