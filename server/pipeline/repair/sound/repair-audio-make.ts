import path from 'node:path';
import { decodeSound } from '#server/media/signal/pcm.ts';
import type { SoundClock } from '#server/media/signal/pcm-clock.ts';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';
import type { MediaInfo } from '#server/media/probe/probe.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { isToolFailure, MediaToolError, type ToolPaths } from '#server/media/ffmpeg/tools.ts';
import type { Finding } from '../../analyse/analysis.ts';
import { readClock, type SoundHole } from '../../analyse/audio-sync/detect-audio-sync-container.ts';
import { encodeSoundPlan } from './repair-audio-encode.ts';
import type { Filling } from './repair-audio-holes.ts';
import type { RawSound } from './repair-audio-raw.ts';
import { renderSound, type RenderSound } from './repair-audio-render.ts';
import type { SyncPlan } from './repair-audio-sync.ts';

export interface RepairAudioInput {
  readonly inputPath: string;
  readonly info: MediaInfo;
  /** The `audio_sync` and `wind_noise` findings to repair. */
  readonly findings: readonly Finding[];
  /** Private folder; the repaired sound stays in it. */
  readonly workDir: string;
  readonly tools: ToolPaths;
  readonly signal?: AbortSignal;
  /** Share of the work that is done, 0 to 1. */
  readonly onProgress?: (share: number) => void;
}

export interface MakeSound {
  readonly raw: RawSound;
  readonly clock: SoundClock;
  readonly plan: SyncPlan;
  readonly wind: RenderSound['wind'];
  /** Name of the new file in the work folder. */
  readonly name: string;
  /** Share of the sound that is encoded, 0 to 1. */
  readonly onCoded?: (share: number) => void;
}

/**
 * Encodes a whole sound again, with holes filled, wind removed and its duration changed as planned.
 * @returns path of an MP4 with the sound alone
 * @throws MediaToolError when ffmpeg fails or the run is cancelled
 */
export async function makeSound(
  input: RepairAudioInput,
  { raw, clock, plan, wind, name, onCoded }: MakeSound,
): Promise<string> {
  const stream = input.info.audio[0];
  if (!stream) throw new MediaToolError('tool_failed', 'repair the sound: the clip has none.');
  const outputPath = path.join(input.workDir, name);
  const { rateHz } = clock;
  const fillings = fillingsOf(clock, plan);
  const sampleCount = fillings.reduce((sum, filling) => sum + filling.sampleCount, clock.sampleCount);
  const encode = (resampler: 'soxr' | 'swr') =>
    runFfmpeg(
      encodeSoundPlan({
        rawPath: 'pipe:0',
        outputPath,
        stream,
        sampleCount,
        stretch: plan.stretch,
        resampler,
        hadWind: wind !== null,
      }),
      {
        tools: input.tools,
        signal: input.signal,
        stdin: renderSound({ raw, rateHz, wind, fillings }),
        onProgress: ({ share }) => share !== null && onCoded?.(share),
      },
    );
  await encode('soxr').catch((error: unknown) => {
    // Some builds of ffmpeg lack soxr; a cancelled run must not be tried again.
    if (plan.stretch === 1 || !isToolFailure(error)) throw error;
    return encode('swr');
  });
  return outputPath;
}

/**
 * Where the decoder finds the samples of a sound.
 * @param rawPath file for the samples
 */
export async function clockOf(
  { tools, signal }: RepairAudioInput,
  file: string,
  info: MediaInfo,
  rawPath?: string,
): Promise<SoundClock> {
  return decodeSound({
    rawPath,
    inputPath: file,
    info,
    tools,
    signal,
    rateHz: 48_000,
    channels: 1,
    onSamples: () => {},
  });
}

/** Media facts of a file with only the first sound, without reading its header. */
export function soundAlone(info: MediaInfo): MediaInfo {
  return {
    ...info,
    format: 'mov',
    video: [],
    audio: info.audio.slice(0, 1).map((stream) => ({ ...stream, index: 0 })),
  };
}

export function filledHoles(clock: SoundClock, plan: SyncPlan): readonly SoundHole[] {
  return plan.fillHoles ? readClock(clock).holes : [];
}

const fillingsOf = (clock: SoundClock, plan: SyncPlan): Filling[] =>
  filledHoles(clock, plan).map(({ beforeSample, durationMs }) => ({
    beforeSample,
    sampleCount: Math.round((durationMs / 1000) * clock.rateHz),
  }));

/** Null if a tool or a file does not allow something, so that another way is tried; a cancelled run is thrown on. */
export function nullIfRefused(error: unknown): null {
  if (error instanceof Mp4Error) return null;
  if (isToolFailure(error)) return null;
  throw error;
}
