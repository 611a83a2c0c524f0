import { cpus, totalmem } from 'node:os';
import { runTool, type ToolPaths } from '#server/media/tools.ts';

/** One line that says what the figures were measured on. */
export async function describeMachine(tools: ToolPaths): Promise<string> {
  const { stdout } = await runTool('ask ffmpeg for its version', tools.ffmpeg, ['-version']);
  const ffmpeg = /^ffmpeg version (\S+)/.exec(stdout)?.[1] ?? 'unknown';
  const processors = cpus();
  const memory = Math.round(totalmem() / 2 ** 30);
  const model = processors[0]?.model.trim() ?? 'unknown processor';
  return `${processors.length} x ${model}, ${memory} GB, Node ${process.versions.node}, ffmpeg ${ffmpeg}`;
}
