import type { Knex } from 'knex';
import { isAtWork } from '#common/is-at-work.ts';
import type { StorylineDto, StorylineStateDto } from '#common/api/storyline.ts';
import { StorylineRow } from '#db/models/storyline.ts';
import { VideoVersion } from '#db/models/video-version.ts';
import type { Video } from '#db/models/video.ts';
import { AppError, NOT_FINISHED } from '#server/errors.ts';
import type { JobQueue } from '#server/jobs/job-queue.ts';

/** Lower than repairs: a storyline describes a clip that is already finished. */
const PRIORITY = -10;

/** The state when nobody has requested an analysis. */
const NONE = { state: 'none', progress: 0, message: null } as const;

export interface StorylineServiceDeps {
  readonly db: Knex;
  readonly queue: Pick<JobQueue, 'enqueue'>;
  readonly now: () => number;
}

/** Videos are passed as rows that their owner may use; everything refers to their current version. */
export interface StorylineService {
  /**
   * The storyline; null while there is none. It stays readable while it is made again. The storyline of an earlier
   * version with the same times is given until the current version has its own.
   */
  read(video: Video): Promise<StorylineDto | null>;
  state(video: Video): Promise<StorylineStateDto>;
  /**
   * Requests the analysis: one job at a time per version.
   * @throws AppError `conflict` while the video is not completed
   */
  analyze(video: Video): Promise<{ jobId: string }>;
}

/** See `StorylineService`. */
export function createStorylineService({ db, queue, now }: StorylineServiceDeps): StorylineService {
  async function rowOf({ currentVersionId }: Video): Promise<StorylineRow | null> {
    if (currentVersionId === null) return null;
    return (await StorylineRow.query(db).findById(currentVersionId)) ?? null;
  }

  /** Versions with the same report have the same times: quick fixes keep the report of the repair below them. */
  async function ofEarlier({ id, currentVersionId }: Video): Promise<StorylineDto | null> {
    const versions = await VideoVersion.query(db)
      .where({ videoId: id })
      .whereIn('kind', ['original', 'repair', 'fixes'])
      .select('id', 'reportSha256');
    const current = versions.find((version) => version.id === currentVersionId);
    const alike = versions.filter(({ reportSha256 }) => current && reportSha256 === current.reportSha256);
    const row = await StorylineRow.query(db)
      .whereIn(
        'versionId',
        alike.map((version) => version.id),
      )
      .whereNotNull('storyline')
      .orderBy('updatedAt', 'desc')
      .first();
    return row?.storyline ?? null;
  }

  return {
    async read(video) {
      return (await rowOf(video))?.storyline ?? (await ofEarlier(video));
    },

    async state(video) {
      const row = await rowOf(video);
      const earlier = !row?.storyline && (await ofEarlier(video)) !== null;
      const { state, progress, message } = row ?? NONE;
      const readable = earlier || Boolean(row?.storyline);
      return { state, progress, message, readable, ...(earlier && { earlier }) };
    },

    async analyze(video) {
      const versionId = video.currentVersionId;
      if (video.status !== 'completed' || versionId === null) {
        throw new AppError('conflict', NOT_FINISHED);
      }
      return db.transaction(async (trx) => {
        const at = now();
        const fresh = { state: 'waiting', progress: 0, message: null, updatedAt: at } as const;
        // The row is the lock: of parallel calls one creates it and the others wait.
        await trx('storylines')
          .insert({ version_id: versionId, job_id: '', state: 'failed', created_at: at, updated_at: at })
          .onConflict('version_id')
          .ignore();
        const row = await StorylineRow.query(trx).findById(versionId).forUpdate();
        if (row && isAtWork(row)) return { jobId: row.jobId };
        const jobId = await queue.enqueue(
          'tell-storyline',
          { versionId },
          { trx, priority: PRIORITY, userId: video.userId, videoId: video.id },
        );
        await StorylineRow.query(trx)
          .patch({ ...fresh, jobId })
          .where({ versionId });
        return { jobId };
      });
    },
  };
}
