import path from 'node:path';
import { decodeSound } from '#server/media/signal/pcm.ts';
import type { SoundClock } from '#server/media/signal/pcm-clock.ts';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';
import type { MediaInfo } from '#server/media/probe/probe.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { MediaToolError, type ToolPaths } from '#server/media/ffmpeg/tools.ts';
import type { Finding } from '../../analyse/analysis.ts';
import { readClock, type SoundHole } from '../../analyse/audio-sync/detect-audio-sync-container.ts';
import { encodeSoundPlan } from './repair-audio-encode.ts';
import type { RawSound } from './repair-audio-raw.ts';
import { renderSound, type Filling, type RenderSound } from './repair-audio-render.ts';
import type { SyncPlan } from './repair-audio-sync.ts';

export interface RepairAudioInput {
  readonly inputPath: string;
  readonly info: MediaInfo;
  /** The `audio_sync` and `wind_noise` findings that shall be repaired. */
  readonly findings: readonly Finding[];
  /** Private folder; the repaired sound is left in it. */
  readonly workDir: string;
  readonly tools: ToolPaths;
  readonly signal?: AbortSignal;
  /** Share done, 0 to 1. */
  readonly onProgress?: (share: number) => void;
}

export interface MakeSound {
  readonly raw: RawSound;
  readonly clock: SoundClock;
  readonly plan: SyncPlan;
  readonly wind: RenderSound['wind'];
  /** Of the new file, in the work folder. */
  readonly name: string;
  /** Share coded, 0 to 1. */
  readonly onCoded?: (share: number) => void;
}

/**
 * Codes all of a sound anew, with holes filled, wind taken out and its length changed as planned.
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
    // Some builds of ffmpeg come without soxr; a cancelled run must not be tried again.
    if (plan.stretch === 1 || !(error instanceof MediaToolError) || error.code !== 'tool_failed') throw error;
    return encode('swr');
  });
  return outputPath;
}

/** Where the decoder finds the samples of a sound. @param rawPath file that gets them */
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

/** What a file that carries the first sound alone says of itself, without reading its header. */
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

/** What a tool or a file does not allow leaves the other way; a cancelled run does not. */
export function nullIfRefused(error: unknown): null {
  if (error instanceof Mp4Error) return null;
  if (error instanceof MediaToolError && error.code === 'tool_failed') return null;
  throw error;
}
