import { execFile } from 'node:child_process';
import { channel } from 'node:diagnostics_channel';
import { performance } from 'node:perf_hooks';

/** One finished run of ffmpeg or ffprobe, as the diagnostics channel `TOOL_RUNS` tells it. */
export interface FinishedToolRun {
  readonly label: string;
  readonly startedAtMs: number;
  readonly tookMs: number;
}

/** Diagnostics channel (`node:diagnostics_channel`) with a `FinishedToolRun` for each ended child. */
export const TOOL_RUNS = 'reelmend:tool-run';
const toolRuns = channel(TOOL_RUNS);

/** Where the sandboxed tools are; made by `sandbox.ts`, handed to threads as plain data. */
export interface ToolPaths {
  readonly ffmpeg: string;
  readonly ffprobe: string;
  /** whisper.cpp's command line; absent where the operator has set up none. */
  readonly whisper?: string;
  /** Milliseconds without progress after which a run of ffmpeg is ended; 60 s when absent. */
  readonly stallMs?: number;
  /** Version that ffmpeg says it has, e.g. "5.1.9-0+deb12u1", when it was asked. */
  readonly version?: string;
}

export type MediaToolCode = 'cancelled' | 'stalled' | 'timed_out' | 'tool_missing' | 'tool_failed';

/** Why a media tool did not finish; `stderrTail` is for logs only, never shown to people. */
export class MediaToolError extends Error {
  readonly code: MediaToolCode;
  readonly stderrTail: string;
  constructor(code: MediaToolCode, message: string, stderrTail = '') {
    super(message);
    this.name = 'MediaToolError';
    this.code = code;
    this.stderrTail = stderrTail;
  }
}

/** Whether a tool ran and gave up on its input; a cancelled run, a stall or a missing tool is something else. */
export const isToolFailure = (error: unknown): error is MediaToolError =>
  error instanceof MediaToolError && error.code === 'tool_failed';

/** Whether a tool failed because of the clip, so that trying again cannot help. */
export function isClipsFault(error: unknown): boolean {
  return error instanceof MediaToolError && ['tool_failed', 'timed_out'].includes(error.code);
}

const STDERR_TAIL_CHARS = 4096;

interface ToolRunOptions {
  readonly signal: AbortSignal | undefined;
  readonly stallMs: number;
  readonly wallMs: number;
}

export interface ToolRun {
  /** Tells that the child made progress; restarts the watchdog. */
  touch: () => void;
  keepStderr(line: string): void;
  stderrTail(): string;
  tookMs(): number;
  /** Starts the child through `begin`, which gets the settle callback and returns a kill function. */
  start(begin: (settle: (error: Error | null) => void) => () => void): Promise<void>;
}

/** Watchdog, wall clock and cancellation around one child process. Times in milliseconds. */
export function createToolRun(label: string, options: ToolRunOptions): ToolRun {
  const startedAt = performance.now();
  let lastSign = startedAt;
  let tail: string[] = [];
  let tailChars = 0;
  const stderrTail = () => tail.join('').slice(-STDERR_TAIL_CHARS);
  let reason: MediaToolCode | null = null;
  return {
    touch: () => {
      lastSign = performance.now();
    },
    keepStderr(line) {
      tail.push(`${line}\n`);
      tailChars += line.length + 1;
      // A decode logs thousands of lines; only the last ones are kept.
      if (tailChars > 4 * STDERR_TAIL_CHARS) {
        tail = [stderrTail()];
        tailChars = STDERR_TAIL_CHARS;
      }
    },
    stderrTail,
    tookMs: () => performance.now() - startedAt,
    start(begin) {
      return new Promise((resolve, reject) => {
        if (options.signal?.aborted) {
          reject(new MediaToolError('cancelled', `${label}: cancelled.`));
          return;
        }
        let kill: () => void = () => undefined;
        const stop = (code: MediaToolCode) => {
          reason ??= code;
          kill();
        };
        const watchdog = setInterval(
          () => {
            const now = performance.now();
            if (now - startedAt > options.wallMs) stop('timed_out');
            else if (now - lastSign > options.stallMs) stop('stalled');
          },
          Math.min(1000, options.stallMs / 2),
        );
        const onAbort = () => stop('cancelled');
        options.signal?.addEventListener('abort', onAbort, { once: true });
        const settle = (error: Error | null) => {
          clearInterval(watchdog);
          options.signal?.removeEventListener('abort', onAbort);
          const tookMs = performance.now() - startedAt;
          toolRuns.publish({ label, startedAtMs: startedAt, tookMs } satisfies FinishedToolRun);
          if (reason) reject(new MediaToolError(reason, `${label}: ${REASONS[reason]}`, stderrTail()));
          else if (error) reject(toToolError(label, error, stderrTail()));
          else resolve();
        };
        kill = begin(settle);
        if (reason) kill();
      });
    },
  };
}

const REASONS: Record<MediaToolCode, string> = {
  cancelled: 'cancelled.',
  stalled: 'stopped because it made no progress.',
  timed_out: 'stopped because it took too long.',
  tool_missing: 'the tool could not be started.',
  tool_failed: 'the tool failed.',
};

function toToolError(label: string, error: Error, tail: string): MediaToolError {
  const missing = /ENOENT|Cannot find ffmpeg/.test(error.message);
  const code = missing ? 'tool_missing' : 'tool_failed';
  return new MediaToolError(code, `${label}: ${missing ? REASONS.tool_missing : error.message}`, tail);
}

export interface ProbeRunOptions {
  readonly signal?: AbortSignal;
  readonly wallMs?: number;
  readonly maxBytes?: number;
}

/**
 * Runs ffprobe (or another short tool) and answers its standard output.
 * @throws MediaToolError like `runFfmpeg`.
 */
export async function runTool(
  label: string,
  path: string,
  args: readonly string[],
  options: ProbeRunOptions = {},
): Promise<{ stdout: string; stderr: string }> {
  let stdout = '';
  let stderr = '';
  const wallMs = options.wallMs ?? 60_000;
  const run = createToolRun(label, { signal: options.signal, stallMs: wallMs, wallMs });
  await run.start((settle) => {
    const child = execFile(
      path,
      [...args],
      { maxBuffer: options.maxBytes ?? 256 << 20, windowsHide: true },
      (error, out, err) => {
        stdout = out;
        stderr = err;
        for (const line of err.split('\n')) if (line) run.keepStderr(line);
        settle(error);
      },
    );
    return () => child.kill('SIGKILL');
  });
  return { stdout, stderr };
}
