import { mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Knex } from 'knex';
import { newId } from '#db/base-model.ts';
import { Job } from '#db/models/job.ts';
import type { ClaimedJob, JobOutcome } from './job-queue.ts';
import type { JobHandler } from './job-runner.ts';
import { isLastTry } from './job-types.ts';

/** Private folders in which one kind of job writes. */
export interface JobFolders {
  /** An empty folder, with a name of its own where none is given; the caller removes it. */
  fresh(name?: string): Promise<string>;
  /** The folder of a job, with what a killed attempt left; the caller removes it when the job has ended. */
  kept(jobId: string): Promise<string>;
  remove(name: string): Promise<void>;
}

/**
 * See `JobFolders`. What a killed process left is removed by `sweepJobFolders` at the next start.
 * @param root folder for this kind of job
 */
export function createJobFolders(root: string): JobFolders {
  const made = async (name: string) => {
    const folder = path.join(root, name);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return folder;
  };
  return {
    async fresh(name = newId()) {
      await rm(path.join(root, name), { recursive: true, force: true });
      return made(name);
    },
    kept: made,
    remove: (name) => rm(path.join(root, name), { recursive: true, force: true }),
  };
}

/** Jobs that are running or queued. */
const openJobs = (db: Knex) => Job.query(db).select('id').whereIn('state', ['queued', 'running']);

/**
 * A handler for jobs that write in a kept folder. The folder stays while another attempt follows, and is removed when
 * the job has ended or was cancelled.
 */
export function inKeptFolder(
  { db, folders }: { readonly db: Knex; readonly folders: JobFolders },
  handler: JobHandler,
): JobHandler {
  return {
    async run(job, signal) {
      let outcome: JobOutcome | null = null;
      try {
        outcome = await handler.run(job, signal);
        return outcome;
      } finally {
        const goesOn = mayGoOn(job, outcome) && (await openJobs(db).findById(job.id));
        if (!goesOn) await folders.remove(job.id);
      }
    },
    async exhausted(job) {
      await handler.exhausted(job);
      await folders.remove(job.id);
    },
  };
}

/** @param outcome null where the attempt threw an error */
function mayGoOn(job: ClaimedJob, outcome: JobOutcome | null): boolean {
  if (outcome?.kind === 'failed') return outcome.retryable;
  return outcome === null ? !isLastTry(job) : outcome.kind !== 'done';
}

/** Folders below the data folder in which each kind of job writes. */
export const JOB_FOLDERS = {
  fixes: 'fixes',
  exports: 'exports',
  previews: 'previews',
  captions: 'captions',
  speech: 'speech',
  frames: 'frames',
} as const;

/**
 * Removes what killed processes left, except the folders of jobs that continue where they were. Must be called at
 * start, before any job runs, when nothing else is being written.
 * @returns number of files and folders removed
 */
export async function sweepJobFolders(db: Knex, dataDir: string): Promise<number> {
  let removed = 0;
  const goingOn = new Set((await openJobs(db)).map(({ id }) => id));
  for (const root of Object.values(JOB_FOLDERS).map((name) => path.join(dataDir, name))) {
    for (const name of await readdir(root).catch(() => [])) {
      if (goingOn.has(name)) continue;
      await rm(path.join(root, name), { recursive: true, force: true });
      removed += 1;
    }
  }
  return removed;
}
