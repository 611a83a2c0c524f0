import type { Knex } from 'knex';
import type { StorylineDto } from '#common/api/storyline.ts';
import { StorylineRow } from '#db/models/storyline.ts';
import { VideoVersion } from '#db/models/video-version.ts';
import type { JobOutcome } from '#server/jobs/job-queue.ts';
import type { JobHandler, RunnerLogger } from '#server/jobs/job-runner.ts';
import { isLastTry, JOB_PAYLOADS } from '#server/jobs/job-types.ts';
import { createProgressTeller } from '#server/jobs/progress-teller.ts';
import { isClipsFault, type ToolPaths } from '#server/media/ffmpeg/tools.ts';
import type { SpeechSpan } from '#server/pipeline/analyse/analysis.ts';
import { newestReport } from '#server/pipeline/preview/preview.service.ts';
import { readReport } from '#server/pipeline/storage/stored-report.ts';
import type { MediaStorage } from '#server/pipeline/storage/media-storage.ts';
import { readClip } from './read-clip.ts';
import { tellStory } from './tell-story.ts';
import { detailOf } from '#server/error-detail.ts';

const FAILED =
  'The picture and sound of this video could not be read. Please try again; the video itself is not affected.';
const INTERRUPTED = 'The analysis was interrupted too many times. Please try again later.';

export interface StorylineJobDeps {
  readonly db: Knex;
  readonly storage: Pick<MediaStorage, 'localPath' | 'read'>;
  readonly tools: ToolPaths;
  readonly threads: number;
  readonly logger: RunnerLogger;
  readonly now: () => number;
}

/** Makes the storyline of a version; deleting the video cancels it through the queue. */
export function createStorylineJob(deps: StorylineJobDeps): JobHandler {
  const { db, storage, tools, threads, logger, now } = deps;

  const patch = (versionId: string, change: Partial<StorylineRow>) =>
    StorylineRow.query(db)
      .patch({ ...change, updatedAt: now() })
      .where({ versionId });

  const progressOf = (versionId: string) =>
    createProgressTeller({
      now,
      write: (progress) => patch(versionId, { progress }),
      logger,
      about: { versionId },
    });

  /**
   * Speech as the repair timed it for the captions; the original has no report of its own, so the newest one is read.
   */
  async function speechOf({ videoId, reportSha256 }: VideoVersion): Promise<SpeechSpan[]> {
    const report = (await readReport(storage, reportSha256)) ?? (await newestReport(db, storage, videoId));
    return (report?.captions ?? []).map(({ startMs, endMs }) => ({ startMs, endMs }));
  }

  async function make(versionId: string, signal: AbortSignal): Promise<StorylineDto | null> {
    const version = await VideoVersion.query(db).findById(versionId);
    if (!version) return null;
    await patch(versionId, { state: 'working', progress: 0, message: null });
    const file = await storage.localPath(version.sha256);
    try {
      const { path } = file;
      const clip = await readClip({ path, tools, threads, signal, onProgress: progressOf(versionId) });
      return tellStory({ ...clip, speech: await speechOf(version) });
    } finally {
      await file.release();
    }
  }

  async function fail(jobId: string, versionId: string, error: unknown): Promise<JobOutcome> {
    const detail = detailOf(error);
    logger.warn({ jobId, versionId, detail }, 'a storyline could not be made');
    await patch(versionId, { state: 'failed', message: FAILED });
    return { kind: 'failed', error: detail, retryable: false };
  }

  return {
    async run(job, signal) {
      const { versionId } = JOB_PAYLOADS['tell-storyline'].parse(job.payload);
      try {
        const storyline = await make(versionId, signal);
        if (storyline) await patch(versionId, { state: 'ready', progress: 100, storyline });
        return { kind: 'done' };
      } catch (error) {
        if (signal.aborted) return { kind: 'interrupted' };
        if (!isClipsFault(error) && !isLastTry(job)) throw error;
        return fail(job.id, versionId, error);
      }
    },
    async exhausted(job) {
      const { versionId } = JOB_PAYLOADS['tell-storyline'].parse(job.payload);
      await patch(versionId, { state: 'failed', message: INTERRUPTED }).whereNot('state', 'ready');
    },
  };
}
