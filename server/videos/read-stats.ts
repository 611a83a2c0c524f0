import type { Knex } from 'knex';
import { raw } from 'objection';
import type { StatsDto } from '#common/api/videos.ts';
import { MINUTES_SAVED_PER_FIX, MOST_FIXES_TIMED } from '#common/limits.ts';
import { Draft } from '#db/models/draft.ts';
import { Video } from '#db/models/video.ts';
import type { Quota } from '#server/plans/quota.ts';

export interface ReadStatsDeps {
  readonly db: Knex;
  readonly quota: Pick<Quota, 'read'>;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** What an account's library comes to: videos by state, fixes and the hours they saved, drafts, the month's allowance. */
export async function readStats({ db, quota, now }: ReadStatsDeps, ownerId: string): Promise<StatsDto> {
  const byStatus = await countByStatus(db, ownerId);
  const of = (status: Video['status']) => byStatus.find((row) => row.status === status);
  // Postgres returns a sum as text.
  const issuesFixed = Number(of('completed')?.fixes ?? 0);
  const timedFixes = Number(of('completed')?.timedFixes ?? 0);
  const { used, limit, resetsAt } = await quota.read(ownerId);
  const draftsSaved = await Draft.query(db)
    .where({ userId: ownerId })
    .where('expiresAt', '>', now())
    .resultSize();
  return {
    videosProcessed: of('completed')?.videos ?? 0,
    videosTotal: byStatus.reduce((sum, row) => sum + row.videos, 0),
    videosProcessing: of('processing')?.videos ?? 0,
    videosFailed: of('failed')?.videos ?? 0,
    draftsSaved,
    issuesFixed,
    timeSaved: `${Math.floor((timedFixes * MINUTES_SAVED_PER_FIX) / 60)}h`,
    quota: { used, limit, resetsAt: new Date(resetsAt).toISOString() },
  };
}

/** Videos of each status with their fixes; of a single video, at most `MOST_FIXES_TIMED` count as saved time. */
async function countByStatus(db: Knex, ownerId: string) {
  return Video.query(db)
    .where({ userId: ownerId })
    .groupBy('status')
    .select('status')
    .count('* as videos')
    .sum('fixesCount as fixes')
    .select(
      raw('sum(case when ?? > ? then ? else ?? end)', [
        'fixesCount',
        MOST_FIXES_TIMED,
        MOST_FIXES_TIMED,
        'fixesCount',
      ]).as('timedFixes'),
    )
    .castTo<
      {
        status: Video['status'];
        videos: number;
        fixes: number | string | null;
        timedFixes: number | string | null;
      }[]
    >();
}
