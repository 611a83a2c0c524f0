import { cpus, totalmem } from 'node:os';
import { versionOf } from '#server/media/ffmpeg/ffmpeg-names.ts';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';

/** One line describing the machine that the figures were measured on. */
export async function describeMachine(tools: ToolPaths): Promise<string> {
  const ffmpeg = await versionOf(tools);
  const processors = cpus();
  const memory = Math.round(totalmem() / 2 ** 30);
  const model = processors[0]?.model.trim() ?? 'unknown processor';
  return `${processors.length} x ${model}, ${memory} GB, Node ${process.versions.node}, ffmpeg ${ffmpeg}`;
}
