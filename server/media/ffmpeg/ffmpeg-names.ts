import { runTool, type ToolPaths } from './tools.ts';

/**
 * Options that ffmpeg renamed and whose old names it then removed. Plans use the new names, which older builds do not
 * know; version 9.0 knows only those (`-vsync` was removed there, deprecated since 5.1; a number as `-enc_time_base`,
 * since 6.1).
 */
const [MODE, OLD_MODE] = ['-fps_mode', '-vsync'];
const [TIME_BASE, OF_THE_CLIP, OLD_OF_THE_CLIP] = ['-enc_time_base', 'demux', '-1'];
/** Pictures of another size than the first keep their size. Builds older than 4.4 (2021) have no such option. */
export const KEEP_SIZES = '-noautoscale';
const CLOCK = '-movie_timescale';
/**
 * For an MP4 file that is read again as one of several: the movie counts milliseconds. All versions did so until 9.0,
 * which takes the finest clock of the tracks. Builds before 5.1 need no option for it.
 */
export const MOVIE_IN_MS: readonly string[] = [CLOCK, '1000'];

/** Makes a decoder log each picture that it outputs, with its time and type. */
export const DECODER_MARKS = '-debug_ts';

/**
 * What ffmpeg itself logs, after the decoder's own words, about a packet that gave no picture: first form up to 6.0;
 * second from 6.1 on, when the decoder takes the packet; third from 7.0 on, when the decoder outputs what it made of
 * it.
 */
export const PACKET_REFUSED =
  /Error while decoding stream|Error submitting packet to decoder|Decoding error: /;

/**
 * Since when a build has something: by release, by number of commits for builds between releases, or by year for builds
 * that only tell that.
 */
interface Since {
  readonly release: readonly [major: number, minor: number];
  readonly commits: number;
  readonly year: number;
}
/** Builds that know the new name warn about the old one, in the middle of their messages about damage. */
const NEW_MODE: Since = { release: [5, 1], commits: 107_500, year: 2023 };
const NEW_TIME_BASE: Since = { release: [6, 1], commits: 112_500, year: 2024 };
const THREADED: Since = { release: [7, 0], commits: 113_000, year: 2024 };
const TELLS_CORRUPT: Since = { release: [4, 2], commits: 93_000, year: 2020 };
const SIZES_KEPT: Since = { release: [4, 4], commits: 102_000, year: 2021 };

/** Every decoded picture is output once, at its own time. */
export const EACH_PICTURE: readonly string[] = [MODE, 'passthrough'];
/** The same, into a file that keeps the clip's time base. */
export const EACH_AT_ITS_TIME: readonly string[] = [...EACH_PICTURE, TIME_BASE, OF_THE_CLIP];

/**
 * Whether a build is older than something.
 * @param version as ffmpeg tells it: "5.1.9-0+deb12u1", "n7.1", "N-47683-g0e8eb07980-static", "2024-03-04-git-..."; an
 * unreadable one counts as new
 */
function isBefore(version: string, { release, commits, year }: Since): boolean {
  const [, major, minor] = /^n?(\d+)\.(\d+)/.exec(version) ?? [];
  if (major !== undefined) return (Number(major) - release[0] || Number(minor) - release[1]) < 0;
  const count = /^N-(\d+)-/.exec(version)?.[1];
  if (count !== undefined) return Number(count) < commits;
  const day = /^(?:git-)?(\d{4})-\d\d-\d\d/.exec(version)?.[1];
  return day !== undefined && Number(day) < year;
}

/**
 * Whether decoders and filters run in threads of their own, from version 7 on. A filter's message about a picture may
 * then come before or after the decoder's message about the next, or in the middle of that line, without a name in
 * front.
 */
export const runsInThreads = (version: string): boolean => !isBefore(version, THREADED);

/**
 * Whether ffmpeg itself tells for each picture whether it is corrupt. The npm package's build of 2018 does not: a
 * picture whose only fault is its early end is told of only at info level, as concealed.
 */
export const tellsCorruptPictures = (version: string): boolean => !isBefore(version, TELLS_CORRUPT);

/** The arguments in the names that a build of this version knows. */
export function namedFor(version: string, args: readonly string[]): string[] {
  const isOld = isBefore(version, NEW_MODE);
  const known = args.filter((name, at) => {
    if (name === KEEP_SIZES) return !isBefore(version, SIZES_KEPT);
    return !isOld || (name !== CLOCK && args[at - 1] !== CLOCK);
  });
  const [hasMode, hasTimeBase] = [!isOld, !isBefore(version, NEW_TIME_BASE)];
  return known.map((name, at) => {
    if (name === MODE && !hasMode) return OLD_MODE;
    const isOfTheClip = name === OF_THE_CLIP && known[at - 1] === TIME_BASE;
    return isOfTheClip && !hasTimeBase ? OLD_OF_THE_CLIP : name;
  });
}

/**
 * The arguments in the names that the ffmpeg of these tools knows.
 * @throws MediaToolError when it cannot run or the job is cancelled
 */
export async function inNamesOf(
  tools: ToolPaths,
  args: readonly string[],
  signal?: AbortSignal,
): Promise<readonly string[]> {
  if (!args.some((name) => CHANGED.has(name))) return args;
  return namedFor(await versionOf(tools, signal), args);
}

const CHANGED = new Set([MODE, TIME_BASE, KEEP_SIZES, CLOCK]);

/**
 * The version that ffmpeg reports, "unknown" when it reports none. It is asked only if it was not asked before.
 * @throws MediaToolError when it cannot run or the job is cancelled
 */
export async function versionOf(tools: ToolPaths, signal?: AbortSignal): Promise<string> {
  if (tools.version !== undefined) return tools.version;
  const { stdout } = await runTool('ask ffmpeg for its version', tools.ffmpeg, ['-version'], { signal });
  return readVersion(stdout) ?? 'unknown';
}

/** The version in the first line of what `ffmpeg -version` prints; null where there is none. */
export const readVersion = (printed: string): string | null =>
  /^ffmpeg version (\S+)/.exec(printed)?.[1] ?? null;
