/**
 * An ffmpeg run as plain data. Builders in `pipeline/` are pure functions that return one of these;
 * `run-ffmpeg.ts` alone turns it into a process. Arguments are arrays, user text never enters them.
 */
export interface FfmpegInput {
  /**
   * Absolute path of a local file, a lavfi source when `lavfi` is true, or `pipe:0` for bytes that the
   * runner's `stdin` hands over (first input only).
   */
  readonly path: string;
  /** Options placed before this `-i`, e.g. `['-ss', '1.5']`. */
  readonly options?: readonly string[];
  readonly lavfi?: boolean;
  /**
   * Demuxer to force. Uploaded bytes always get one, so that a playlist disguised as a clip cannot
   * choose its own (see the sandbox notes in `sandbox.ts`).
   */
  readonly format?: string;
}

export interface FfmpegOutput {
  /** Absolute path, or `pipe:1` for a stream handed to `onStdout`. */
  readonly path: string;
  /** Options placed before the output path, e.g. `['-map', '0:v:0', '-c', 'copy']`. */
  readonly options: readonly string[];
}

export interface FfmpegPlan {
  /** Short name for logs and error sentences, e.g. "decode for analysis". */
  readonly label: string;
  readonly globalOptions?: readonly string[];
  readonly inputs: readonly FfmpegInput[];
  readonly filterComplex?: string;
  readonly outputs: readonly FfmpegOutput[];
  /** Expected length of the output in milliseconds, the base of the progress share; null when unknown. */
  readonly expectedDurationMs: number | null;
  /**
   * Whether the log is read line by line. Then no progress is asked for, because builds since version 7 write it into
   * the middle of other lines; data on the pipe and in the log show that the run goes on.
   */
  readonly isLogRead?: boolean;
  /** ffmpeg log level; default `error`. Decoder messages with PTS need `repeat+info`. */
  readonly logLevel?: string;
}

/** Progress as ffmpeg reports it with `-progress`, never estimated. */
export interface FfmpegProgress {
  /** Output time reached, milliseconds; null until the first report. */
  readonly outTimeMs: number | null;
  readonly frame: number | null;
  /** Share of `expectedDurationMs` done, 0 to 1, monotone; null when the length is unknown. */
  readonly share: number | null;
}

/** Seconds with microsecond digits, the form ffmpeg options take. */
export function toSeconds(ms: number): string {
  return (ms / 1000).toFixed(6);
}

/**
 * An expression that is true where any of the terms is; `0` for none. The terms are added in halves of halves, because
 * ffmpeg nests a plain sum by one level per term and refuses more than about a hundred (measured: 100 terms are read,
 * 110 are not; halved, 6000 are).
 */
export function sumOf(terms: readonly string[]): string {
  const [only] = terms;
  if (terms.length < 2) return only ?? '0';
  const half = terms.length >> 1;
  return `(${sumOf(terms.slice(0, half))}+${sumOf(terms.slice(half))})`;
}

/** The whole argument list of a plan in the order ffmpeg wants it (without the program's name). */
export function planToArgs(plan: FfmpegPlan): string[] {
  const args = ['-nostdin', '-hide_banner', '-y', '-loglevel', plan.logLevel ?? 'error'];
  // Without this, a stream of which two thirds cannot be decoded ends in exit code 69, whatever came out of it.
  args.push('-max_error_rate', '1', ...(plan.globalOptions ?? []));
  for (const input of plan.inputs) {
    if (input.lavfi) args.push('-f', 'lavfi');
    else {
      args.push('-protocol_whitelist', 'file,pipe');
      if (input.format) args.push('-f', input.format);
    }
    const isFile = !input.lavfi && input.path !== 'pipe:0';
    args.push(...(input.options ?? []), '-i', isFile ? `file:${input.path}` : input.path);
  }
  if (plan.filterComplex) args.push('-filter_complex', plan.filterComplex);
  for (const output of plan.outputs) {
    args.push(...output.options, output.path.startsWith('pipe:') ? output.path : `file:${output.path}`);
  }
  return args;
}

/** Filters that number pictures anew, so that each is output once, whatever its time. */
export const ONCE = 'settb=1/25,setpts=N';

/**
 * Filter that sets exactly this sample aspect ratio, such as "128/117". Without the limit ffmpeg rounds to terms up to
 * 100.
 */
export const setAspect = (aspect: string) => `setsar=${aspect}:max=65535`;
