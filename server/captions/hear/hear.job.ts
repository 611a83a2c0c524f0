import { rm } from 'node:fs/promises';
import type { Knex } from 'knex';
import type { VideoCue } from '#common/captions.ts';
import { isAtWork } from '#common/is-at-work.ts';
import { HeardWords } from '#db/models/heard-words.ts';
import type { RequestRow } from '#db/models/request-row.ts';
import { VideoVersion } from '#db/models/video-version.ts';
import type { JobOutcome } from '#server/jobs/job-queue.ts';
import type { JobHandler, RunnerLogger } from '#server/jobs/job-runner.ts';
import { createJobFolders } from '#server/jobs/job-folder.ts';
import { isLastTry, JOB_PAYLOADS } from '#server/jobs/job-types.ts';
import { createProgressTeller } from '#server/jobs/progress-teller.ts';
import { createRequestRows } from '#server/jobs/requested-work.ts';
import { probeFile } from '#server/media/probe/probe-file.ts';
import { isClipsFault, type ToolPaths } from '#server/media/ffmpeg/tools.ts';
import { readReport } from '#server/pipeline/storage/stored-report.ts';
import type { MediaStorage } from '#server/pipeline/storage/media-storage.ts';
import { detailOf } from '#server/error-detail.ts';
import { hearWords, type SpeechEngine } from './hear-words.ts';
import { MESSAGES } from '#common/messages.ts';

const KEPT = MESSAGES.captionsKept;
const FAILED = `The speech in this clip could not be transcribed. ${KEPT}`;
const INTERRUPTED = `The transcription was interrupted too many times. ${KEPT}`;
const NO_SPEECH = 'No speech was found in this clip.';
const GONE = `This server no longer has speech recognition. ${KEPT}`;

export interface HearJobDeps {
  readonly db: Knex;
  readonly storage: Pick<MediaStorage, 'localPath' | 'read'>;
  readonly tools: ToolPaths;
  /** Null when the operator has not set up an engine. */
  readonly engine: SpeechEngine | null;
  /** Folder for the sound of pieces. */
  readonly folder: string;
  readonly logger: RunnerLogger;
  readonly now: () => number;
}

/** Runs the speech engine on a repaired clip where somebody speaks. */
export function createHearJob(deps: HearJobDeps): JobHandler {
  const { db, storage, tools, engine, logger, now } = deps;
  const folders = createJobFolders(deps.folder);

  const { tell } = createRequestRows<HeardWords>({ db, model: HeardWords, now });

  /**
   * Hears the repaired clip, so times are on its axis whichever version is current.
   * @returns null when nobody speaks
   */
  async function hear(row: RequestRow, signal: AbortSignal): Promise<VideoCue[] | null> {
    const { videoId } = row;
    const version = await VideoVersion.query(db)
      .where({ videoId })
      .whereIn('kind', ['repair', 'fixes'])
      .whereNotNull('reportSha256')
      .orderBy('createdAt', 'desc')
      .first();
    const report = await readReport(storage, version?.reportSha256 ?? null);
    if (!version || !report || !engine || report.captions.length === 0) return null;
    const workDir = await folders.fresh();
    const file = await storage.localPath(version.sha256);
    const progress = createProgressTeller({
      now,
      write: (percent) => tell(row, { progress: percent }),
      logger,
      about: { videoId },
    });
    try {
      const info = await probeFile(tools, file.path, signal);
      const { durationMs } = report.result.media;
      const clip = { inputPath: file.path, info, durationMs, speech: report.captions };
      return await hearWords({ engine, tools, ...clip, workDir, signal, onProgress: progress });
    } finally {
      await file.release();
      await rm(workDir, { recursive: true, force: true });
    }
  }

  return {
    async run(job, signal): Promise<JobOutcome> {
      const { videoId } = JOB_PAYLOADS['hear-words'].parse(job.payload);
      const row = await HeardWords.query(db).findById(videoId).select('videoId', 'jobId', 'state');
      if (row?.jobId !== job.id || !isAtWork(row)) return { kind: 'done' };
      if (!engine) {
        await tell(row, { state: 'failed', message: GONE });
        return { kind: 'done' };
      }
      await tell(row, { state: 'working', progress: 0, message: null });
      try {
        const cues = await hear(row, signal);
        const message = cues === null ? NO_SPEECH : null;
        await tell(row, { state: 'done', progress: 100, cues: cues ?? [], message });
        return { kind: 'done' };
      } catch (error) {
        if (signal.aborted) return { kind: 'interrupted' };
        if (!isClipsFault(error) && !isLastTry(job)) throw error;
        const detail = detailOf(error);
        logger.warn({ jobId: job.id, videoId, detail }, 'words could not be heard');
        await tell(row, { state: 'failed', message: FAILED });
        return { kind: 'failed', error: detail, retryable: false };
      }
    },
    async exhausted(job) {
      const { videoId } = JOB_PAYLOADS['hear-words'].parse(job.payload);
      await tell({ videoId, jobId: job.id }, { state: 'failed', message: INTERRUPTED });
    },
  };
}
