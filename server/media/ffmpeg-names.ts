import { runTool, type ToolPaths } from './tools.ts';

/**
 * Names that ffmpeg gave new ones and then took away: plans use the new ones, which builds of before 2024 do not know, and
 * version 9.0 knows no others (`-vsync` went there, deprecated since 5.1; a number as `-enc_time_base`, since 6.1).
 */
const [MODE, OLD_MODE] = ['-fps_mode', '-vsync'];
const [TIME_BASE, OF_THE_CLIP, OLD_OF_THE_CLIP] = ['-enc_time_base', 'demux', '-1'];
/** The first release of 2024; between 5.1 and it both names work. */
const FIRST_MAJOR = 7;
/** Builds between releases count their commits or tell their day. */
const FIRST_COMMIT = 115_000;
const FIRST_YEAR = 2024;

/** Every decoded picture is handed on once, at its own time. */
export const EACH_PICTURE: readonly string[] = [MODE, 'passthrough'];
/** The same into a file that keeps the time base of the clip. */
export const EACH_AT_ITS_TIME: readonly string[] = [...EACH_PICTURE, TIME_BASE, OF_THE_CLIP];

/**
 * Whether a build needs the old names.
 * @param version as ffmpeg tells it: "5.1.9-0+deb12u1", "n7.1", "N-47683-g0e8eb07980-static", "2024-03-04-git-..."; one that cannot
 * be read is taken for new
 */
export function usesOldNames(version: string): boolean {
  const release = /^n?(\d+)\.\d/.exec(version)?.[1];
  if (release !== undefined) return Number(release) < FIRST_MAJOR;
  const commits = /^N-(\d+)-/.exec(version)?.[1];
  if (commits !== undefined) return Number(commits) < FIRST_COMMIT;
  const year = /^(?:git-)?(\d{4})-\d\d-\d\d/.exec(version)?.[1];
  return year !== undefined && Number(year) < FIRST_YEAR;
}

/** The arguments with the old names in place of the new ones. */
function withOldNames(args: readonly string[]): string[] {
  return args.map((name, at) => {
    if (name === MODE) return OLD_MODE;
    return name === OF_THE_CLIP && args[at - 1] === TIME_BASE ? OLD_OF_THE_CLIP : name;
  });
}

/**
 * Arguments in the names that the ffmpeg of these tools knows; it is asked for its version only where that matters and nobody did.
 * @throws MediaToolError when it cannot run or the job is cancelled
 */
export async function inNamesOf(
  tools: ToolPaths,
  args: readonly string[],
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const old = withOldNames(args);
  if (old.every((name, at) => name === args[at])) return args;
  return usesOldNames(tools.version ?? (await askVersion(tools, signal))) ? old : args;
}

/**
 * The version that ffmpeg says it has, "unknown" when it says none.
 * @throws MediaToolError when it cannot run or the job is cancelled
 */
export async function askVersion(tools: Pick<ToolPaths, 'ffmpeg'>, signal?: AbortSignal): Promise<string> {
  const { stdout } = await runTool('ask ffmpeg for its version', tools.ffmpeg, ['-version'], { signal });
  return /^ffmpeg version (\S+)/.exec(stdout)?.[1] ?? 'unknown';
}
