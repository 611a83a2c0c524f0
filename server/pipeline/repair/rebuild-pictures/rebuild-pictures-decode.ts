import { uploadedInputOptions, type MediaInfo } from '#server/media/probe.ts';
import { runFfmpeg } from '#server/media/run-ffmpeg.ts';
import { pictureTicks } from '#server/media/showinfo.ts';
import { sumOf, toSeconds, type FfmpegPlan } from '#server/media/ffmpeg-plan.ts';
import type { ToolPaths } from '#server/media/tools.ts';
import type { PictureTimes } from '../../analyse/analysis.ts';
import type { RebuildTask } from '../picture-task.ts';
import type { RebuildKernels } from './rebuild-pictures-judge.ts';
import type { RawFormat } from './rebuild-pictures-raw.ts';

export interface DecodeInput {
  readonly inputPath: string;
  readonly info: MediaInfo;
  readonly pictures: PictureTimes;
  readonly format: RawFormat;
  /** Threads of the decoder, each of which holds a picture more in memory; default 2. */
  readonly threads?: number;
  /** Pictures that are decoded before the first one asked for at least, where there are so many; default 0. */
  readonly warmUp?: number;
  readonly tools: ToolPaths;
  readonly signal?: AbortSignal;
}

export interface RebuildInput extends DecodeInput {
  readonly task: RebuildTask;
  /** True for pictures that are no truth: damaged, repeated or in another hole. */
  readonly isBad: (frame: number) => boolean;
  /** True for copies of the picture before them, which are as far from the truth as they look near to it. */
  readonly isRepeat?: (frame: number) => boolean;
  readonly sceneCuts: readonly number[];
  /** Working memory that several holes share. */
  readonly kernels?: RebuildKernels;
  /** Raw file to write; only pictures that are new stand in it. */
  readonly rawPath: string;
}

/**
 * Decodes single pictures of the original, exactly those asked for, in the stream's own pixel format and
 * without rotation. Starts at the key frame before the first one; when the container's seek lands wrong,
 * a second run reads from the start.
 * @param frames display-order numbers, any order
 * @returns pictures that came out of the decoder; undecodable ones are missing
 */
export async function decodePictures(
  input: DecodeInput,
  frames: readonly number[],
): Promise<Map<number, Uint8Array>> {
  const wanted = [...new Set(frames)].sort((a, b) => a - b);
  const first = wanted[0];
  if (first === undefined) return new Map();
  const found = await decodeFrom(input, wanted, keyframeBefore(input.pictures, first - (input.warmUp ?? 0)));
  return found.size === wanted.length ? found : decodeFrom(input, wanted, 0);
}

async function decodeFrom(
  input: DecodeInput,
  wanted: readonly number[],
  startFrame: number,
): Promise<Map<number, Uint8Array>> {
  const decoded: Uint8Array[] = [];
  const order: number[] = [];
  const assemble = collectPictures(input.format.pictureBytes, (picture) => {
    decoded.push(picture);
  });
  await runFfmpeg(decodePlan(input, wanted, startFrame), {
    tools: input.tools,
    signal: input.signal,
    onStdout: assemble,
    // Which pictures came is said by their times: damaged clips may lack some of those asked for.
    onStderrLine: (line) => {
      const ticks = pictureTicks(line);
      if (typeof ticks === 'number') order.push(input.pictures.ptsTicks.indexOf(ticks));
    },
  });
  const found = new Map<number, Uint8Array>();
  decoded.forEach((picture, index) => {
    const frame = order.length > 0 ? order[index] : wanted[index];
    if (frame !== undefined && frame >= 0) found.set(frame, picture);
  });
  return found;
}

/** Containers whose packets carry the display times that the picture list was made from. */
function hasTimes(info: MediaInfo): boolean {
  return info.format !== 'avi' && info.format !== 'mpeg';
}

const DECODER_THREADS = 2;

function decodePlan(input: DecodeInput, wanted: readonly number[], startFrame: number): FfmpegPlan {
  const { info, pictures } = input;
  const byTime = hasTimes(info);
  const chosen = sumOf(
    wanted.map((frame) => (byTime ? `eq(pts,${pictures.ptsTicks[frame] ?? -1})` : `eq(n,${frame})`)),
  );
  const startTicks = pictures.ptsTicks[startFrame] ?? 0;
  const startMs = (startTicks * pictures.timeBase.num * 1000) / pictures.timeBase.den;
  const seek =
    byTime && startFrame > 0
      ? ['-noaccurate_seek', '-ss', toSeconds(Math.max(0, startMs - (info.startMs ?? 0)))]
      : [];
  const chain = [
    `[0:${info.video[0]?.index ?? 0}]select='${chosen}'`,
    `format=${input.format.name}`,
    ...(byTime ? ['showinfo=checksum=0'] : []),
    'settb=1/25',
    'setpts=N[out]',
  ].join(',');
  return {
    label: 'decode single pictures',
    logLevel: 'info',
    globalOptions: ['-copyts'],
    inputs: [
      {
        path: input.inputPath,
        format: info.format,
        options: [
          ...uploadedInputOptions(info.format),
          '-threads',
          String(input.threads ?? DECODER_THREADS),
          ...seek,
          '-noautorotate',
        ],
      },
    ],
    filterComplex: chain,
    outputs: [
      {
        path: 'pipe:1',
        options: ['-map', '[out]', '-frames:v', String(wanted.length), '-r', '25', '-f', 'rawvideo'],
      },
    ],
    expectedDurationMs: null,
  };
}

function keyframeBefore(pictures: PictureTimes, frame: number): number {
  for (let at = frame; at > 0; at -= 1) if (pictures.keyframe[at]) return at;
  return 0;
}

/** Cuts a byte stream into pictures; each one handed on is the receiver's own copy. */
export function collectPictures(
  pictureBytes: number,
  onPicture: (picture: Uint8Array, index: number) => void | Promise<void>,
): (chunk: Buffer) => Promise<void> {
  let pending = new Uint8Array(pictureBytes);
  let filled = 0;
  let index = 0;
  return async (chunk) => {
    for (let at = 0; at < chunk.length;) {
      const take = Math.min(pictureBytes - filled, chunk.length - at);
      pending.set(chunk.subarray(at, at + take), filled);
      filled += take;
      at += take;
      if (filled < pictureBytes) continue;
      const whole = pending;
      pending = new Uint8Array(pictureBytes);
      filled = 0;
      await onPicture(whole, index);
      index += 1;
    }
  };
}
