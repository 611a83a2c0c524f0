import { describe, expect, it } from 'vitest';
import { gustingWind, mixAtSnr, siSdr, voiceLike } from '#server/test/synthetic-sound.ts';
import { toZones, wetWeights } from '../sound/repair-audio-clean.ts';
import { createWindSuppressor } from './repair-wind-noise-filter.ts';
import { createLayout, frameLength, type WindShape } from './repair-wind-noise-layout.ts';
import { createShapeLearner } from './repair-wind-noise-shape.ts';

const RATE = 16_000;

function suppress(samples: Float32Array, shape: WindShape, chunk: number): Float32Array {
  const suppressor = createWindSuppressor(RATE, shape);
  const out = new Float32Array(samples.length);
  let at = 0;
  const take = (piece: Float32Array) => {
    out.set(piece, at);
    at += piece.length;
  };
  for (let i = 0; i < samples.length; i += chunk) take(suppressor.push(samples.subarray(i, i + chunk)));
  take(suppressor.flush());
  expect(at).toBe(samples.length);
  return out;
}

function learn(samples: Float32Array): WindShape {
  const learner = createShapeLearner(createLayout(RATE));
  learner.push(samples);
  return learner.finish();
}

describe('createWindSuppressor', () => {
  it('returns sample n for sample n when there is nothing to remove', () => {
    const voice = voiceLike(4, RATE, 3);
    const bins = frameLength(RATE) / 2 + 1;
    const nothing: WindShape = { rateHz: RATE, relative: new Float64Array(bins), isDeep: false };
    const out = suppress(voice, nothing, 1777);
    let worst = 0;
    // Where the voice is silent, the ratio is that of rounding errors and the gain is arbitrary.
    out.forEach((value, i) => (worst = Math.max(worst, Math.abs(value - (voice[i] ?? 0)))));
    expect(worst).toBeLessThan(1e-3);
  });

  it('does not depend on how the stream is cut into chunks', () => {
    const windy = mixAtSnr(voiceLike(9, RATE, 1), gustingWind(9, RATE, 2), 0);
    const shape = learn(windy);
    const whole = suppress(windy, shape, windy.length);
    const pieces = suppress(windy, shape, 733);
    const worst = whole.reduce((most, value, i) => Math.max(most, Math.abs(value - (pieces[i] ?? 9))), 0);
    expect(worst).toBeLessThan(1e-9);
  });

  it.each([
    [0, 6],
    [5, 3],
  ])(
    'raises a voice under wind at %i dB by %i dB or more',
    (snrDb, goalDb) => {
      const gains = [1, 2, 3].map((seed) => {
        const voice = voiceLike(8, RATE, seed);
        const windy = mixAtSnr(voice, gustingWind(8, RATE, seed + 7), snrDb);
        return siSdr(voice, suppress(windy, learn(windy), 4096)) - siSdr(voice, windy);
      });
      expect(Math.min(...gains)).toBeGreaterThan(goalDb);
    },
    60_000,
  );
});

describe('wind that lies below every voice', () => {
  /** Wind below and above a second-order corner at 15 Hz. */
  const parted = (seed: number) => {
    const wind = gustingWind(8, RATE, seed);
    const pole = 1 - Math.exp((-2 * Math.PI * 15) / RATE);
    let [first, second] = [0, 0];
    const below = wind.map((value) => {
      first += pole * (value - first);
      second += pole * (first - second);
      return second;
    });
    return { below, above: wind.map((value, i) => value - (below[i] ?? 0)) };
  };
  const gainOn = (voice: Float32Array, windy: Float32Array, shape: WindShape) =>
    siSdr(voice, suppress(windy, shape, 4096)) - siSdr(voice, windy);

  it('is removed completely', () => {
    const voice = voiceLike(8, RATE, 1);
    const { below, above } = parted(8);
    const deep = below.map((value, i) => value + 0.02 * (above[i] ?? 0));
    const windy = mixAtSnr(voice, deep, 0);
    const shape = learn(windy);
    expect(shape.isDeep).toBe(true);
    expect(gainOn(voice, windy, shape)).toBeGreaterThan(20);
  });

  it('is distinguished from wind of a microphone with a high-pass', () => {
    const { above } = parted(8);
    const higher = above.map((value, i) => value - (above[i - 8] ?? 0));
    expect(learn(mixAtSnr(voiceLike(8, RATE, 1), higher, 0)).isDeep).toBe(false);
  });
});

describe('the windy spans of a clip', () => {
  it('fade in and out beside them', () => {
    const spans = [{ first: 1000, end: 2000 }];
    const weights = wetWeights(spans, { first: 500, end: 3000 }, 100);
    const at = (sample: number) => weights[sample - 500];
    expect(at(1000)).toBe(1);
    expect(at(1999)).toBe(1);
    expect(at(950)).toBeCloseTo(0.5, 6);
    expect(at(900)).toBe(0);
    expect(at(2100)).toBe(0);
    expect(wetWeights(spans, { first: 950, end: 952 }, 100)).toEqual(weights.slice(450, 452));
  });

  it('are joined to zones when their run-ups meet', () => {
    const spans = [
      { first: 500, end: 700 },
      { first: 800, end: 900 },
      { first: 5000, end: 6000 },
    ];
    expect(toZones(spans, 100)).toEqual([
      { first: 400, end: 1000 },
      { first: 4900, end: 6100 },
    ]);
  });
});
