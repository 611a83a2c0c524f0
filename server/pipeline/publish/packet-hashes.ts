import type { FfmpegPlan } from '#server/media/ffmpeg-plan.ts';
import { uploadedInputOptions, type MediaInfo } from '#server/media/probe.ts';
import { runFfmpeg } from '#server/media/run-ffmpeg.ts';
import type { ToolPaths } from '#server/media/tools.ts';

/** One coded unit: its display time in ticks of the stream and the hash of its bytes. */
export interface HashedPacket {
  readonly ptsTicks: number;
  readonly dtsTicks: number;
  readonly hash: string;
}

export interface HashInput {
  readonly path: string;
  readonly info: MediaInfo;
  readonly tools: ToolPaths;
  readonly signal?: AbortSignal;
}

/**
 * SHA-256 of every coded unit of the first video or audio stream, in file order, without decoding. Equal
 * bytes that start at a key frame decode to equal pictures.
 * @throws MediaToolError when the file cannot be read
 */
export function hashPackets(input: HashInput, stream: 'v' | 'a'): Promise<HashedPacket[]> {
  return runHash(input, ['-map', `0:${stream}:0`, '-c', 'copy']);
}

/**
 * SHA-256 of every decoded picture, display order, for streams whose coded form differs between containers
 * (start codes in AVI and transport streams, lengths in MP4).
 * @throws MediaToolError when the file cannot be read
 */
export function hashPictures(input: HashInput): Promise<HashedPacket[]> {
  return runHash(input, ['-map', '0:v:0', '-vsync', 'passthrough']);
}

async function runHash(input: HashInput, choice: readonly string[]): Promise<HashedPacket[]> {
  let text = '';
  await runFfmpeg(hashPlan(input, choice), {
    tools: input.tools,
    signal: input.signal,
    onStdout: (chunk) => {
      text += chunk.toString('latin1');
    },
  });
  return parseFrameHash(text);
}

function hashPlan(input: HashInput, choice: readonly string[]): FfmpegPlan {
  return {
    label: 'hash a stream',
    globalOptions: ['-copyts'],
    inputs: [
      {
        path: input.path,
        format: input.info.format,
        options: [...uploadedInputOptions(input.info.format), '-threads', '2', '-noautorotate'],
      },
    ],
    outputs: [
      {
        path: 'pipe:1',
        options: [...choice, '-f', 'framehash', '-hash', 'sha256'],
      },
    ],
    expectedDurationMs: null,
  };
}

/** Lines of ffmpeg's framehash muxer: `stream, dts, pts, duration, size, hash`. */
export function parseFrameHash(text: string): HashedPacket[] {
  return text.split('\n').flatMap((line) => {
    if (line.startsWith('#')) return [];
    const [, dts, pts, , , hash] = line.split(',').map((field) => field.trim());
    if (hash === undefined || dts === undefined || pts === undefined) return [];
    return [{ ptsTicks: Number(pts), dtsTicks: Number(dts), hash }];
  });
}
