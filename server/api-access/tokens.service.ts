import { DAY_MS } from '#common/limits.ts';
import { createHash, randomBytes } from 'node:crypto';
import type { Knex } from 'knex';
import {
  MAX_TOKENS_PER_ACCOUNT,
  TOKEN_PREFIX,
  TOKEN_SCOPES,
  type TokenScope,
} from '#common/api/api-access.ts';
import { newId } from '#db/base-model.ts';
import { ApiToken } from '#db/models/api-token.ts';
import { User } from '#db/models/user.ts';
import { AppError, notFound } from '#server/errors.ts';
import { requireFeature } from '#server/policies.ts';

const SECRET_BYTES = 32;
const HINT_CHARS = TOKEN_PREFIX.length + 6;
/** `last_used_at` is written at most this often, so that reading calls rarely write. */
const TOUCH_EVERY_MS = 60_000;
/** 32 bytes in base64url. */
const TOKEN_FORMAT = /^pat_[A-Za-z0-9_-]{43}$/;

export interface TokensDeps {
  readonly db: Knex;
  /** False makes the API available on every plan. */
  readonly enforcePlans: boolean;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

export interface NewToken {
  readonly name: string;
  readonly scopes: readonly TokenScope[];
  readonly expiresInDays?: number | undefined;
}

/** The user of a valid token, and what it may do. */
export interface TokenBearer {
  readonly user: User;
  readonly tokenId: string;
  readonly scopes: readonly TokenScope[];
}

export interface TokensService {
  list(userId: string): Promise<ApiToken[]>;
  /**
   * Creates a token; only this answer contains the secret.
   * @throws AppError `plan_required`, `conflict` when the account has too many
   */
  create(user: User, wanted: NewToken): Promise<{ token: string; row: ApiToken }>;
  /** @throws AppError `not_found` */
  revoke(userId: string, tokenId: string): Promise<void>;
  /**
   * Identifies the bearer of a token; null when it is unknown, revoked or expired.
   * @throws AppError `plan_required` when the account's plan no longer includes the API
   */
  authenticate(token: string): Promise<TokenBearer | null>;
}

/** Personal access tokens: 256 random bits, stored as SHA-256 (no salt needed at this length). */
export function createTokensService({ db, enforcePlans, now }: TokensDeps): TokensService {
  const requireApiPlan = (user: User) => requireFeature(user, 'api_access', enforcePlans);

  async function create(user: User, wanted: NewToken) {
    requireApiPlan(user);
    const token = TOKEN_PREFIX + randomBytes(SECRET_BYTES).toString('base64url');
    const at = now();
    const row = await db.transaction(async (trx) => {
      // The lock on the account makes count and insert one step.
      await User.query(trx).findById(user.id).forUpdate();
      const held = await ApiToken.query(trx).where('userId', user.id).resultSize();
      if (held >= MAX_TOKENS_PER_ACCOUNT) {
        throw new AppError(
          'conflict',
          `An account can have ${MAX_TOKENS_PER_ACCOUNT} tokens. Revoke one first.`,
        );
      }
      return ApiToken.query(trx).insertAndFetch({
        id: newId(),
        userId: user.id,
        name: wanted.name,
        tokenHash: hashToken(token),
        hint: token.slice(0, HINT_CHARS),
        scopes: TOKEN_SCOPES.filter((scope) => wanted.scopes.includes(scope)).join(' '),
        createdAt: at,
        lastUsedAt: null,
        expiresAt: wanted.expiresInDays === undefined ? null : at + wanted.expiresInDays * DAY_MS,
      });
    });
    return { token, row };
  }

  async function authenticate(token: string): Promise<TokenBearer | null> {
    if (!TOKEN_FORMAT.test(token)) return null;
    const row = await ApiToken.query(db).findOne('tokenHash', hashToken(token));
    const at = now();
    if (!row || (row.expiresAt !== null && row.expiresAt <= at)) return null;
    const user = await User.query(db).findById(row.userId);
    if (!user) return null;
    requireApiPlan(user);
    if (row.lastUsedAt === null || row.lastUsedAt <= at - TOUCH_EVERY_MS) {
      await ApiToken.query(db).patch({ lastUsedAt: at }).where('id', row.id);
    }
    return { user, tokenId: row.id, scopes: parseScopes(row) };
  }

  return {
    list: async (userId) =>
      ApiToken.query(db)
        .where('userId', userId)
        .orderBy([{ column: 'createdAt', order: 'desc' }, { column: 'id' }]),
    create,
    async revoke(userId, tokenId) {
      const rows = await ApiToken.query(db).delete().where({ id: tokenId, userId });
      if (rows === 0) throw notFound();
    },
    authenticate,
  };
}

/** The scopes of a row as a list. */
export function parseScopes(row: ApiToken): TokenScope[] {
  const held = row.scopes.split(' ');
  return TOKEN_SCOPES.filter((scope) => held.includes(scope));
}

function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
