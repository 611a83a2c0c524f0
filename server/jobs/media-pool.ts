import { CANCELLED, OUR_FAULT } from '#server/pipeline/media-failure.ts';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { MessageChannel } from 'node:worker_threads';
import { Piscina } from 'piscina';
import type { z } from 'zod';
import {
  applyFixesResult,
  fixesMessage,
  processVideoResult,
  workerMessage,
  type ApplyFixesResult,
  type ApplyFixesTask,
  type CancelMessage,
  type FailedTask,
  type FixesMessage,
  type ProcessVideoResult,
  type ProcessVideoTask,
  type WorkerMessage,
} from '#server/pipeline/worker-protocol.ts';
import { detailOf } from '#server/error-detail.ts';

interface PoolLogger {
  warn(fields: Record<string, unknown>, message: string): void;
}

export interface MediaPoolOptions {
  /** The worker's entry: `worker.ts` in development and tests, `worker.js` in the bundle. */
  readonly workerUrl: URL;
  /** Number of clips processed at the same time. */
  readonly threads: number;
  readonly logger?: PoolLogger;
  /** Heap of a thread, MB. A thread that needs more ends alone instead of bringing down the server. */
  readonly heapMb?: number;
  /** How long a cancelled thread may take to end by itself, ms; default 10 s. */
  readonly cancelGraceMs?: number;
}

export interface MediaPool {
  /**
   * Runs one task in a thread. Aborting `signal` asks the thread to stop; it answers `cancelled` when its ffmpeg child
   * has ended. Never rejects for a failed clip: failures are values.
   */
  run(
    task: ProcessVideoTask,
    handlers: { readonly onMessage: (message: WorkerMessage) => void },
    signal: AbortSignal,
  ): Promise<ProcessVideoResult>;
  /** The same for quick fixes. */
  applyFixes(
    task: ApplyFixesTask,
    handlers: { readonly onMessage: (message: FixesMessage) => void },
    signal: AbortSignal,
  ): Promise<ApplyFixesResult>;
  /** Ends all threads; running tasks answer `cancelled` or `internal`. */
  close(): Promise<void>;
}

const CANCEL_GRACE_MS = 10_000;
/** Idle threads end after this time and free their memory. */
const IDLE_TIMEOUT_MS = 5000;

/** Starts no thread until the first task; see `MediaPool`. */
export function createMediaPool(options: MediaPoolOptions): MediaPool {
  const filename = fileURLToPath(options.workerUrl);
  const pool = new Piscina({
    filename,
    minThreads: 0,
    maxThreads: options.threads,
    idleTimeout: IDLE_TIMEOUT_MS,
    ...(options.heapMb === undefined ? {} : { resourceLimits: { maxOldGenerationSizeMb: options.heapMb } }),
  });
  // A thread that cannot even load its code also reports it here; unhandled, the error would end the server.
  pool.on('error', (error: Error) => {
    options.logger?.warn({ detail: detailOf(error) }, 'media thread broke');
  });
  const graceMs = options.cancelGraceMs ?? CANCEL_GRACE_MS;

  /** A task with the types of its messages and its result. */
  async function runShaped<Message, Result>(
    task: ProcessVideoTask | ApplyFixesTask,
    shapes: { readonly message: z.ZodType<Message>; readonly result: z.ZodType<Result> },
    onMessage: (message: Message) => void,
    signal: AbortSignal,
  ): Promise<Result | FailedTask> {
    if (signal.aborted) return failure('cancelled', 'Cancelled before it began.');
    const { port1: port, port2: threadPort } = new MessageChannel();
    const lastResort = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const cancel = () => {
      port.postMessage({ type: 'cancel' } satisfies CancelMessage);
      timer ??= setTimeout(() => lastResort.abort(), graceMs);
    };
    signal.addEventListener('abort', cancel, { once: true });
    port.on('message', (raw: unknown) => {
      const parsed = shapes.message.safeParse(raw);
      if (parsed.success) onMessage(parsed.data);
      else options.logger?.warn({ videoId: task.videoId, error: parsed.error.message }, 'odd thread message');
    });
    try {
      const raw: unknown = await pool.run(
        { task, port: threadPort },
        { transferList: [threadPort], signal: lastResort.signal },
      );
      const parsed = shapes.result.safeParse(raw);
      return parsed.success ? parsed.data : failure('internal', `odd thread result: ${parsed.error.message}`);
    } catch (error) {
      const killed = await killChildrenOf(task);
      const detail = detailOf(error);
      options.logger?.warn({ videoId: task.videoId, killed, detail }, 'media thread ended by force');
      if (signal.aborted) return failure('cancelled', detail);
      return failure(isOutOfMemory(error) ? 'too_large' : 'internal', detail);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', cancel);
      port.close();
    }
  }

  return {
    run: (task, { onMessage }, signal) =>
      runShaped(task, { message: workerMessage, result: processVideoResult }, onMessage, signal),
    applyFixes: (task, { onMessage }, signal) =>
      runShaped(task, { message: fixesMessage, result: applyFixesResult }, onMessage, signal),
    async close() {
      await pool.destroy();
    },
  };
}

const SENTENCES = {
  cancelled: CANCELLED,
  too_large:
    'Mending this clip takes more memory than this server has. Cut it into shorter parts and try again.',
  internal: OUR_FAULT,
} as const;

function failure(code: keyof typeof SENTENCES, detail: string): FailedTask {
  return { ok: false, code, message: SENTENCES[code], detail };
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}

/**
 * Kills media tools that a thread ended by force has left behind: children of this process whose command line names the
 * task's files. It reads `/proc`, so it does nothing on systems without that.
 */
async function killChildrenOf(task: ProcessVideoTask | ApplyFixesTask): Promise<number[]> {
  const killed: number[] = [];
  const names = await readdir('/proc').catch(() => []);
  for (const name of names) {
    if (!/^\d+$/.test(name)) continue;
    const status = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '');
    const command = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '');
    // proc(5): pid (name) state ppid. The name may contain blanks and brackets, so the last bracket is searched.
    const parent = Number(status.slice(status.lastIndexOf(')') + 2).split(' ')[1]);
    if (parent !== process.pid) continue;
    if (!command.includes(task.workDir) && !command.includes(task.inputPath)) continue;
    try {
      process.kill(Number(name), 'SIGKILL');
      killed.push(Number(name));
    } catch {
      continue;
    }
  }
  return killed;
}
