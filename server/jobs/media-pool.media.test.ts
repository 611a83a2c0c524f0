import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeMovingClip } from '#server/test/broken-clips.ts';
import { makeFolder, makeTask, mustBeOk, processesNaming, testTools } from '#server/test/media-job.ts';
import type { WorkerMessage } from '#server/pipeline/worker-protocol.ts';
import { createMediaPool, type MediaPool } from './media-pool.ts';

const workerUrl = new URL('../pipeline/worker.ts', import.meta.url);
let folder: Awaited<ReturnType<typeof makeFolder>>;
let clip = '';
let pool: MediaPool;

beforeAll(async () => {
  folder = await makeFolder();
  clip = path.join(folder.path, 'clip.mp4');
  await makeMovingClip({ tools: testTools, outputPath: clip, seconds: 12, width: 640, height: 360 });
  pool = createMediaPool({ workerUrl, threads: 1 });
});
afterAll(async () => {
  await pool.close();
  await folder.remove();
});

const nothing = { onMessage: () => undefined };

describe('createMediaPool', () => {
  it('runs a clip in a thread and passes its messages on', async () => {
    const messages: WorkerMessage[] = [];
    const task = await makeTask(clip, path.join(folder.path, 'work-run'));
    const handlers = { onMessage: (message: WorkerMessage) => messages.push(message) };
    const result = await pool.run(task, handlers, new AbortController().signal);
    expect(mustBeOk(result).report.outcome).toBe('unchanged');
    expect(new Set(messages.map(({ type }) => type))).toEqual(
      new Set(['progress', 'steps', 'issues', 'findings']),
    );
  });

  it('returns cancelled and leaves no ffmpeg running when cancelled during work', async () => {
    const work = path.join(folder.path, 'work-cancel');
    const task = await makeTask(clip, work);
    const cancel = new AbortController();
    const handlers = {
      onMessage: (message: WorkerMessage) => {
        if (message.type === 'progress' && message.share > 0.1) cancel.abort();
      },
    };
    const result = await pool.run(task, handlers, cancel.signal);
    expect(result).toMatchObject({ ok: false, code: 'cancelled' });
    expect(await processesNaming(folder.path)).toEqual([]);
  });

  it('ends a thread that does not respond, kills its ffmpeg and continues with the next clip', async () => {
    const hasty = createMediaPool({ workerUrl, threads: 1, cancelGraceMs: 0 });
    try {
      const task = await makeTask(clip, path.join(folder.path, 'work-force'));
      const cancel = new AbortController();
      const handlers = {
        onMessage: (message: WorkerMessage) => {
          if (message.type === 'progress' && message.share > 0.1) cancel.abort();
        },
      };
      expect(await hasty.run(task, handlers, cancel.signal)).toMatchObject({ ok: false, code: 'cancelled' });
      await expect.poll(() => processesNaming(folder.path)).toEqual([]);
      const again = await makeTask(clip, path.join(folder.path, 'work-again'));
      expect((await hasty.run(again, nothing, new AbortController().signal)).ok).toBe(true);
    } finally {
      await hasty.close();
    }
  });

  it('survives a thread that needs more memory than allowed, and says so', async () => {
    const greedy = path.join(folder.path, 'greedy.mjs');
    await writeFile(
      greedy,
      'export default () => { const all = []; for (;;) all.push({ kept: [1, 2, 3] }); };',
    );
    const small = createMediaPool({ workerUrl: pathToFileURL(greedy), threads: 1, heapMb: 32 });
    try {
      const task = await makeTask(clip, path.join(folder.path, 'work-greedy'));
      const result = await small.run(task, nothing, new AbortController().signal);
      expect(result).toMatchObject({
        ok: false,
        code: 'too_large',
        message: expect.stringContaining('shorter'),
      });
    } finally {
      await small.close();
    }
  });

  it('does not start a task that was cancelled before', async () => {
    const task = await makeTask(clip, path.join(folder.path, 'work-never'));
    const result = await pool.run(task, nothing, AbortSignal.abort());
    expect(result).toMatchObject({ ok: false, code: 'cancelled' });
  });
});
