import { Readable, Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import ffmpeg from 'fluent-ffmpeg';
import { inNamesOf } from './ffmpeg-names.ts';
import { planToArgs, type FfmpegPlan, type FfmpegProgress } from './ffmpeg-plan.ts';
import { createProgressReader } from './progress.ts';
import { createToolRun, MediaToolError, type ToolPaths } from './tools.ts';

export interface RunOptions {
  readonly tools: ToolPaths;
  /** Aborting kills the child at once; the run rejects with code `cancelled`. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: FfmpegProgress) => void;
  /** Every line ffmpeg writes to stderr, progress lines excluded. */
  readonly onStderrLine?: (line: string) => void;
  /** Bytes of an output whose path is `pipe:1`; ffmpeg waits while the returned promise is pending. */
  readonly onStdout?: (chunk: Buffer) => void | Promise<void>;
  /** Bytes for an input whose path is `pipe:0`, asked for only as fast as ffmpeg takes them. */
  readonly stdin?: AsyncIterable<Buffer>;
  /**
   * Milliseconds without any sign of progress after which the child is killed; by default those of the tools, else
   * 60 000.
   */
  readonly stallMs?: number;
  /** Hard limit of the whole run in milliseconds; default 30 min. */
  readonly wallMs?: number;
}

export interface RunResult {
  readonly stderrTail: string;
  readonly tookMs: number;
}

const STALL_MS = 60_000;
const WALL_MS = 30 * 60_000;
/** Hard limit for decoding or coding a whole clip of any length, ms. */
export const CODING_WALL_MS = 4 * 60 * 60_000;

/**
 * What ffmpeg says since version 7 when an output got no picture and no sound; it then calls the run failed. Earlier
 * versions wrote an empty output and succeeded. Callers that want pictures count what came.
 */
const NOTHING_CAME = /Could not open encoder before EOF/;
/** Filters that could not be set up also give nothing, but that is a failure and no empty output. */
const REFUSED = /Error reinitializing filters/;

/**
 * Runs one plan to its end. The only place that starts ffmpeg: it adds machine-readable progress, the
 * no-progress watchdog and cancellation; no child outlives the returned promise.
 * @throws MediaToolError with code `cancelled`, `stalled`, `timed_out`, `tool_missing` or `tool_failed`.
 */
export async function runFfmpeg(plan: FfmpegPlan, options: RunOptions): Promise<RunResult> {
  const args = await inNamesOf(options.tools, planToArgs(plan), options.signal);
  const run = createToolRun(plan.label, {
    signal: options.signal,
    stallMs: options.stallMs ?? options.tools.stallMs ?? STALL_MS,
    wallMs: options.wallMs ?? WALL_MS,
  });
  const progress = createProgressReader(plan.expectedDurationMs);
  const command = withoutQuestions(ffmpeg({ stdoutLines: 0 }));
  command.setFfmpegPath(options.tools.ffmpeg);
  // Only one chunk ahead, because a chunk may be a whole raw picture of several megabytes.
  const source = options.stdin && Readable.from(options.stdin, { objectMode: true, highWaterMark: 1 });
  const sink = options.onStdout && toWritable(options.onStdout, run.touch);
  const drained = sink ? finished(sink) : Promise.resolve();
  drained.catch(() => undefined);
  const asked = plan.isLogRead ? ['-nostats'] : ['-progress', 'pipe:2', '-nostats'];
  addArgs(command, plan.label, [...asked, ...args], { sink, stdin: source });

  const work = run.start((settle) => {
    command.on('stderr', (line: string) => {
      const update = plan.isLogRead ? 'log' : progress.read(line);
      if (plan.isLogRead) run.touch();
      if (update === 'log') {
        run.keepStderr(line);
        options.onStderrLine?.(line);
      } else if (update) {
        if (update.advanced) run.touch();
        options.onProgress?.(update.progress);
      }
    });
    command.on('end', () => settle(null));
    command.on('error', (error: Error) => {
      // When the input stream fails, the child waits for the rest of it.
      command.kill('SIGKILL');
      const said = run.stderrTail();
      settle(NOTHING_CAME.test(said) && !REFUSED.test(said) ? null : error);
    });
    command.run();
    return () => command.kill('SIGKILL');
  });
  await work.finally(() => source?.destroy());
  // The child may have ended while the reader still works on its last bytes.
  await drained;
  return { stderrTail: run.stderrTail(), tookMs: run.tookMs() };
}

/**
 * fluent-ffmpeg first asks ffmpeg for its formats and encoders, in children that `kill` does not reach: one that hangs
 * would keep the run for ever. Our plans name nothing that ffmpeg would not refuse by itself.
 */
function withoutQuestions(command: ffmpeg.FfmpegCommand): ffmpeg.FfmpegCommand {
  return Object.assign(command, {
    _checkCapabilities: (done: () => void) => done(),
    availableEncoders: (done: (error: null, encoders: object) => void) => done(null, {}),
  });
}

function addArgs(
  command: ffmpeg.FfmpegCommand,
  label: string,
  args: readonly string[],
  { sink, stdin }: { readonly sink: Writable | undefined; readonly stdin: Readable | undefined },
): void {
  const firstInput = args.indexOf('-i');
  // fluent-ffmpeg places "-i path" after the options of that input and everything else after the last
  // input, so handing it one input and one output keeps the exact order of planToArgs.
  const beforeInput = args.slice(0, firstInput);
  const source = args[firstInput + 1];
  const last = args.at(-1);
  if (source === undefined || last === undefined) {
    throw new MediaToolError('tool_failed', `${label}: a plan needs an input and an output.`);
  }
  const afterInput = args.slice(firstInput + 2, -1);
  if (source === 'pipe:0' && !stdin) {
    throw new MediaToolError('tool_failed', `${label}: pipe input without a source.`);
  }
  if (afterInput.includes('pipe:1')) {
    throw new MediaToolError('tool_failed', `${label}: what goes to a pipe must be the last output.`);
  }
  command.input(source === 'pipe:0' && stdin ? stdin : source).inputOptions(...pairwise(beforeInput));
  if (last === 'pipe:1') {
    if (!sink) throw new MediaToolError('tool_failed', `${label}: pipe output without a reader.`);
    command.output(sink, { end: true });
  } else {
    command.output(last);
  }
  if (afterInput.length > 0) command.outputOptions(...pairwise(afterInput));
}

// fluent-ffmpeg splits a single option at its space; two or more arguments are taken as they are.
function pairwise(list: string[]): [string, string, ...string[]] {
  const [first = '', second, ...rest] = list;
  return second === undefined ? [first, '-hide_banner'] : [first, second, ...rest];
}

function toWritable(onStdout: NonNullable<RunOptions['onStdout']>, touch: () => void): Writable {
  return new Writable({
    highWaterMark: 1 << 20,
    // On "close", fluent-ffmpeg gives the process 20 ms to end and then calls the run failed, which is too little on a
    // machine under load. Only the exit of the process ends the run.
    emitClose: false,
    write(chunk: Buffer, _encoding, done) {
      touch();
      Promise.resolve(onStdout(chunk)).then(() => done(), done);
    },
  });
}
