import { runTool, type ToolPaths } from '#server/media/tools.ts';

/**
 * Names of the filters that this ffmpeg has: packaged builds lack some, and a fix that needs one says so in words.
 * @throws MediaToolError when ffmpeg cannot run
 */
export async function readFilters(tools: ToolPaths, signal?: AbortSignal): Promise<ReadonlySet<string>> {
  const { stdout } = await runTool('ask ffmpeg for its filters', tools.ffmpeg, ['-hide_banner', '-filters'], {
    signal,
  });
  return parseFilters(stdout);
}

/** Lines such as ` TSC cas               V->V       Contrast Adaptive Sharpen.` */
export function parseFilters(text: string): ReadonlySet<string> {
  const names = [...text.matchAll(/^\s*[A-Z.]{2,4}\s+(\w+)\s+\S+->\S+/gm)].map((match) => match[1] ?? '');
  return new Set(names);
}
