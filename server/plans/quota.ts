import type { Knex } from 'knex';
import type { Transaction } from 'objection';
import { PLANS } from '#common/plans.ts';
import { newId } from '#db/base-model.ts';
import { UsageUnit } from '#db/models/usage-unit.ts';
import { User } from '#db/models/user.ts';
import { AppError } from '#server/errors.ts';

export interface QuotaState {
  /** Videos counted in the current month. */
  readonly used: number;
  /** Videos per month in the plan; null for no limit. */
  readonly limit: number | null;
  /** Start of the next month in UTC, epoch ms. */
  readonly resetsAt: number;
}

/** The monthly allowance of videos, counted in calendar months of UTC. */
export interface Quota {
  /** The current state of the allowance. */
  read(userId: string, trx?: Transaction): Promise<QuotaState>;
  /** @throws AppError `quota_reached` when no video is left */
  check(userId: string): Promise<void>;
  /**
   * Counts a new video inside the transaction that creates it; parallel calls cannot exceed the limit.
   * @throws AppError `quota_reached`
   */
  take(userId: string, videoId: string, trx: Transaction): Promise<void>;
  /** Gives back the unit of a failed video. */
  release(videoId: string, trx?: Transaction): Promise<void>;
  /** Counts the unit of a released video again, for a second try. */
  retake(videoId: string, trx: Transaction): Promise<void>;
}

export interface QuotaDeps {
  readonly db: Knex;
  readonly now: () => number;
  /** False counts without ever refusing. */
  readonly enforcePlans: boolean;
}

/** UTC month of a time as `YYYY-MM`. */
export function utcMonth(epochMs: number): string {
  return new Date(epochMs).toISOString().slice(0, 7);
}

/** Start of the next UTC month, epoch ms. */
function nextUtcMonth(epochMs: number): number {
  const date = new Date(epochMs);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}

/** See `Quota`. */
export function createQuota({ db, now, enforcePlans }: QuotaDeps): Quota {
  async function read(userId: string, trx?: Transaction): Promise<QuotaState> {
    const at = now();
    const user = await User.query(trx ?? db)
      .findById(userId)
      .select('plan');
    const used = await UsageUnit.query(trx ?? db)
      .where({ userId, month: utcMonth(at), releasedAt: null })
      .resultSize();
    const limit = enforcePlans ? PLANS[user?.plan ?? 'starter'].videosPerMonth : null;
    return { used, limit, resetsAt: nextUtcMonth(at) };
  }

  return {
    read,
    async check(userId) {
      refuseWhenUsed(await read(userId));
    },
    async take(userId, videoId, trx) {
      // The row lock makes parallel completions of one account wait for each other on Postgres;
      // SQLite has one writer anyway.
      await User.query(trx).findById(userId).select('id').forUpdate();
      refuseWhenUsed(await read(userId, trx));
      const at = now();
      await UsageUnit.query(trx).insert({
        id: newId(),
        userId,
        month: utcMonth(at),
        videoId,
        createdAt: at,
      });
    },
    async release(videoId, trx) {
      await UsageUnit.query(trx ?? db)
        .patch({ releasedAt: now() })
        .where({ videoId, releasedAt: null });
    },
    async retake(videoId, trx) {
      const unit = await UsageUnit.query(trx).findOne({ videoId }).whereNotNull('releasedAt');
      if (!unit) return;
      await User.query(trx).findById(unit.userId).select('id').forUpdate();
      refuseWhenUsed(await read(unit.userId, trx));
      const at = now();
      await UsageUnit.query(trx)
        .findById(unit.id)
        .patch({ releasedAt: null, month: utcMonth(at) });
    },
  };
}

function refuseWhenUsed({ used, limit, resetsAt }: QuotaState): void {
  if (limit === null || used < limit) return;
  const day = new Date(resetsAt).toISOString().slice(0, 10);
  throw new AppError(
    'quota_reached',
    `You have used ${used} of ${limit} videos of your plan this month. The next ones are free on ${day} (UTC).`,
  );
}
