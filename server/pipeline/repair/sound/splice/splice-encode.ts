import { readFile } from 'node:fs/promises';
import { readAdts } from '#server/media/aac/adts.ts';
import type { AacConfig } from '#server/media/aac/aac-config.ts';
import { createAacFrameReader, type AacFrame } from '#server/media/aac/aac-frame.ts';
import type { FfmpegPlan } from '#server/media/ffmpeg/ffmpeg-plan.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';
import type { AudioStreamInfo } from '#server/media/probe/probe.ts';
import { LC_FRAME } from '../../../analyse/audio-sync/detect-audio-sync-start.ts';
import { bitRateOf, coderOptions } from '../repair-audio-encode.ts';
import type { SplicePiece } from './splice-pieces.ts';

/** The new frame for a place of a piece, by the number of the piece. */
export type NewFrames = (piece: number, place: number) => AacFrame | undefined;

export interface EncodePieces {
  /** Configuration of the original; new frames have the same. */
  readonly config: AacConfig;
  readonly stream: AudioStreamInfo;
  /** The samples to encode, one piece after the other: 32-bit floats, interleaved. */
  readonly samples: AsyncIterable<Buffer>;
  readonly hadWind?: boolean;
  readonly tools: ToolPaths;
  readonly signal?: AbortSignal | undefined;
  /** Share of the samples that are encoded, 0 to 1. */
  readonly onCoded?: (share: number) => void;
}

/**
 * Encodes all pieces in a row and returns the frames, without the encoder's extra first one; null if there are too few.
 * @param codedPath temporary file for them
 * @throws MediaToolError when ffmpeg fails or the run is cancelled
 */
export async function encodePieces(
  input: EncodePieces,
  pieces: readonly SplicePiece[],
  codedPath: string,
): Promise<NewFrames | null> {
  const { tools, signal, samples, onCoded } = input;
  const starts: number[] = [];
  let wanted = 0;
  for (const { coded } of pieces) {
    starts.push(wanted);
    wanted += coded.end - coded.first;
  }
  await runFfmpeg(encodePlan(input, wanted, codedPath), {
    tools,
    signal,
    stdin: samples,
    onProgress: ({ share }) => share !== null && onCoded?.(share),
  });
  const frames = readAdts(await readFile(codedPath))?.slice(1);
  const reader = createAacFrameReader(input.config);
  if (!frames || !reader || frames.length < wanted) return null;
  return (piece, place) => {
    const bytes = frames[(starts[piece] ?? 0) + place - (pieces[piece]?.coded.first ?? 0)];
    return (bytes && reader.read(bytes)) ?? undefined;
  };
}

function encodePlan(
  { stream, hadWind = false }: EncodePieces,
  frames: number,
  outputPath: string,
): FfmpegPlan {
  const layout = stream.channelLayout ? ['-channel_layout', stream.channelLayout] : [];
  const given = ['-ar', String(stream.sampleRateHz), '-ac', String(stream.channels), ...layout];
  const coder = ['-c:a', 'aac', ...coderOptions(hadWind), '-b:a', String(bitRateOf(stream))];
  return {
    label: 'encode parts of the sound',
    inputs: [{ path: 'pipe:0', format: 'f32le', options: given }],
    outputs: [{ path: outputPath, options: ['-map', '0:a', ...coder, '-f', 'adts'] }],
    expectedDurationMs: ((frames * LC_FRAME) / stream.sampleRateHz) * 1000,
  };
}
