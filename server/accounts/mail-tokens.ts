import { DAY_MS } from '#common/limits.ts';
import { createHash, randomBytes } from 'node:crypto';
import type { Knex } from 'knex';
import type { Transaction } from 'objection';
import { MailToken } from '#db/models/mail-token.ts';
import type { User } from '#db/models/user.ts';

const LIFE_MS = { verify: DAY_MS, reset: 3600_000 } as const;
export type TokenPurpose = keyof typeof LIFE_MS;

export interface MailTokens {
  /**
   * Creates a token for the current address of a user.
   * @returns 43 characters; only their hash is stored
   */
  issue(user: User, purpose: TokenPurpose, trx: Transaction): Promise<string>;
  /** The row of a token that has not expired, used or not; null for anything else. */
  find(token: string, purpose: TokenPurpose): Promise<MailToken | null>;
  /**
   * Marks the token as used.
   * @returns false when another call was first
   */
  use(row: MailToken, trx: Transaction): Promise<boolean>;
  /** When the newest token of a user was issued, epoch ms. */
  lastIssuedAt(userId: string, purpose: TokenPurpose, trx: Transaction): Promise<number | null>;
  /** Revokes all tokens of a purpose. */
  revoke(userId: string, purpose: TokenPurpose, trx: Transaction): Promise<void>;
  purge(): Promise<number>;
}

/**
 * Tokens of mailed links: 32 random bytes, stored as SHA-256, bound to the address they were sent to. Earlier tokens
 * stay valid until they expire, because people also click the older of two mails.
 */
export function createMailTokens(db: Knex, now: () => number): MailTokens {
  return {
    async issue(user, purpose, trx) {
      const token = randomBytes(32).toString('base64url');
      await MailToken.query(trx).insert({
        tokenHash: hashOf(token),
        userId: user.id,
        purpose,
        emailLower: user.emailLower,
        createdAt: now(),
        expiresAt: now() + LIFE_MS[purpose],
      });
      return token;
    },
    async find(token, purpose) {
      const row = await MailToken.query(db).findById(hashOf(token));
      return row && row.purpose === purpose && row.expiresAt > now() ? row : null;
    },
    async use(row, trx) {
      const changed = await MailToken.query(trx)
        .patch({ usedAt: now() })
        .where('token_hash', row.tokenHash)
        .whereNull('used_at');
      return changed === 1;
    },
    async lastIssuedAt(userId, purpose, trx) {
      const row = await MailToken.query(trx)
        .where({ user_id: userId, purpose })
        .orderBy('created_at', 'desc')
        .first();
      return row?.createdAt ?? null;
    },
    async revoke(userId, purpose, trx) {
      await MailToken.query(trx).delete().where({ user_id: userId, purpose });
    },
    async purge() {
      return MailToken.query(db).delete().where('expires_at', '<=', now());
    },
  };
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
