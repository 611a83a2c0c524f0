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
import { createRequestedWork } from '#server/jobs/requested-work.ts';
import type { ExportLimit } from '#server/plans/export-limit.ts';
import { announceExport, exportRequests } from './export-requests.ts';

interface Owner {
  readonly plan: PlanSlug;
}

/**
 * Downloads for plans with a size limit. The result itself stays whole and bit-exact. Such a plan downloads a
 * smaller copy, made once per result and stored beside it; a larger plan downloads the whole result at once.
 */
export interface LimitedExports {
  /**
   * The state of the smaller copy, by video id, for videos of one account with their `currentVersion`; videos
   * that may be downloaded whole are left out.
   */
  of(owner: Owner, videos: readonly Video[]): Promise<ReadonlyMap<string, LimitedExport>>;
  /** Has the smaller copy made, unless it is there or on its way; tries again after a failure or a cancel. */
  ensure(owner: Owner, video: Video): Promise<void>;
  /** Stops the copy that waits or is being made; asking for it again begins anew. */
  cancel(video: Video): Promise<void>;
  /**
   * SHA-256 of the file that Download gives for a finished video.
   * @throws AppError `export_pending` while the smaller copy is being made (asking begins it), `conflict` with
   *   the reason when it could not be made
   */
  forDownload(owner: Owner, video: Video): Promise<string>;
  /**
   * Starts the copy as soon as a repair is finished.
   * @returns a function that stops this
   */
  listen(): () => void;
}

export interface LimitedExportsDeps {
  readonly db: Knex;
  readonly queue: Pick<JobQueue, 'enqueue' | 'cancel'>;
  readonly events: EventBus;
  readonly limitOf: ExportLimit;
  readonly logger: { warn(fields: Record<string, unknown>, message: string): void };
  readonly now: () => number;
}

/** See `LimitedExports`. */
export function createLimitedExports(deps: LimitedExportsDeps): LimitedExports {
  const { db, queue, events, limitOf, logger } = deps;
  const requests = createRequestedWork({ ...exportRequests(deps), type: 'export-video', queue, events });

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

  /** @returns whether there is a new request now */
  async function begin(owner: Owner, video: Video): Promise<boolean> {
    const shortSide = shortSideFor(owner, video);
    const source = video.currentVersion?.sha256;
    if (shortSide === null || source === undefined) return false;
    if ((await of(owner, [video])).get(video.id)?.state === 'ready') return false;
    const { begun } = await requests.ask({
      video,
      blank: { source_sha256: source, short_side: shortSide },
      change: { sourceSha256: source, shortSide },
      isSame: (row) => row.sourceSha256 === source && row.shortSide === shortSide,
      // Another result is current by now, and nobody can download the smaller copy of the earlier one.
      busy: null,
    });
    return begun;
  }

  async function ensure(owner: Owner, video: Video): Promise<void> {
    if (await begin(owner, video)) await announceExport(deps, video.id);
  }

  return {
    of,
    ensure,

    async cancel(video) {
      await requests.cancel(video.id);
    },

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
    if (!video || !owner || !(await begin(owner, video))) return;
    // Of a video that has just ended pages read the list again; a state with a higher version would come between.
    events.emit('video.edited', { userId: video.userId, videoId });
  }
}

function toState(
  shortSide: number,
  version: VideoVersion | undefined,
  pending: VideoExport | undefined,
): LimitedExport {
  if (version) {
    return { shortSide, state: 'ready', progress: 100, sizeBytes: version.sizeBytes, message: null };
  }
  // `done` stands in no row: the copy is a version by then.
  if (!pending || pending.state === 'done')
    return { shortSide, state: 'absent', progress: 0, sizeBytes: null, message: null };
  const { state, progress, message } = pending;
  return { shortSide, state, progress, sizeBytes: null, message };
}

function pendingSentence({ shortSide, state, progress }: LimitedExport): string {
  const share = state === 'working' ? ` (${progress} %)` : '';
  return `Your plan downloads in ${shortSide}p. That file is being made${share}; your full-size result is kept.`;
}
