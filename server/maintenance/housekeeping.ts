import { DAY_MS } from '#common/limits.ts';
import { Job } from '#db/models/job.ts';
import { Video } from '#db/models/video.ts';
import type { WorkFolders } from '#server/pipeline/work-folders.ts';
import { scrubObjects, type ScrubDeps } from './scrub-objects.ts';
import { sweepDrafts, type SweepDraftsDeps } from './sweep-drafts.ts';
import { sweepUploads, type SweepUploadsDeps } from './sweep-uploads.ts';
import { detailOf } from '#server/error-detail.ts';

/** From the end of a round to the next, and from the start of the server to the first. */
const INTERVAL_MS = 5 * 60_000;
const FIRST_RUN_MS = 30_000;
/** Once an hour, because it asks the database about every object. */
const ROUNDS_PER_OBJECT_SWEEP = 12;
/** Most bytes of stored objects that a round reads again, so that the disk stays free for users. */
const SCRUB_BYTES = 4 * 1024 ** 3;
/** How long ended jobs are kept. */
const KEEP_JOBS_MS = 14 * DAY_MS;

export interface HousekeepingDeps extends SweepUploadsDeps, SweepDraftsDeps, ScrubDeps {
  readonly work: WorkFolders;
  /** Work that is best done before somebody waits for it; tried once, some time after the start. */
  readonly prepare?: (signal: AbortSignal) => Promise<unknown>;
  readonly logger: SweepUploadsDeps['logger'] &
    ScrubDeps['logger'] & { info(fields: Record<string, unknown>, message: string): void };
}

export interface Housekeeping {
  start(): void;
  /**
   * Runs all parts once; the check of all objects can be left out.
   * @returns what was done
   */
  run(withObjects?: boolean): Promise<Record<string, number>>;
  /** Stops the rounds; waits for a running one. */
  stop(): Promise<void>;
}

/** Regular sweeps of uploads, drafts, work folders, objects and old jobs, and re-reading of objects. */
export function createHousekeeping(deps: HousekeepingDeps): Housekeeping {
  let timer: NodeJS.Timeout | undefined;
  let round: Promise<void> = Promise.resolve();
  const stopping = new AbortController();
  let rounds = 0;

  /** One part of a run. A part that fails is tried again in the next run and does not stop the others. */
  async function part<Done>(name: string, nothing: Done, work: () => Promise<Done>): Promise<Done> {
    try {
      return await work();
    } catch (error) {
      deps.logger.error({ part: name, error: detailOf(error) }, 'housekeeping failed');
      return nothing;
    }
  }

  async function run(withObjects = true): Promise<Record<string, number>> {
    const uploads = await part('uploads', { expired: 0, registered: 0, strayFiles: 0 }, () =>
      sweepUploads(deps),
    );
    const drafts = await part('drafts', { expired: 0, noticed: 0 }, () => sweepDrafts(deps));
    const workFolders = await part('work folders', 0, () => sweepWorkFolders(deps));
    const objects = withObjects ? await part('objects', 0, () => deps.gc.sweep()) : 0;
    const jobs = await part('jobs', 0, () => sweepJobs(deps));
    const scrub = await part('reading again', { checked: 0, damaged: 0 }, () =>
      scrubObjects(deps, SCRUB_BYTES, stopping.signal),
    );
    return {
      uploadsExpired: uploads.expired,
      uploadsRegistered: uploads.registered,
      strayFiles: uploads.strayFiles,
      draftsExpired: drafts.expired,
      draftsNoticed: drafts.noticed,
      workFolders,
      objects,
      jobs,
      scrubbed: scrub.checked,
      damaged: scrub.damaged,
    };
  }

  function schedule(afterMs: number): void {
    timer = setTimeout(() => {
      rounds += 1;
      const before = rounds === 1 && deps.prepare ? deps.prepare(stopping.signal) : Promise.resolve();
      round = before
        .catch((error: unknown) => deps.logger.error({ error: detailOf(error) }, 'preparing failed'))
        .then(() => run(rounds % ROUNDS_PER_OBJECT_SWEEP === 1))
        .then((done) => {
          if (Object.values(done).some((count) => count > 0)) deps.logger.info(done, 'housekeeping');
        })
        .then(() => {
          if (!stopping.signal.aborted) schedule(INTERVAL_MS);
        });
    }, afterMs);
    timer.unref();
  }

  return {
    run,
    start: () => schedule(FIRST_RUN_MS),
    async stop() {
      stopping.abort();
      clearTimeout(timer);
      await round;
    },
  };
}

async function sweepJobs({ db, now }: HousekeepingDeps): Promise<number> {
  return Job.query(db)
    .delete()
    .whereIn('state', ['done', 'cancelled', 'failed'])
    .where('finishedAt', '<', now() - KEEP_JOBS_MS);
}

/** Folders of videos that are finished or deleted; normally the job removes its own. */
async function sweepWorkFolders({ db, work }: HousekeepingDeps): Promise<number> {
  let removed = 0;
  for (const videoId of await work.list()) {
    const video = await Video.query(db).findById(videoId).select('status');
    if (video?.status === 'processing') continue;
    await work.remove(videoId);
    removed += 1;
  }
  return removed;
}
