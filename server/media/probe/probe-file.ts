import { probe, type MediaInfo } from './probe.ts';
import { sniffFile } from './sniff-container.ts';
import { MediaToolError, type ToolPaths } from '../ffmpeg/tools.ts';

/**
 * Reads what a file declares; its container is told by its bytes.
 * @throws MediaToolError when it is no clip, or cannot be read, or the run is cancelled
 */
export async function probeFile(tools: ToolPaths, file: string, signal: AbortSignal): Promise<MediaInfo> {
  const format = await sniffFile(file);
  if (!format) throw new MediaToolError('tool_failed', 'the file is no clip');
  return probe(tools, file, format, signal);
}
