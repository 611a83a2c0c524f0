import { uploadedInputOptions, type MediaInfo } from '#server/media/probe.ts';
import { runFfmpeg } from '#server/media/run-ffmpeg.ts';
import type { ToolPaths } from '#server/media/tools.ts';

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
  let rest: Buffer = Buffer.alloc(0);
  const collect = (chunk: Buffer) => {
    const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
    const whole = bytes.length - (bytes.length % pictureBytes);
    for (let at = 0; at < whole; at += pictureBytes) take(bytes.subarray(at, at + pictureBytes));
    rest = Buffer.from(bytes.subarray(whole));
  };
  const map = ['-map', `0:${info.video[0]?.index ?? 0}`, '-an', '-sn', '-dn'];
  await runFfmpeg(
    {
      label: 'look at some pictures',
      inputs: [
        {
          path: inputPath,
          format: info.format,
          options: [...uploadedInputOptions(info.format), '-threads', String(threads)],
        },
      ],
      outputs: [{ path: 'pipe:1', options: [...map, '-vf', filters.join(','), '-f', 'rawvideo'] }],
      expectedDurationMs: info.durationMs,
    },
    {
      tools,
      signal,
      onStdout: collect,
      onProgress: ({ share }) => share !== null && input.onProgress?.(share),
    },
  );
}
