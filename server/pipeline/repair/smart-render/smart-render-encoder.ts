import type { FileHandle } from 'node:fs/promises';
import type { FfmpegInput, FfmpegPlan } from '#server/media/ffmpeg/ffmpeg-plan.ts';
import { inRange } from '#server/media/ffmpeg/in-range.ts';
import { createAnnexBSplitter, joinSample } from '#server/media/h264/nal.ts';
import { writeFully, type ByteRange } from '#server/media/mp4/file-bytes.ts';
import { CODING_WALL_MS, runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';

export interface EncodedPicture {
  readonly bytes: ByteRange;
  readonly sync: boolean;
}

/** A picture as it goes into the file. */
export interface CodedPicture {
  readonly key: boolean;
  readonly units: readonly Buffer[];
}

/** Collects the encoder's NAL units into pictures that fit the clip. */
export interface UnitCollector {
  /** Takes the encoder's next NAL unit; returns the picture that it completes. */
  push(unit: Buffer): CodedPicture | null;
  end(): CodedPicture | null;
}

/** Format of raw pictures. */
export interface RawPictures {
  readonly width: number;
  readonly height: number;
  readonly pixelFormat: string;
  /** Usual pictures per second, for rate control only. */
  readonly frameRate: number;
}

/** Files whose pictures the encoder's own process decodes and sorts. */
export interface DirectPictures {
  readonly inputs: readonly FfmpegInput[];
  /** Filter graph that ends in the label `out`. */
  readonly filterComplex: string;
}

export interface EncoderRun {
  /** Raw pictures one by one, or where the encoder finds them itself. */
  readonly pictures: AsyncIterable<Buffer> | DirectPictures;
  /** File for coded pictures. */
  readonly spool: FileHandle;
  /** Reserves this many bytes in it and returns their offset; several runs share one file. */
  readonly take: (sizeBytes: number) => number;
  readonly tools: ToolPaths;
  readonly signal?: AbortSignal;
  readonly onPicture?: () => void;
}

const isDirect = (pictures: EncoderRun['pictures']): pictures is DirectPictures =>
  'filterComplex' in pictures;

/** Plan of a run that takes raw pictures, from its input or from files, and writes the coded stream to its output. */
export function encoderPlan(
  { width, height, pixelFormat, frameRate }: RawPictures,
  pictures: EncoderRun['pictures'],
  options: readonly string[],
): FfmpegPlan {
  const [ranged] = inRange(pixelFormat);
  if (isDirect(pictures)) {
    const { inputs, filterComplex } = pictures;
    const graph = ranged ? `${filterComplex};[out]${ranged}[ranged]` : filterComplex;
    const rate = ['-map', ranged ? '[ranged]' : '[out]', '-r', `${rateMilli(frameRate)}/1000`];
    return {
      label: 'encode replaced pictures',
      globalOptions: ['-copyts'],
      inputs,
      filterComplex: graph,
      outputs: [{ path: 'pipe:1', options: [...rate, ...options] }],
      expectedDurationMs: null,
    };
  }
  const shape = ['-pixel_format', pixelFormat.replace('yuvj', 'yuv'), '-video_size', `${width}x${height}`];
  return {
    label: 'encode replaced pictures',
    inputs: [{ path: 'pipe:0', format: 'rawvideo', options: [...shape, '-framerate', frameRate.toFixed(3)] }],
    outputs: [{ path: 'pipe:1', options: ['-map', '0:v:0', ...(ranged ? ['-vf', ranged] : []), ...options] }],
    expectedDurationMs: null,
  };
}

/** Allocates the bytes of a file from `position` on. */
export function spoolFrom(position: number): EncoderRun['take'] {
  let end = position;
  return (sizeBytes) => {
    end += sizeBytes;
    return end - sizeBytes;
  };
}

/** Pictures in a thousand seconds. */
export const rateMilli = (frameRate: number): number => Math.round(frameRate * 1000);

/**
 * Encodes raw pictures and appends what the collector makes of the stream to the spool file.
 * @param lengthSize bytes of the length before each NAL unit in the file
 * @throws MediaToolError when the encoder fails, and what the collector throws
 */
export async function runEncoder(
  plan: FfmpegPlan,
  run: EncoderRun,
  collector: UnitCollector,
  lengthSize: number,
): Promise<EncodedPicture[]> {
  const splitter = createAnnexBSplitter();
  const pictures: EncodedPicture[] = [];
  const store = async (coded: CodedPicture | null) => {
    if (!coded) return;
    const bytes = joinSample(coded.units, lengthSize);
    const offset = run.take(bytes.length);
    await writeFully(run.spool, bytes, offset);
    pictures.push({ bytes: { file: run.spool, offset, sizeBytes: bytes.length }, sync: coded.key });
    run.onPicture?.();
  };
  await runFfmpeg(plan, {
    tools: run.tools,
    signal: run.signal,
    ...(isDirect(run.pictures) ? {} : { stdin: run.pictures }),
    wallMs: CODING_WALL_MS,
    onStdout: async (chunk) => {
      for (const unit of splitter.push(chunk)) await store(collector.push(unit));
    },
  });
  for (const unit of splitter.end()) await store(collector.push(unit));
  await store(collector.end());
  return pictures;
}
