import { sampleOfTime, type SoundClock } from '#server/media/pcm-clock.ts';
import { channelOf, meanOf, readRawSound, type RawSound, type SampleSpan } from './repair-audio-raw.ts';
import type { WindShape } from './repair-wind-noise-filter.ts';
import { createShapeLearner } from './repair-wind-noise-shape.ts';

export interface LearnWind {
  readonly raw: RawSound;
  readonly rateHz: number;
  readonly spans: readonly SampleSpan[];
}

/**
 * Channels are taken for one sound when what is different between them in the wind's range has less than this share of
 * the power there (-40 dB) all along. Coders leave -52 dB and less between equal ones (more above, where they put in noise of
 * their own), two microphones -12 to -4 dB, measured on AAC of 128 and 160 kbit/s.
 */
const MOST_DIFFERENCE = 1e-4;
/** Corner of the low-pass of first order behind which channels are compared, Hz. */
const COMPARED_HZ = 1000;

/**
 * Learns the shape of the wind from the windy spans: one for each channel, as every microphone has its own wind, or a
 * single one for the mean of all where they carry the same sound.
 */
export async function learnWind(input: LearnWind): Promise<WindShape[]> {
  const { raw, rateHz, spans } = input;
  const { channels } = raw;
  const alike = await channelsAreAlike(input);
  const learners = Array.from({ length: alike ? 1 : channels }, () => createShapeLearner(rateHz));
  for (const span of spans) {
    for await (const samples of readRawSound(raw, span)) {
      for (const [c, learner] of learners.entries()) {
        learner.push(alike ? meanOf(samples, channels) : channelOf(samples, c, channels));
      }
    }
  }
  return learners.map((learner) => learner.finish());
}

async function channelsAreAlike({ raw, rateHz, spans }: LearnWind): Promise<boolean> {
  const { channels } = raw;
  if (channels === 1) return true;
  const share = 1 - Math.exp((-2 * Math.PI * COMPARED_HZ) / rateHz);
  for (const span of spans) {
    for await (const samples of readRawSound(raw, span)) {
      const mean = meanOf(samples, channels);
      const power = powerBehindLowPass(mean, share);
      for (let c = 0; c < channels; c++) {
        const difference = channelOf(samples, c, channels).map((value, i) => value - (mean[i] ?? 0));
        if (powerBehindLowPass(difference, share) > MOST_DIFFERENCE * power) return false;
      }
    }
  }
  return true;
}

/** Sum of squares behind a low-pass of first order that takes `share` of each new sample. */
function powerBehindLowPass(samples: Float32Array, share: number): number {
  let level = 0;
  let power = 0;
  for (let i = 0; i < samples.length; i++) {
    level += share * ((samples[i] ?? 0) - level);
    power += level * level;
  }
  return power;
}

/** Windy spans in decoded samples. */
export function toSampleSpans(
  clock: SoundClock,
  spans: readonly { readonly startMs: number; readonly endMs: number }[],
): SampleSpan[] {
  return spans
    .map((span) => ({ first: sampleOfTime(clock, span.startMs), end: sampleOfTime(clock, span.endMs) }))
    .filter((span) => span.end > span.first);
}
