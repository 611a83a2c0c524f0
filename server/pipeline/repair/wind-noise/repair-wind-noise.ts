import { sampleOfTime, type SoundClock } from '#server/media/signal/pcm-clock.ts';
import {
  channelOf,
  CHUNK_SAMPLES,
  readRawSound,
  type RawSound,
  type SampleSpan,
} from '../sound/repair-audio-raw.ts';
import { createLayout, type WindShape } from './repair-wind-noise-layout.ts';
import { createShapeLearner, type HeardLevels, type ShapeLearner } from './repair-wind-noise-shape.ts';

export interface LearnWind {
  readonly raw: RawSound;
  readonly rateHz: number;
  readonly spans: readonly SampleSpan[];
}

/**
 * Channels count as one sound if their difference in the wind's range always has less than this share of the power
 * there (-40 dB). Encoding leaves -52 dB and less between equal channels (more at higher frequencies, where encoders
 * add noise of their own), two microphones have -12 to -4 dB, measured on AAC of 128 and 160 kbit/s.
 */
const MOST_DIFFERENCE = 1e-4;
/** Corner of the first-order low-pass after which channels are compared, Hz. */
const COMPARED_HZ = 1000;
/**
 * The wind of a channel may exceed its level by at most this factor more than in the windiest channel, at every
 * frequency, because microphones of one device stand in one wind. Of 28 voices with different wind in each channel,
 * none loses more than 0.01 dB by this at 0 dB, 0.21 dB at 15 dB. Next to a windy channel, voices keep 1.7 dB more at
 * 30 dB.
 */
const SHAPE_HEADROOM = 2;
/**
 * A channel stays unchanged if its wind would lie this far below everything else (36 dB). Of 28 voices next to a windy
 * channel, those that stay would gain at most 1.8 dB from cleaning, at 30 dB and more.
 */
const STILL_RATIO = 10 ** 3.6;
/**
 * Its own assumed wind must also lie this far below everything else (13 dB), because a channel after a high-pass has no
 * bass whatever its wind. Under wind at 10 dB it is 7 to 11 dB, alone 11 to 21 dB.
 */
const CLEAR_RATIO = 10 ** 1.3;

/**
 * Learns the shape of the wind from the windy spans: one for each channel, because every microphone has its own wind,
 * or a single one for the mean if all channels carry the same sound.
 * @returns null for a channel, next to others, with almost no wind
 */
export async function learnWind(input: LearnWind): Promise<(WindShape | null)[]> {
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
  return shapesOf(learners);
}

function shapesOf(learners: readonly ShapeLearner[]): (WindShape | null)[] {
  const heard = learners.map((learner) => ({ shape: learner.finish(), levels: learner.levels() }));
  const windiest = heard.reduce((most, one) => (one.levels.wind > most.levels.wind ? one : most));
  return heard.map(({ shape, levels }) => {
    if (shape === windiest.shape) return shape;
    if (isStill(levels, windiest.levels)) return null;
    const relative = shape.relative.map((value, k) => {
      return Math.min(value, SHAPE_HEADROOM * (windiest.shape.relative[k] ?? 0));
    });
    return { ...shape, relative };
  });
}

/**
 * Whether a channel has almost no wind. Below every voice there is only wind and rumble, so a channel's wind is softer
 * than that of the windiest channel at least by as much as its bass is.
 */
function isStill(levels: HeardLevels, windiest: HeardLevels): boolean {
  const mostWind = levels.low * (windiest.wind / Math.max(windiest.low, Number.MIN_VALUE));
  return levels.total > STILL_RATIO * mostWind && levels.total > CLEAR_RATIO * levels.wind;
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
 * Power of the difference between a channel and the mean of all over that of the mean, for the channel that differs
 * most.
 * @param share of each new sample that a first-order low-pass takes
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
