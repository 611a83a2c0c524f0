import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Knex } from 'knex';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connectDatabase } from '#db/connection.ts';
import { Job } from '#db/models/job.ts';
import type { ClaimedJob, JobOutcome, JobQueue } from './job-queue.ts';
import { createJobRunner, type JobHandler, type JobRunner } from './job-runner.ts';
import { createTableQueue } from './table-queue.ts';

let folder: string;
let db: Knex;
let queue: JobQueue;
let runner: JobRunner | null = null;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'reelmend-runner-'));
  db = connectDatabase({ databaseUrl: null, sqlitePath: path.join(folder, 'test.sqlite') });
  await db.migrate.latest();
  queue = createTableQueue({ db, now: Date.now });
});
afterEach(async () => {
  await runner?.drain(0);
  runner = null;
  await db.destroy();
  await rm(folder, { recursive: true, force: true });
});

interface Probe extends JobHandler {
  readonly ran: ClaimedJob[];
  readonly gaveUp: ClaimedJob[];
}

function handler(work: (job: ClaimedJob, signal: AbortSignal) => Promise<JobOutcome>): Probe {
  const ran: ClaimedJob[] = [];
  const gaveUp: ClaimedJob[] = [];
  return {
    ran,
    gaveUp,
    run(job, signal) {
      ran.push(job);
      return work(job, signal);
    },
    exhausted: async (job) => void gaveUp.push(job),
  };
}

const untilAborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });

function startRunner(video: JobHandler, mail: JobHandler = handler(async () => ({ kind: 'done' }))) {
  runner = createJobRunner({
    queue,
    handlers: {
      'process-video': video,
      'make-preview': video,
      'export-video': video,
      'tell-storyline': video,
      'apply-fixes': video,
      'burn-captions': video,
      'hear-words': video,
      'send-mail': mail,
    },
    lanes: [
      { types: ['process-video'], concurrency: 1 },
      { types: ['send-mail'], concurrency: 2 },
    ],
    owner: 'test',
    logger: pino({ level: 'silent' }),
    heartbeatMs: 20,
    idleMs: 20,
    staleMs: null,
  });
  return runner;
}

const stateOf = async (id: string) => (await Job.query(db).findById(id))?.state;
const clip = (videoId: string) => queue.enqueue('process-video', { videoId }, { videoId });

describe('job runner', () => {
  it('processes one clip at a time without delaying a mail', async () => {
    let now = 0;
    let most = 0;
    const video = handler(async () => {
      now += 1;
      most = Math.max(most, now);
      await new Promise((resolve) => {
        setTimeout(resolve, 60);
      });
      now -= 1;
      return { kind: 'done' };
    });
    const mail = handler(async () => ({ kind: 'done' }));
    const ids = [await clip('a'), await clip('b'), await clip('c')];
    await startRunner(video, mail).start();
    const letter = await queue.enqueue('send-mail', { to: 'a@b.test', subject: '', text: '', html: '' });
    await expect.poll(() => stateOf(letter)).toBe('done');
    expect(await stateOf(ids[2] ?? '')).not.toBe('done');
    await expect.poll(() => stateOf(ids[2] ?? '')).toBe('done');
    expect(most).toBe(1);
  });

  it('retries a thrown failure and reports once when it gives up', async () => {
    const video = handler(() => Promise.reject(new Error('boom')));
    const id = await clip('a');
    await startRunner(video).start();
    for (let round = 0; round < 3; round += 1) {
      await expect.poll(() => video.ran.length).toBe(round + 1);
      if (round === 2) break;
      // The wait for the next attempt is written when this one is over.
      const waiting = Job.query(db).where({ id, state: 'queued', attempts: round + 1 });
      await expect.poll(() => waiting.clone().patch({ runAfter: 0 })).toBe(1);
    }
    await expect.poll(() => video.gaveUp.length).toBe(1);
    expect(await Job.query(db).findById(id)).toMatchObject({ state: 'failed', attempts: 3 });
  });

  it('records the end of a job when the database has returned', async () => {
    const real = queue;
    let outages = 2;
    queue = {
      ...real,
      finish: (...end) => (outages-- > 0 ? Promise.reject(new Error('away')) : real.finish(...end)),
    };
    const video = handler(async () => ({ kind: 'failed', error: 'no video', retryable: false }));
    const id = await clip('a');
    await startRunner(video).start();
    await expect.poll(() => stateOf(id)).toBe('failed');
    expect([video.ran.length, video.gaveUp.length]).toEqual([1, 1]);
  });

  it('reports at its next start what a killed process could not report', async () => {
    const id = await clip('a');
    await queue.claim('killed', ['process-video']);
    await Job.query(db).patch({ attempts: 3 });
    const deaf = handler(async () => ({ kind: 'done' }));
    deaf.exhausted = () => Promise.reject(new Error('killed'));
    await startRunner(deaf).start();
    await runner?.drain(0);
    expect(await stateOf(id)).toBe('running');
    const video = handler(async () => ({ kind: 'done' }));
    await startRunner(video).start();
    expect(video.gaveUp.map((job) => job.videoId)).toEqual(['a']);
    expect(await stateOf(id)).toBe('failed');
  });

  it('takes back at its start what a killed process held', async () => {
    const id = await clip('a');
    await queue.claim('killed', ['process-video']);
    const video = handler(async () => ({ kind: 'done' }));
    await startRunner(video).start();
    await expect.poll(() => stateOf(id)).toBe('done');
    expect(video.ran[0]?.attempt).toBe(2);
  });

  it('stops a job that was cancelled within a heartbeat', async () => {
    const video = handler(async (_job, signal) => {
      await untilAborted(signal);
      return { kind: 'interrupted' };
    });
    const id = await clip('a');
    await startRunner(video).start();
    await expect.poll(() => video.ran.length).toBe(1);
    await queue.cancelForVideo('a');
    await expect.poll(() => runner?.running()).toBe(0);
    expect(await stateOf(id)).toBe('cancelled');
  });

  it('puts running jobs back when the process stops, without using up an attempt', async () => {
    const video = handler(async (_job, signal) => {
      await untilAborted(signal);
      return { kind: 'failed', error: 'cancelled', retryable: true };
    });
    const id = await clip('a');
    await clip('b');
    await startRunner(video).start();
    await expect.poll(() => video.ran.length).toBe(1);
    await runner?.drain(10);
    expect(await Job.query(db).findById(id)).toMatchObject({
      state: 'queued',
      attempts: 0,
      interruptions: 1,
    });
    expect(video.ran.length).toBe(1);
  });

  it('uses up no attempt when the platform ends the media tools together with the server', async () => {
    let toolDied: () => void = () => undefined;
    const video = handler(async () => {
      await new Promise<void>((resolve) => {
        toolDied = resolve;
      });
      return { kind: 'failed', error: 'the tool was ended by SIGTERM', retryable: true };
    });
    const id = await clip('a');
    await startRunner(video).start();
    await expect.poll(() => video.ran.length).toBe(1);
    const drained = runner?.drain(5000);
    toolDied();
    await drained;
    expect(await Job.query(db).findById(id)).toMatchObject({
      state: 'queued',
      attempts: 0,
      interruptions: 1,
    });
  });

  it('lets a job that is nearly done finish before it stops', async () => {
    const video = handler(async () => {
      await new Promise((resolve) => {
        setTimeout(resolve, 100);
      });
      return { kind: 'done' };
    });
    const id = await clip('a');
    await startRunner(video).start();
    await expect.poll(() => video.ran.length).toBe(1);
    await runner?.drain(5000);
    expect(await stateOf(id)).toBe('done');
  });
});
