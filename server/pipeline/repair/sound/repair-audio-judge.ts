import type { TimeSpan } from '#common/join-spans.ts';
import { decodeSound } from '#server/media/signal/pcm.ts';
import type { SoundClock } from '#server/media/signal/pcm-clock.ts';
import { mean, percentile } from '#server/media/signal/signal.ts';
import type { MediaInfo } from '#server/media/probe/probe.ts';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';
import type { SpeechSpan } from '../../analyse/analysis.ts';
import { createVoiceMeter, detectSpeech, type VoiceSeries } from '../../analyse/detect-speech.ts';
import {
  createWindMeter,
  SPECTRUM_HOP_MS,
  WIND_RATE_HZ,
  type WindSeries,
} from '../../analyse/wind-noise/detect-wind-noise-series.ts';
import { findWindSpans, spanLevelDb } from '../../analyse/wind-noise/detect-wind-noise.ts';

/** Measures of a sound for comparing before and after; times in ms from the first decoded sample. */
export interface MeasuredSound {
  readonly wind: WindSeries;
  readonly voice: VoiceSeries;
  readonly speech: readonly SpeechSpan[];
  readonly clock: SoundClock;
}

/** Measures a file with the meters of the wind detector, in one pass. */
export async function measureSound(input: {
  readonly inputPath: string;
  readonly info: MediaInfo;
  readonly tools: ToolPaths;
  readonly signal?: AbortSignal;
  /** Share of the sound that is measured, 0 to 1. */
  readonly onProgress?: (share: number) => void;
  /** False leaves the clock empty. */
  readonly timed?: boolean;
  /** File for the decoded samples, as written by `decodeSound`. */
  readonly rawPath?: string;
}): Promise<MeasuredSound> {
  const voice = createVoiceMeter(VOICE_LOW_HZ);
  const speech = createVoiceMeter();
  const meter = createWindMeter((power, background) => {
    voice.listen(power, background);
    speech.listen(power, background);
  });
  const clock = await decodeSound({
    ...input,
    rateHz: WIND_RATE_HZ,
    channels: 1,
    onSamples: (samples) => meter.push(samples),
  });
  const wind = meter.finish();
  return { wind, voice: voice.series, speech: detectSpeech(speech.series), clock };
}

export interface WindJudgement {
  /** Loudest windy span, dBFS: the value in the report. */
  readonly beforeDb: number;
  readonly afterDb: number;
  /** True when the detector no longer finds wind. */
  readonly gone: boolean;
  /** How much quieter the clearest voice became, dB; positive is a loss. */
  readonly voiceLossDb: number;
  readonly helped: boolean;
}

export const JUDGE_LIMITS = {
  /** A repair must lower the wind by at least this to be worth a new encoding, dB. */
  leastGainDb: 3,
  /** Voice may lose this much where it is loudest, dB; more sounds distant. */
  voiceLossDb: 2,
} as const;

/** Above this frequency wind is weak, so a loss there is a loss of voice, Hz. */
const VOICE_LOW_HZ = 800;
/** Share of spectral lines from which a frame is voiced. */
const VOICED_SHARE = 0.6;
/**
 * Fewer voiced frames mean that there is no voice to lose. Single ones occur by chance (82 in eight minutes of an
 * action camera's wind), two in a row do not (none of those; 41 of 55 in ten seconds of a talk).
 */
const LEAST_CLEAR_FRAMES = 6;

/**
 * Compares the windy spans before and after by the detector's own measures.
 * @param spans times in ms from the first sample of the original sound
 * @param timeAfter the same moments in the new sound, which filled holes and another clock move
 */
export function judgeWind(
  before: MeasuredSound,
  after: MeasuredSound,
  spans: readonly TimeSpan[],
  timeAfter: (ms: number) => number = (ms) => ms,
): WindJudgement {
  const level = (sound: MeasuredSound, windy: readonly TimeSpan[]) =>
    Math.max(...windy.map((span) => spanLevelDb(sound.wind, span)));
  const moved = spans.map(({ startMs, endMs }) => ({
    startMs: timeAfter(startMs),
    endMs: timeAfter(endMs),
  }));
  const beforeDb = level(before, spans);
  const afterDb = level(after, moved);
  const voiceLossDb = voiceLoss(before.voice, after.voice, spans, timeAfter);
  return {
    beforeDb,
    afterDb,
    gone: findWindSpans(after.wind, after.speech).spans.length === 0,
    voiceLossDb,
    helped: beforeDb - afterDb >= JUDGE_LIMITS.leastGainDb && voiceLossDb <= JUDGE_LIMITS.voiceLossDb,
  };
}

/** Frames made of spectral lines contain least wind, so a loss there is voice. Wind alone reaches a share of 0.35. */
function voiceLoss(
  before: VoiceSeries,
  after: VoiceSeries,
  spans: readonly TimeSpan[],
  timeAfter: (ms: number) => number,
): number {
  const voiced: number[] = [];
  const frameAfter = (i: number) => Math.round(timeAfter(i * SPECTRUM_HOP_MS) / SPECTRUM_HOP_MS);
  const ends = before.voiceDb.findIndex((_, i) => frameAfter(i) >= after.voiceDb.length);
  const count = ends < 0 ? before.voiceDb.length : ends;
  const hasLines = (i: number) => (before.lineShare[i] ?? 0) >= VOICED_SHARE;
  for (let i = 0; i < count; i++) {
    const atMs = i * SPECTRUM_HOP_MS;
    const inside = spans.some((span) => atMs >= span.startMs && atMs <= span.endMs);
    if (inside && hasLines(i) && (hasLines(i - 1) || hasLines(i + 1))) voiced.push(i);
  }
  const limit = percentile(
    voiced.map((i) => before.voiceDb[i] ?? -140),
    0.5,
  );
  const clear = voiced.filter((i) => (before.voiceDb[i] ?? -140) >= limit);
  if (clear.length < LEAST_CLEAR_FRAMES) return 0;
  return mean(clear.map((i) => (before.voiceDb[i] ?? 0) - (after.voiceDb[frameAfter(i)] ?? 0)));
}
