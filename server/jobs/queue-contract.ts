import type { Knex } from 'knex';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Job } from '#db/models/job.ts';
import type { JobQueue } from './job-queue.ts';

export interface QueueUnderTest {
  readonly db: Knex;
  /** Creates a queue on that database with the given clock. */
  readonly make: (now: () => number) => JobQueue;
  readonly close: () => Promise<void>;
}

/** The contract of every queue adapter; run once for each of them. */
export function describeQueue(name: string, open: () => Promise<QueueUnderTest>): void {
  describe(`queue: ${name}`, () => {
    let under: QueueUnderTest;
    let queue: JobQueue;
    let time = 1_000_000;
    const clip = (videoId: string, priority = 0) =>
      queue.enqueue('process-video', { videoId }, { videoId, priority });
    const claim = () => queue.claim('a', ['process-video']);

    beforeAll(async () => {
      under = await open();
      queue = under.make(() => time);
    });
    beforeEach(async () => {
      await Job.query(under.db).delete();
      time += 1_000_000;
    });
    afterAll(async () => under.close());

    it('gives jobs by priority, then by age', async () => {
      await clip('first');
      time += 1;
      await clip('second');
      time += 1;
      await clip('paid', 10);
      const order = [await claim(), await claim(), await claim(), await claim()];
      expect(order.map((job) => job?.videoId)).toEqual(['paid', 'first', 'second', undefined]);
      expect(order[0]).toMatchObject({ attempt: 1, payload: { videoId: 'paid' }, type: 'process-video' });
    });

    it('gives jobs of one millisecond in the order they came', async () => {
      const names = Array.from({ length: 8 }, (_, count) => `v${count}`);
      for (const name of names) await clip(name);
      const taken: (string | null | undefined)[] = [];
      for (const _ of names) taken.push((await claim())?.videoId);
      expect(taken).toEqual(names);
    });

    it('gives each job to one of many takers', async () => {
      for (let count = 0; count < 10; count += 1) await clip(`v${count}`);
      const taken = await Promise.all(
        Array.from({ length: 30 }, (_, index) => queue.claim(`owner${index}`, ['process-video'])),
      );
      const ids = taken.filter((job) => job !== null).map((job) => job.id);
      expect(new Set(ids).size).toBe(ids.length);
      let rest = 0;
      while (await claim()) rest += 1;
      expect(ids.length + rest).toBe(10);
    });

    it('gives only the kinds that were asked for, and nothing before its time', async () => {
      await queue.enqueue(
        'send-mail',
        { to: 'a@b.test', subject: '', text: '', html: '' },
        { runAfter: time + 500 },
      );
      expect(await claim()).toBeNull();
      expect(await queue.claim('a', ['send-mail'])).toBeNull();
      time += 500;
      expect(await queue.claim('a', ['send-mail'])).toMatchObject({ type: 'send-mail' });
    });

    it('shows a job with the commit of its transaction, and never after a rollback', async () => {
      let announced = 0;
      const stop = queue.onEnqueued(() => {
        announced += 1;
      });
      const rolledBack = under.db.transaction(async (trx) => {
        await queue.enqueue('process-video', { videoId: 'x' }, { trx });
        throw new Error('no');
      });
      await expect(rolledBack).rejects.toThrow('no');
      expect(await claim()).toBeNull();
      expect(announced).toBe(0);
      await under.db.transaction(async (trx) => {
        await queue.enqueue('process-video', { videoId: 'y' }, { trx });
      });
      await expect.poll(() => announced).toBe(1);
      stop();
      expect(await claim()).not.toBeNull();
    });

    it('counts an attempt at the start and gives up after the third', async () => {
      await clip('v');
      const seen: (number | undefined)[] = [];
      const became: unknown[] = [];
      for (let round = 0; round < 3; round += 1) {
        const job = await claim();
        seen.push(job?.attempt);
        became.push(
          job && (await queue.finish(job.id, 'a', { kind: 'failed', error: 'x', retryable: true })),
        );
        time += 60_000;
      }
      expect(seen).toEqual([1, 2, 3]);
      expect(became).toEqual(['requeued', 'requeued', 'exhausted']);
      expect(await claim()).toBeNull();
    });

    it('waits before it tries again', async () => {
      await clip('v');
      const job = await claim();
      await queue.finish(job?.id ?? '', 'a', { kind: 'failed', error: 'x', retryable: true });
      expect(await claim()).toBeNull();
      time += 2000;
      expect(await claim()).toMatchObject({ attempt: 2 });
    });

    it('does not try again what cannot get better', async () => {
      await clip('v');
      const job = await claim();
      const outcome = { kind: 'failed', error: 'not a video', retryable: false } as const;
      expect(await queue.finish(job?.id ?? '', 'a', outcome)).toBe('exhausted');
      time += 60_000;
      expect(await claim()).toBeNull();
    });

    it('puts an interrupted job back without using up an attempt', async () => {
      await clip('v');
      for (let round = 0; round < 5; round += 1) {
        const job = await claim();
        expect(job?.attempt).toBe(1);
        expect(await queue.finish(job?.id ?? '', 'a', { kind: 'interrupted' })).toBe('requeued');
      }
    });

    it('puts a waiting job back for later without using up an attempt, and says why', async () => {
      await clip('v');
      for (let round = 0; round < 5; round += 1) {
        const job = await claim();
        expect(job?.attempt).toBe(1);
        const outcome = { kind: 'waiting', reason: 'No room.', forMs: 60_000 } as const;
        expect(await queue.finish(job?.id ?? '', 'a', outcome)).toBe('requeued');
        time += 59_999;
        expect(await claim()).toBeNull();
        time += 1;
      }
    });

    it('takes back what a dead process held, and gives up when it died three times', async () => {
      await clip('v');
      for (const attempt of [1, 2, 3]) {
        expect(await queue.claim(`process${attempt}`, ['process-video'])).toMatchObject({ attempt });
        expect(await queue.recover(5000)).toEqual({ requeued: [], exhausted: [] });
        time += 5000;
        const { requeued, exhausted } = await queue.recover(5000);
        expect(requeued.length).toBe(attempt < 3 ? 1 : 0);
        expect(exhausted.map((job) => job.videoId)).toEqual(attempt < 3 ? [] : ['v']);
      }
      expect(await claim()).toBeNull();
    });

    it('takes everything back at the start of a single process, also after the clock was set back', async () => {
      await clip('v');
      expect(await claim()).not.toBeNull();
      time -= 60_000;
      expect((await queue.recover(5000)).requeued).toEqual([]);
      expect((await queue.recover(0)).requeued).toHaveLength(1);
      time += 60_000;
      expect(await claim()).toMatchObject({ attempt: 2 });
    });

    it('keeps a job that is given up until that has been said', async () => {
      const noted = { kind: 'failed', error: 'not a video', retryable: false } as const;
      const deaf = () => Promise.reject(new Error('away'));
      for (const videoId of ['ended', 'died']) await clip(videoId);
      const [ended, died] = [await claim(), await claim()];
      await expect(queue.finish(ended?.id ?? '', 'a', noted, deaf)).rejects.toThrow('away');
      await Job.query(under.db).patch({ attempts: 3 });
      await expect(queue.recover(0, deaf)).rejects.toThrow('away');
      const told: unknown[] = [];
      const { exhausted } = await queue.recover(0, async ({ videoId }) => void told.push(videoId));
      expect(told.toSorted()).toEqual(['died', 'ended']);
      expect(exhausted.map(({ id }) => id).toSorted()).toEqual([ended?.id, died?.id].toSorted());
      expect(await queue.recover(0)).toEqual({ requeued: [], exhausted: [] });
    });

    it('ends a job whose headway is noted in the last moment', async () => {
      await clip('v');
      await claim();
      await Job.query(under.db).patch({ attempts: 3 });
      const job = await Job.query(under.db).first();
      const late = () => queue.madeHeadway(job?.id ?? '');
      const outcome = { kind: 'failed', error: 'x', retryable: true } as const;
      expect(await queue.finish(job?.id ?? '', 'a', outcome, late)).toBe('exhausted');
      expect((await Job.query(under.db).first())?.state).toBe('failed');
    });

    it('leaves a job alone that ended while it was taken back', async () => {
      await clip('v');
      const job = await claim();
      await Job.query(under.db).patch({ attempts: 3 });
      const late = async () =>
        void (await Job.query(under.db)
          .findById(job?.id ?? '')
          .patch({ state: 'done', owner: null }));
      expect((await queue.recover(0, late)).exhausted).toEqual([]);
      expect((await Job.query(under.db).first())?.state).toBe('done');
    });

    it('forgets earlier deaths of a job that made headway', async () => {
      await clip('v');
      for (let round = 0; round < 6; round += 1) {
        const job = await claim();
        expect(job).not.toBeNull();
        await queue.madeHeadway(job?.id ?? '');
        await queue.recover(0);
      }
      expect(await claim()).toMatchObject({ attempt: 2 });
    });

    it('refuses the late word of an owner who lost the job', async () => {
      await clip('v');
      const job = await queue.claim('old', ['process-video']);
      const id = job?.id ?? '';
      expect(await queue.heartbeat(id, 'old')).toBe(true);
      time += 1;
      await queue.recover(0);
      expect(await queue.heartbeat(id, 'old')).toBe(false);
      await queue.claim('new', ['process-video']);
      expect(await queue.finish(id, 'old', { kind: 'done' })).toBeNull();
      expect(await queue.finish(id, 'new', { kind: 'done' })).toBe('done');
    });

    it('cancels the jobs of a video and names the running ones', async () => {
      await clip('v');
      const job = await claim();
      await clip('v');
      expect(await queue.cancelForVideo('v')).toEqual([job?.id]);
      expect(await queue.heartbeat(job?.id ?? '', 'a')).toBe(false);
      expect(await claim()).toBeNull();
    });

    it('cancels one job, waiting or running, and leaves one that has ended', async () => {
      const [running, waiting, other] = [await clip('v'), await clip('v'), await clip('w')];
      await claim();
      await queue.cancel(running);
      await queue.cancel(waiting);
      expect(await queue.heartbeat(running, 'a')).toBe(false);
      expect((await claim())?.id).toBe(other);
      expect(await claim()).toBeNull();
      await queue.finish(other, 'a', { kind: 'done' });
      await queue.cancel(other);
      expect((await Job.query(under.db).findById(other))?.state).toBe('done');
    });

    it('tells how many jobs are in front', async () => {
      await clip('a');
      time += 1;
      await clip('b');
      time += 1;
      await clip('c', 10);
      expect(await Promise.all(['c', 'a', 'b', 'none'].map((id) => queue.positionOfVideo(id)))).toEqual([
        0,
        1,
        2,
        null,
      ]);
      await claim();
      expect(await queue.positionOfVideo('c')).toBeNull();
      expect(await queue.positionOfVideo('b')).toBe(1);
    });
  });
}
