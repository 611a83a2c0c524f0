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
 * Channels are taken for one sound when what is different between them has less than this share of its power (-40 dB)
 * all along: coders leave -60 dB and less between two equal ones, two microphones at least -15 dB.
 */
const MOST_DIFFERENCE = 1e-4;

/**
 * Learns the shape of the wind from the windy spans: one for each channel, as every microphone has its own wind, or a
 * single one for the mean of all where they carry the same sound.
 */
export async function learnWind({ raw, rateHz, spans }: LearnWind): Promise<WindShape[]> {
  const { channels } = raw;
  const alike = await channelsAreAlike(raw, spans);
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

async function channelsAreAlike(raw: RawSound, spans: readonly SampleSpan[]): Promise<boolean> {
  const { channels } = raw;
  if (channels === 1) return true;
  for (const span of spans) {
    for await (const samples of readRawSound(raw, span)) {
      const mean = meanOf(samples, channels);
      let power = 0;
      let difference = 0;
      for (let i = 0; i < samples.length; i++) {
        const shared = mean[Math.floor(i / channels)] ?? 0;
        power += shared * shared;
        difference += ((samples[i] ?? 0) - shared) ** 2;
      }
      if (difference > MOST_DIFFERENCE * power) return false;
    }
  }
  return true;
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
