import { runTool, type ToolPaths } from './tools.ts';

/**
 * Names that ffmpeg gave new ones and then took away: plans use the new ones, which older builds do not know, and
 * version 9.0 knows no others (`-vsync` went there, deprecated since 5.1; a number as `-enc_time_base`, since 6.1).
 */
const [MODE, OLD_MODE] = ['-fps_mode', '-vsync'];
const [TIME_BASE, OF_THE_CLIP, OLD_OF_THE_CLIP] = ['-enc_time_base', 'demux', '-1'];
/** Pictures of another size than the first stay as they are. Builds of before 2021 (4.4) know no word for it. */
export const KEEP_SIZES = '-noautoscale';
const CLOCK = '-movie_timescale';
/**
 * Of an MP4 file that is read again as one of several: a movie counts milliseconds, as it did in all versions until 9.0 took the
 * finest clock of the tracks for it. Builds before 5.1 need no word for it.
 */
export const MOVIE_IN_MS: readonly string[] = [CLOCK, '1000'];

/** Makes a decoder say when it hands a picture on, with its time and type. */
export const DECODER_MARKS = '-debug_ts';

/**
 * What ffmpeg itself says, behind the decoder's own words, of a packet that gave nothing: up to 6.0; from 6.1 on where the decoder
 * takes it; and from 7.0 on where it hands on what it made of it.
 */
export const PACKET_REFUSED =
  /Error while decoding stream|Error submitting packet to decoder|Decoding error: /;

/** By release, by number of commits for builds between releases, and by the year that others tell. */
interface Since {
  readonly release: readonly [major: number, minor: number];
  readonly commits: number;
  readonly year: number;
}
/** Builds that know the new name remark on the old one, among what they say of damage. */
const NEW_MODE: Since = { release: [5, 1], commits: 107_500, year: 2023 };
const NEW_TIME_BASE: Since = { release: [6, 1], commits: 112_500, year: 2024 };
const THREADED: Since = { release: [7, 0], commits: 113_000, year: 2024 };
const TELLS_CORRUPT: Since = { release: [4, 2], commits: 93_000, year: 2020 };
const SIZES_KEPT: Since = { release: [4, 4], commits: 102_000, year: 2021 };

/** Every decoded picture is handed on once, at its own time. */
export const EACH_PICTURE: readonly string[] = [MODE, 'passthrough'];
/** The same into a file that keeps the time base of the clip. */
export const EACH_AT_ITS_TIME: readonly string[] = [...EACH_PICTURE, TIME_BASE, OF_THE_CLIP];

/**
 * Whether a build is older than something.
 * @param version as ffmpeg tells it: "5.1.9-0+deb12u1", "n7.1", "N-47683-g0e8eb07980-static", "2024-03-04-git-..."; one that cannot
 * be read is taken for new
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
 * Whether decoders and filters run in threads of their own, from version 7 on: what a filter says of a picture may then come before
 * or behind what the decoder says of the next, and in the middle of its line, without a name in front.
 */
export const runsInThreads = (version: string): boolean => !isBefore(version, THREADED);

/**
 * Whether ffmpeg itself tells of each picture that it hands on whether it is corrupt. Before (the npm package's build of 2018), a
 * picture of which the decoder found no fault but its early end is told of at the level of news alone, as what was concealed.
 */
export const tellsCorruptPictures = (version: string): boolean => !isBefore(version, TELLS_CORRUPT);

/** The arguments as a build of some version knows them. */
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
 * Arguments in the names that the ffmpeg of these tools knows.
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
 * The version that ffmpeg says it has, "unknown" when it says none; it is asked only where nobody did.
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
