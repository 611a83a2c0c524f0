import { DAY_MS } from '#common/limits.ts';
import { createHash } from 'node:crypto';
import type { Knex } from 'knex';
import { Session } from '#db/models/session.ts';
import { User } from '#db/models/user.ts';
import type { EventBus } from '../events.ts';

const SESSION_IDLE_MS = 7 * DAY_MS;
export const SESSION_ABSOLUTE_MS = 30 * DAY_MS;
const TOUCH_EVERY_MS = 10 * 60_000;

export interface SessionStoreDeps {
  readonly db: Knex;
  readonly events: EventBus;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

export interface SessionStore {
  /** The person of a live session, or null: unknown, ended, idle for 7 days or older than 30. */
  find(sessionId: string): Promise<{ userId: string; sessionHash: string } | null>;
  /**
   * Makes the row; called by the login only.
   * @param passwordHash the hash against which the given password was checked
   * @returns false, without a row, when the password has been changed meanwhile: a change ends all sessions made with
   * the old one
   */
  open(sessionId: string, userId: string, passwordHash: string): Promise<boolean>;
  end(sessionId: string): Promise<void>;
  /** Ends the sessions of a person, except one. */
  endAll(userId: string, exceptHash?: string | null): Promise<void>;
  /**
   * Removes rows that no cookie can use any more.
   * @returns how many
   */
  purge(): Promise<number>;
  /** Whether a session still lives; for sockets, which outlast requests. */
  lives(sessionHash: string): Promise<boolean>;
}

/** The cookie's id as it is stored; reading the table is not enough to sign in with it. */
export function hashSessionId(sessionId: string): string {
  return createHash('sha256').update(sessionId).digest('hex');
}

/**
 * Sessions in the database. No request in flight ever makes or renews a row, so a slow request across a logout cannot
 * bring the session back.
 */
export function createSessionStore({ db, events, now }: SessionStoreDeps): SessionStore {
  const isLiving = (row: Session) =>
    row.expiresAt > now() && row.lastSeenAt + SESSION_IDLE_MS > now() && row.createdAt <= now() + 60_000;

  return {
    async find(sessionId) {
      const idHash = hashSessionId(sessionId);
      const row = await Session.query(db).findById(idHash);
      if (!row || !isLiving(row)) return null;
      if (row.lastSeenAt + TOUCH_EVERY_MS < now()) {
        await Session.query(db).findById(idHash).patch({ lastSeenAt: now() });
      }
      return { userId: row.userId, sessionHash: idHash };
    },
    async open(sessionId, userId, passwordHash) {
      return db.transaction(async (trx) => {
        // The lock makes check and insert one step: a change of password comes before, or ends this session too.
        const user = await User.query(trx).findById(userId).select('passwordHash').forUpdate();
        if (user?.passwordHash !== passwordHash) return false;
        await Session.query(trx).insert({
          idHash: hashSessionId(sessionId),
          userId,
          data: {},
          createdAt: now(),
          lastSeenAt: now(),
          expiresAt: now() + SESSION_ABSOLUTE_MS,
        });
        return true;
      });
    },
    async end(sessionId) {
      const sessionHash = hashSessionId(sessionId);
      const ended = await Session.query(db).deleteById(sessionHash);
      if (ended > 0) events.emit('session.ended', { sessionHash });
    },
    async endAll(userId, exceptHash = null) {
      const rows = await Session.query(db).where('user_id', userId).select('id_hash');
      for (const { idHash } of rows) {
        if (idHash === exceptHash) continue;
        await Session.query(db).deleteById(idHash);
        events.emit('session.ended', { sessionHash: idHash });
      }
    },
    async purge() {
      return Session.query(db)
        .delete()
        .where('expires_at', '<=', now())
        .orWhere('last_seen_at', '<=', now() - SESSION_IDLE_MS);
    },
    async lives(sessionHash) {
      const row = await Session.query(db).findById(sessionHash);
      return row !== undefined && isLiving(row);
    },
  };
}
