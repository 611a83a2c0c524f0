import { runTool, type ToolPaths } from '#server/media/ffmpeg/tools.ts';

/**
 * Names of the filters of this ffmpeg. Packaged builds lack some, and a fix that needs a missing one says so.
 * @throws MediaToolError when ffmpeg cannot run
 */
export async function readFilters(tools: ToolPaths, signal?: AbortSignal): Promise<ReadonlySet<string>> {
  const { stdout } = await runTool('ask ffmpeg for its filters', tools.ffmpeg, ['-hide_banner', '-filters'], {
    signal,
  });
  return parseFilters(stdout);
}

/**
 * Whether a filter has an option; this may depend on the library that ffmpeg was built with.
 * @throws MediaToolError when ffmpeg cannot run or the request is cancelled
 */
export async function hasFilterOption(
  tools: ToolPaths,
  filter: string,
  option: string,
  signal?: AbortSignal,
): Promise<boolean> {
  const args = ['-hide_banner', '-h', `filter=${filter}`];
  const { stdout } = await runTool('ask ffmpeg for the options of a filter', tools.ffmpeg, args, { signal });
  return parseOptions(stdout).has(option);
}

/** Parses lines such as `   fileformat        <int>        ..FV....... transforms data file format`. */
export const parseOptions = (text: string): ReadonlySet<string> =>
  new Set([...text.matchAll(/^ +(\w+) +<\w+> /gm)].map((match) => match[1] ?? ''));

/** Parses lines such as ` TSC cas               V->V       Contrast Adaptive Sharpen.` */
export function parseFilters(text: string): ReadonlySet<string> {
  const names = [...text.matchAll(/^\s*[A-Z.]{2,4}\s+(\w+)\s+\S+->\S+/gm)].map((match) => match[1] ?? '');
  return new Set(names);
}
