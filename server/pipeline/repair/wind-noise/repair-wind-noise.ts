import { sampleOfTime, type SoundClock } from '#server/media/signal/pcm-clock.ts';
import {
  channelOf,
  CHUNK_SAMPLES,
  readRawSound,
  type RawSound,
  type SampleSpan,
} from '../sound/repair-audio-raw.ts';
import { createLayout, type WindShape } from './repair-wind-noise-filter.ts';
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
  const layout = createLayout(rateHz);
  const learners = Array.from({ length: alike ? 1 : channels }, () => createShapeLearner(layout));
  const heard = new Float32Array(CHUNK_SAMPLES);
  for (const span of spans) {
    for await (const samples of readRawSound(raw, span)) {
      for (const [c, learner] of learners.entries()) {
        learner.push(channelOf(samples, alike ? 'mean' : c, channels, heard));
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
      if (largestDifference(samples, channels, share) > MOST_DIFFERENCE) return false;
    }
  }
  return true;
}

/**
 * Power of the difference between a channel and the mean of all over that of the mean, of the channel that differs most.
 * @param share of each new sample that a low-pass of first order takes
 */
function largestDifference(interleaved: Float32Array, channels: number, share: number): number {
  const levels = new Float64Array(channels);
  const differences = new Float64Array(channels);
  let power = 0;
  for (let at = 0; at < interleaved.length; at += channels) {
    let mean = 0;
    for (let c = 0; c < channels; c++) {
      const level = levels[c] ?? 0;
      const next = level + share * ((interleaved[at + c] ?? 0) - level);
      levels[c] = next;
      mean += next / channels;
    }
    power += mean * mean;
    for (let c = 0; c < channels; c++) {
      const difference = (levels[c] ?? 0) - mean;
      differences[c] = (differences[c] ?? 0) + difference * difference;
    }
  }
  const most = Math.max(...differences);
  return most > 0 ? most / power : 0;
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
