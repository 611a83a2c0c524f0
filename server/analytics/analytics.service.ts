import type { Knex } from 'knex';
import type { AnalyticsBody } from '#common/api/analytics.ts';
import type { PlanSlug } from '#common/plans.ts';
import { Draft } from '#db/models/draft.ts';
import { VideoVersion } from '#db/models/video-version.ts';
import { Video } from '#db/models/video.ts';
import { requireFeature } from '#server/policies.ts';
import { aggregateMonths } from './aggregate-months.ts';

export interface AnalyticsDeps {
  readonly db: Knex;
  /** False makes the figures available on every plan. */
  readonly enforcePlans: boolean;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

export interface AnalyticsService {
  /**
   * Figures of the last `months` UTC months, from the videos and backups that the account still has.
   * @throws AppError `plan_required`
   */
  monthly(user: { id: string; plan: PlanSlug }, months: number): Promise<AnalyticsBody>;
}

/** The analytics of one account (plan Creator Pro+). */
export function createAnalyticsService({ db, enforcePlans, now }: AnalyticsDeps): AnalyticsService {
  return {
    async monthly(user, months) {
      requireFeature(user, 'analytics', enforcePlans);
      const videos = await Video.query(db)
        .select('createdAt', 'status', 'durationMs', 'issues', 'fixesApplied', 'originalSha256', 'fileSize')
        .where('userId', user.id);
      const versions = await VideoVersion.query(db)
        .select('video_versions.sha256', 'video_versions.sizeBytes', 'video_versions.createdAt')
        .join('videos', 'videos.id', 'video_versions.videoId')
        .where('videos.userId', user.id);
      const drafts = await Draft.query(db)
        .select('sha256', 'sizeBytes', 'createdAt')
        .where('userId', user.id);
      const originals = videos.map(({ originalSha256, fileSize, createdAt }) => ({
        sha256: originalSha256,
        sizeBytes: fileSize,
        createdAt,
      }));
      return aggregateMonths(videos, [...originals, ...versions, ...drafts], months, now());
    },
  };
}
