import type { Knex } from 'knex';
import { isAtWork } from '#common/is-at-work.ts';
import type { StorylineDto, StorylineStateDto } from '#common/api/storyline.ts';
import { StorylineRow } from '#db/models/storyline.ts';
import { VideoVersion } from '#db/models/video-version.ts';
import type { Video } from '#db/models/video.ts';
import { AppError, NOT_FINISHED } from '#server/errors.ts';
import type { JobQueue } from '#server/jobs/job-queue.ts';

/** Repairs go first: a storyline is a look at something that is finished. */
const PRIORITY = -10;

/** Where the analysis stands that nobody has asked for. */
const NONE = { state: 'none', progress: 0, message: null } as const;

export interface StorylineServiceDeps {
  readonly db: Knex;
  readonly queue: Pick<JobQueue, 'enqueue'>;
  readonly now: () => number;
}

/** Videos are given as their owner's rows; everything concerns their current version. */
export interface StorylineService {
  /**
   * The storyline; null while there is none. One that is being made anew stays readable, and so does that of an earlier version with
   * the same times until the current one has its own.
   */
  read(video: Video): Promise<StorylineDto | null>;
  state(video: Video): Promise<StorylineStateDto>;
  /**
   * Asks for it: one job at a time for a version.
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

  /** Quick fixes keep the report of the repair below them and with it every moment of the clip. */
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
        // The row is the lock: of parallel calls one makes or finds it, the others wait for that one.
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
