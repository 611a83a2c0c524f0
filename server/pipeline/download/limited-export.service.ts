import type { Knex } from 'knex';
import type { LimitedExport } from '#common/api/videos.ts';
import type { PlanSlug } from '#common/plans.ts';
import { User } from '#db/models/user.ts';
import { Video } from '#db/models/video.ts';
import { VideoExport } from '#db/models/video-export.ts';
import { VideoVersion } from '#db/models/video-version.ts';
import { AppError } from '#server/errors.ts';
import type { EventBus } from '#server/events.ts';
import type { JobQueue } from '#server/jobs/job-queue.ts';
import type { ExportLimit } from '#server/plans/export-limit.ts';

interface Owner {
  readonly plan: PlanSlug;
}

/**
 * Downloads for plans with a size limit (D-42). The result itself stays whole and bit-exact. Such a plan downloads a
 * smaller copy, made once per result and stored beside it; a larger plan downloads the whole result at once.
 */
export interface LimitedExports {
  /**
   * The state of the smaller copy, by video id, for videos of one account with their `currentVersion`; videos
   * that may be downloaded whole are left out.
   */
  of(owner: Owner, videos: readonly Video[]): Promise<ReadonlyMap<string, LimitedExport>>;
  /** Requests the smaller copy, unless it exists or is being made; tries again after a failure. */
  ensure(owner: Owner, video: Video): Promise<void>;
  /**
   * SHA-256 of the file that Download gives for a finished video.
   * @throws AppError `export_pending` while the smaller copy is being made (asking begins it), `conflict` with
   *   the reason when it could not be made
   */
  forDownload(owner: Owner, video: Video): Promise<string>;
  /** Starts the copy as soon as a repair is finished. @returns a function that stops this */
  listen(): () => void;
}

export interface LimitedExportsDeps {
  readonly db: Knex;
  readonly queue: Pick<JobQueue, 'enqueue'>;
  readonly events: EventBus;
  readonly limitOf: ExportLimit;
  readonly logger: { warn(fields: Record<string, unknown>, message: string): void };
  readonly now: () => number;
}

/** See `LimitedExports`. */
export function createLimitedExports(deps: LimitedExportsDeps): LimitedExports {
  const { db, queue, events, limitOf, logger, now } = deps;

  /** The shorter side to which a download of this video is reduced; null when nothing limits it. */
  function shortSideFor(owner: Owner, video: Video): number | null {
    const limit = limitOf(owner.plan);
    if (limit === null || video.status !== 'completed' || !video.currentVersion) return null;
    const { width, height } = video;
    return width !== null && height !== null && Math.min(width, height) > limit ? limit : null;
  }

  async function of(owner: Owner, videos: readonly Video[]): Promise<Map<string, LimitedExport>> {
    const limited = videos.flatMap((video) => {
      const shortSide = shortSideFor(owner, video);
      return shortSide === null ? [] : [{ video, shortSide }];
    });
    const states = new Map<string, LimitedExport>();
    if (limited.length === 0) return states;
    const ids = limited.map(({ video }) => video.id);
    const versions = await VideoVersion.query(db).where('kind', 'export').whereIn('videoId', ids);
    const pending = await VideoExport.query(db).whereIn('videoId', ids);
    for (const { video, shortSide } of limited) {
      const source = video.currentVersion?.sha256;
      const isFor = (row: { videoId: string; sourceSha256: string | null; shortSide: number | null }) =>
        row.videoId === video.id && row.sourceSha256 === source && row.shortSide === shortSide;
      states.set(video.id, toState(shortSide, versions.find(isFor), pending.find(isFor)));
    }
    return states;
  }

  async function ensure(owner: Owner, video: Video): Promise<void> {
    const shortSide = shortSideFor(owner, video);
    const source = video.currentVersion?.sha256;
    if (shortSide === null || source === undefined) return;
    const state = (await of(owner, [video])).get(video.id)?.state;
    if (state !== 'absent' && state !== 'failed') return;
    const begun = await db.transaction(async (trx) => {
      const at = now();
      const row = { sourceSha256: source, shortSide, state: 'waiting', progress: 0, message: null } as const;
      // Of parallel calls, one finds something to change; the others find it changed.
      const again = await VideoExport.query(trx)
        .patch({ ...row, updatedAt: at })
        .where({ videoId: video.id })
        .where((other) => other.where('state', 'failed').orWhereNot('sourceSha256', source));
      if (again === 0 && !(await insertNew(trx, { ...row, videoId: video.id, updatedAt: at }))) return false;
      await queue.enqueue(
        'export-video',
        { videoId: video.id },
        { trx, userId: video.userId, videoId: video.id },
      );
      return true;
    });
    if (begun) events.emit('video.edited', { userId: video.userId, videoId: video.id });
  }

  return {
    of,
    ensure,

    async forDownload(owner, video) {
      const whole = video.currentVersion?.sha256;
      if (whole === undefined) throw new AppError('not_ready');
      const state = (await of(owner, [video])).get(video.id);
      if (!state) return whole;
      if (state.state === 'ready') {
        const version = await VideoVersion.query(db)
          .findOne({ videoId: video.id, kind: 'export', sourceSha256: whole, shortSide: state.shortSide })
          .throwIfNotFound();
        return version.sha256;
      }
      if (state.state === 'failed') throw new AppError('conflict', state.message ?? undefined);
      await ensure(owner, video);
      throw new AppError('export_pending', pendingSentence(state));
    },

    listen() {
      return events.on('video.completed', ({ videoId }) => {
        ensureFinished(videoId).catch((error: unknown) => {
          logger.warn({ videoId, error: String(error) }, 'the smaller copy could not be queued');
        });
      });
    },
  };

  async function ensureFinished(videoId: string): Promise<void> {
    const video = await Video.query(db).findById(videoId).withGraphFetched('currentVersion');
    const owner = video && (await User.query(db).findById(video.userId).select('plan'));
    if (video && owner) await ensure(owner, video);
  }
}

/** @returns false when the video has a row already */
async function insertNew(trx: Knex, row: object): Promise<boolean> {
  const rows = await trx('videoExports').insert(row).onConflict('videoId').ignore().returning('videoId');
  return rows.length > 0;
}

function toState(
  shortSide: number,
  version: VideoVersion | undefined,
  pending: VideoExport | undefined,
): LimitedExport {
  if (version) {
    return { shortSide, state: 'ready', progress: 100, sizeBytes: version.sizeBytes, message: null };
  }
  const { state, progress, message } = pending ?? { state: 'absent', progress: 0, message: null };
  return { shortSide, state, progress, sizeBytes: null, message };
}

function pendingSentence({ shortSide, state, progress }: LimitedExport): string {
  const share = state === 'running' ? ` (${progress} %)` : '';
  return `Your plan downloads in ${shortSide}p. That file is being made${share}; the whole result is kept.`;
}
