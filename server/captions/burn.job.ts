import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Knex } from 'knex';
import { isAtWork } from '#common/is-at-work.ts';
import { CaptionBurn } from '#db/models/caption-burn.ts';
import { Video } from '#db/models/video.ts';
import { AppError } from '#server/errors.ts';
import type { ClaimedJob, JobOutcome, JobQueue } from '#server/jobs/job-queue.ts';
import type { JobHandler, RunnerLogger } from '#server/jobs/job-runner.ts';
import { createJobFolders, inKeptFolder } from '#server/jobs/job-folder.ts';
import { isLastTry, JOB_PAYLOADS } from '#server/jobs/job-types.ts';
import { isStorageFull, noRoomFor, ROOM_WAIT_MS } from '#server/jobs/no-room.ts';
import { noteHeadway } from '#server/jobs/note-headway.ts';
import { createProgressTeller } from '#server/jobs/progress-teller.ts';
import { createRequestRows } from '#server/jobs/requested-work.ts';
import { probeFile } from '#server/media/probe/probe-file.ts';
import { isClipsFault, type ToolPaths } from '#server/media/ffmpeg/tools.ts';
import { makeCopy } from '#server/pipeline/encode/make-copy.ts';
import { mustMatch } from '#server/pipeline/encode/must-match.ts';
import { isFullDisk } from '#server/pipeline/media-failure.ts';
import type { MediaStorage, StoredFile } from '#server/pipeline/storage/media-storage.ts';
import type { MediaLimits } from '#server/pipeline/worker-protocol.ts';
import { readFilters } from '#server/pipeline/repair/quick-fixes/tool-filters.ts';
import { recordObject } from '#server/videos/create-video.ts';
import { replaceVersion } from '#server/videos/replace-version.ts';
import { toAss } from './ass-file.ts';
import { burnedSize, captionedCopy, whiteOf } from './burn-plan.ts';
import type { CaptionFont } from './caption-font.ts';
import { mustDraw } from './must-draw.ts';
import { detailOf } from '#server/error-detail.ts';
import { MESSAGES } from '#common/messages.ts';

const KEPT = MESSAGES.clipAndCaptionsKept;
const FAILED = `The captions could not be drawn into this clip. ${KEPT}`;
const INTERRUPTED = `Drawing the captions was interrupted too many times. ${KEPT}`;
const NO_ROOM = noRoomFor('this file');
const NO_FILTER = `This server's ffmpeg cannot draw captions (it was built without libass). ${KEPT}`;
const NO_FONT = `The font for captions is not installed on this server: tell whoever runs it. ${KEPT}`;

export interface BurnJobDeps {
  readonly db: Knex;
  readonly storage: MediaStorage;
  readonly tools: ToolPaths;
  readonly limits: MediaLimits;
  readonly font: () => Promise<CaptionFont | null>;
  readonly queue: Pick<JobQueue, 'madeHeadway'>;
  /** Folder for files being written; the folder of a job survives a killed attempt. */
  readonly folder: string;
  /** Removes those of the objects that nothing refers to any more. */
  readonly collect: (sha256s: readonly string[]) => Promise<void>;
  readonly logger: RunnerLogger;
  readonly now: () => number;
}

/** A refusal with a message for people, which no retry changes. */
class Refusal extends Error {}

/** Makes the file with captions in the picture. The ffmpeg child process does the work, so no thread is needed. */
export function createBurnJob(deps: BurnJobDeps): JobHandler {
  const { db, storage, tools, limits, logger, now } = deps;
  const folders = createJobFolders(deps.folder);

  const { tell } = createRequestRows<CaptionBurn>({ db, model: CaptionBurn, now });

  async function make(row: CaptionBurn, sourceSha256: string, signal: AbortSignal): Promise<StoredFile> {
    const font = await deps.font();
    if (!font) throw new Refusal(NO_FONT);
    if (!(await readFilters(tools, signal)).has('subtitles')) throw new Refusal(NO_FILTER);
    const workDir = await folders.kept(row.jobId);
    const source = await storage.localPath(sourceSha256);
    try {
      const info = await probeFile(tools, source.path, signal);
      const [stream] = info.video;
      if (!stream) throw new Refusal('This clip has no picture to draw captions into.');
      const size = burnedSize(stream);
      if (size.width * size.height > limits.maxEncodePixels) throw new Refusal(tooLarge(size));
      const outputPath = path.join(workDir, 'captioned.mp4');
      const { cues, style } = row;
      const script = toAss({ cues, style, size, white: whiteOf(stream), font });
      // Pieces are named by a hash of the script, so that a resumed job reuses only pieces with the same words.
      const drawn = createHash('sha256').update(script).digest('hex').slice(0, 16);
      const assPath = path.join(workDir, `captions-${drawn}.ass`);
      await writeFile(assPath, script);
      const drawing = { tools, assPath, fontPath: font.path, size, signal };
      await mustDraw({ ...drawing, atMs: ((cues[0]?.startMs ?? 0) + (cues[0]?.endMs ?? 0)) / 2 });
      await makeCopy({
        recipe: captionedCopy({ inputPath: source.path, info, stream, assPath, fontPath: font.path, limits }),
        workDir,
        outputPath,
        tools,
        signal,
        onProgress: createProgressTeller({
          now,
          write: (percent) => tell(row, { progress: percent }),
          logger,
          about: { videoId: row.videoId },
        }),
        onPiece: () => noteHeadway(deps, row.jobId, { videoId: row.videoId }),
      });
      mustMatch(info, await probeFile(tools, outputPath, signal), size);
      return await storage.put(outputPath);
    } finally {
      await source.release();
    }
  }

  /**
   * Replaces an earlier file by the new one. Nothing is kept when the video was deleted or the request cancelled
   * meanwhile.
   */
  async function publish(row: CaptionBurn, stored: StoredFile): Promise<void> {
    const { videoId, jobId, style, captionsRevision, sourceSha256 } = row;
    const replaced = await db.transaction(async (trx) => {
      const still = await CaptionBurn.query(trx).findOne({ videoId, jobId }).forUpdate();
      if (!isAtWork(still) || !(await Video.query(trx).findById(videoId).select('id')))
        return [stored.sha256];
      const at = now();
      await recordObject(trx, stored, at);
      const mine = { videoId, kind: 'captioned' } as const;
      const about = { sourceSha256, captionStyle: style, captionsRevision, createdAt: at };
      const before = await replaceVersion(trx, mine, stored, about);
      await CaptionBurn.query(trx)
        .patch({ state: 'done', progress: 100, message: null, cues: [], updatedAt: at })
        .where({ videoId, jobId });
      return before;
    });
    await deps.collect(replaced);
  }

  async function run(job: ClaimedJob, signal: AbortSignal): Promise<JobOutcome> {
    const { videoId } = JOB_PAYLOADS['burn-captions'].parse(job.payload);
    const row = await CaptionBurn.query(db).findById(videoId);
    const sourceSha256 = row?.sourceSha256 ?? null;
    if (!row || row.jobId !== job.id || sourceSha256 === null || !isAtWork(row)) return { kind: 'done' };
    await tell(row, { state: 'working', progress: 0, message: null });
    try {
      await publish(row, await make(row, sourceSha256, signal));
      return { kind: 'done' };
    } catch (error) {
      if (signal.aborted) return { kind: 'interrupted' };
      if (isFullDisk(error) || isStorageFull(error)) {
        await tell(row, { state: 'waiting', progress: 0, message: NO_ROOM });
        return { kind: 'waiting', reason: NO_ROOM, forMs: ROOM_WAIT_MS };
      }
      const final =
        error instanceof Refusal || error instanceof AppError || isClipsFault(error) || isLastTry(job);
      if (!final) throw error;
      const detail = detailOf(error);
      logger.warn({ jobId: job.id, videoId, detail }, 'captions could not be drawn');
      const message = error instanceof Refusal || error instanceof AppError ? error.message : FAILED;
      await tell(row, { state: 'failed', message });
      return { kind: 'failed', error: message, retryable: false };
    }
  }

  return inKeptFolder(
    { db, folders },
    {
      run,
      async exhausted(job) {
        const { videoId } = JOB_PAYLOADS['burn-captions'].parse(job.payload);
        const row = await CaptionBurn.query(db).findById(videoId);
        if (row) await tell(row, { state: 'failed', message: INTERRUPTED });
      },
    },
  );
}

const tooLarge = ({ width, height }: { width: number; height: number }) =>
  `Drawing captions into a picture of ${width} x ${height} needs more memory than this server may have. ${KEPT}`;
