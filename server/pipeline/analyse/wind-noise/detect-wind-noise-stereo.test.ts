import { describe, expect, it } from 'vitest';
import { seededRandom } from '#server/test/seeded-random.ts';
import { WIND_RATE_HZ } from './detect-wind-noise-series.ts';
import { createWidthMeter, mayBeMix, withoutMixes } from './detect-wind-noise-stereo.ts';

const SECONDS = 4;
const COUNT = SECONDS * WIND_RATE_HZ;
const span = (startMs: number, endMs: number) => ({ startMs, endMs, levelDb: -30 });

function noise(seed: number): number[] {
  const random = seededRandom(seed);
  return Array.from({ length: COUNT }, () => random() - 0.5);
}

/** Rumble below about 60 Hz, made with two one-pole low-passes. */
function rumble(seed: number): number[] {
  const once = smooth(noise(seed));
  return smooth(once).map((value) => 30 * value);
}

function smooth(values: readonly number[]): number[] {
  let last = 0;
  return values.map((value) => (last += 0.025 * (value - last)));
}

/** Rumble and treble in two channels. */
function stereo(lows: readonly [number[], number[]], highs: readonly [number[], number[]]): Float32Array {
  const sound = new Float32Array(2 * COUNT);
  for (let i = 0; i < COUNT; i += 1) {
    sound[2 * i] = (lows[0][i] ?? 0) + 0.1 * (highs[0][i] ?? 0);
    sound[2 * i + 1] = (lows[1][i] ?? 0) + 0.1 * (highs[1][i] ?? 0);
  }
  return sound;
}

/** The spans that remain of one over the whole sound. */
function left(sound: Float32Array, spans = [span(0, 1000 * SECONDS)]) {
  const meter = createWidthMeter(spans, 2);
  // Chunks as from a pipe, which may end between the channels.
  for (let at = 0; at < sound.length; at += 4097) meter.push(sound.subarray(at, at + 4097));
  return withoutMixes({ spans, confidence: 0.7 }, meter.finish()).spans;
}

describe('what the channels say about wind', () => {
  const [bass, highs, others] = [rumble(1), noise(2), noise(3)];

  it('treats low frequencies in the middle of a wide mix as music', () => {
    expect(left(stereo([bass, bass], [highs, others]))).toEqual([]);
  });

  it('keeps wind on two microphones, wind on one, and a rumble under one voice', () => {
    expect(left(stereo([bass, rumble(4)], [highs, others]))).toHaveLength(1);
    expect(left(stereo([bass, bass], [highs, highs]))).toHaveLength(1);
  });

  it('judges each stretch by itself', () => {
    const mix = stereo([bass, bass], [highs, others]);
    mix.set(stereo([bass, rumble(4)], [highs, others]).subarray(COUNT), COUNT);
    const [early, late] = [span(0, 1900), span(2100, 4000)];
    expect(left(mix, [early, late])).toEqual([late]);
  });

  it('applies only to uncertain stretches with more than one channel', () => {
    const found = (confidence: number) => ({ spans: [span(0, 1000)], confidence });
    expect(mayBeMix(found(0.8), 2)).toBe(true);
    expect([mayBeMix(found(0.9), 2), mayBeMix(found(0.8), 1)]).toEqual([false, false]);
    expect(mayBeMix({ spans: [], confidence: 0 }, 2)).toBe(false);
  });
});
