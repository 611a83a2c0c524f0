import { inPieces } from './in-pieces.ts';
import { uploadedPictureOptions } from './ffmpeg/every-picture.ts';
import type { MediaInfo } from './probe/probe.ts';
import { runFfmpeg } from './ffmpeg/run-ffmpeg.ts';
import type { ToolPaths } from './ffmpeg/tools.ts';

export interface SampleInput {
  readonly inputPath: string;
  readonly info: MediaInfo;
  readonly filters: readonly string[];
  readonly pictureBytes: number;
  readonly take: (picture: Uint8Array) => void;
  readonly tools: ToolPaths;
  readonly threads: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (share: number) => void;
}

/**
 * Decodes a clip and hands out some of its pictures, filtered, as raw bytes.
 * @throws MediaToolError when the clip cannot be decoded or the run is cancelled
 */
export async function samplePictures(input: SampleInput): Promise<void> {
  const { inputPath, info, filters, pictureBytes, take, tools, threads, signal } = input;
  const map = ['-map', `0:${info.video[0]?.index ?? 0}`, '-an', '-sn', '-dn'];
  await runFfmpeg(
    {
      label: 'look at some pictures',
      inputs: [
        {
          path: inputPath,
          format: info.format,
          options: [...uploadedPictureOptions(info), '-threads', String(threads)],
        },
      ],
      outputs: [{ path: 'pipe:1', options: [...map, '-vf', filters.join(','), '-f', 'rawvideo'] }],
      expectedDurationMs: info.durationMs,
    },
    {
      tools,
      signal,
      onStdout: inPieces(pictureBytes, take),
      onProgress: ({ share }) => share !== null && input.onProgress?.(share),
    },
  );
}
