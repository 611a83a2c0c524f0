import { describe, expect, it } from 'vitest';
import {
  chords,
  engine,
  gustingWind,
  mixAtSnr,
  steadyNoise,
  voiceLike,
  type Samples,
} from '#server/test/synthetic-sound.ts';
import { createVoiceMeter, detectSpeech } from './detect-speech.ts';
import {
  createWindMeter,
  WIND_RATE_HZ,
  type WindSeries,
  type WindWindow,
} from './detect-wind-noise-series.ts';
import { detectWindNoise, findWindSpans } from './detect-wind-noise.ts';

const SECONDS = 12;

function measure(samples: Samples) {
  const voice = createVoiceMeter();
  const meter = createWindMeter(voice.listen);
  for (let i = 0; i < samples.length; i += 5000) meter.push(samples.subarray(i, i + 5000));
  return { wind: meter.finish(), voice: voice.series };
}

const windOf = (samples: Samples) => findWindSpans(measure(samples).wind).spans;

describe('detectWindNoise', () => {
  it.each([1, 2, 3])('finds gusting wind, alone and under a voice at 0 and 5 dB (seed %i)', (seed) => {
    const wind = gustingWind(SECONDS, WIND_RATE_HZ, seed);
    const voice = voiceLike(SECONDS, WIND_RATE_HZ, seed + 20);
    expect(windOf(wind).length).toBeGreaterThan(0);
    expect(windOf(mixAtSnr(voice, wind, 0)).length).toBeGreaterThan(0);
    expect(windOf(mixAtSnr(voice, wind, 5)).length).toBeGreaterThan(0);
  });

  it.each<[string, Samples]>([
    ['a voice', voiceLike(SECONDS, WIND_RATE_HZ, 7)],
    ['an engine', engine(SECONDS, WIND_RATE_HZ, 47, 3)],
    ['chords', chords(SECONDS, WIND_RATE_HZ, 3)],
    ['a steady rumble', steadyNoise(SECONDS, WIND_RATE_HZ, { cutoffHz: 60, rms: 0.1, seed: 4 })],
    ['room tone', steadyNoise(SECONDS, WIND_RATE_HZ, { cutoffHz: 120, rms: 0.003, seed: 5 })],
    ['rain', steadyNoise(SECONDS, WIND_RATE_HZ, { cutoffHz: 4000, rms: 0.1, seed: 6 })],
    ['silence', new Float32Array(SECONDS * WIND_RATE_HZ)],
  ])('does not take %s for wind', (_, samples) => {
    expect(windOf(samples)).toEqual([]);
  });

  it.each([
    [15, 6, 5],
    [25, 9, 3],
    [40, 12, 5],
    [60, 9, 8],
    [80, 6, 5],
  ])(
    'does not take a road for wind: rumble below %i Hz that swells by %i dB every %i s',
    (cutoffHz, swellDb, everyS) => {
      const rumble = steadyNoise(24, WIND_RATE_HZ, { cutoffHz, rms: 0.05, seed: cutoffHz });
      const road = rumble.map((value, i) => {
        const phase = (2 * Math.PI * i) / WIND_RATE_HZ / everyS;
        return value * 10 ** (((swellDb / 2) * Math.sin(phase)) / 20);
      });
      expect(windOf(road)).toEqual([]);
    },
  );

  /** Gusty background; what is not given is plainly wind. */
  const seriesOf = (windows: readonly Partial<WindWindow>[]): WindSeries => ({
    windows: windows.map((given, i) => ({
      startMs: i * 1500,
      endMs: i * 1500 + 3000,
      totalDb: -15,
      floorDb: -22,
      highFloorDb: -47,
      lowFloorDb: -27,
      tiltDbPerOctave: -10,
      pauseTonalShare: 0.2,
      fineLineShare: 0.3,
      lineSteadiness: 0.05,
      centroidHz: 120,
      ...given,
    })),
    blockFloorDb: Array.from({ length: windows.length * 6 + 6 }, (_, i) => -24 + 2 * Math.sin(i * i)),
    blockMs: 256,
  });

  it('does not take the inside of a car or train for wind: gusts over lines that stay', () => {
    const steady = [0.16, 0.2, 0.21, 0.19, 0.19, 0.24];
    expect(findWindSpans(seriesOf(steady.map((lineSteadiness) => ({ lineSteadiness })))).spans).toEqual([]);
    expect(findWindSpans(seriesOf(steady.map(() => ({})))).spans).toHaveLength(1);
  });

  it('does not take babble for wind: lines in the pauses of most windows', () => {
    const shares = [0.31, 0.38, 0.36, 0.33];
    const unplain = shares.map((pauseTonalShare) => ({ pauseTonalShare, tiltDbPerOctave: -4.8 }));
    expect(findWindSpans(seriesOf(unplain)).spans).toEqual([]);
    const plain = shares.map((pauseTonalShare) => ({ pauseTonalShare }));
    expect(findWindSpans(seriesOf(plain)).spans).toHaveLength(1);
  });

  it('needs more than two windows that hardly pass', () => {
    const hardly = { tiltDbPerOctave: -4.28 };
    const not = { highFloorDb: -25 };
    expect(findWindSpans(seriesOf([not, hardly, hardly, not])).spans).toEqual([]);
    expect(findWindSpans(seriesOf([not, hardly, hardly, hardly, hardly, not])).spans).toHaveLength(1);
  });

  it('asks for more of quiet wind, and for nothing louder', () => {
    const quiet = { floorDb: -43, totalDb: -36, highFloorDb: -68, lowFloorDb: -48 };
    expect(findWindSpans(seriesOf([quiet, quiet, quiet])).spans).toHaveLength(1);
    const finding = detectWindNoise(seriesOf([quiet, quiet, quiet]), (ms) => ms);
    expect(finding?.measure.threshold).toBe(-40.5);
    const flat = { ...quiet, tiltDbPerOctave: -4.8 };
    expect(findWindSpans(seriesOf([flat, flat, flat])).spans).toEqual([]);
    const faint = { ...quiet, floorDb: -44.5 };
    expect(findWindSpans(seriesOf([faint, faint, faint])).spans).toEqual([]);
  });

  it('names the windy part of a clip', () => {
    const samples = voiceLike(20, WIND_RATE_HZ, 9);
    const wind = gustingWind(7, WIND_RATE_HZ, 2);
    const first = 8 * WIND_RATE_HZ;
    wind.forEach((value, i) => {
      samples[first + i] = (samples[first + i] ?? 0) + 1.5 * value;
    });
    const finding = detectWindNoise(measure(samples).wind, (ms) => ms + 40);
    expect(finding?.startMs).toBeGreaterThan(6000);
    expect(finding?.startMs).toBeLessThan(9600);
    expect(finding?.endMs).toBeGreaterThan(13_500);
    expect(finding?.endMs).toBeLessThan(17_500);
    expect(finding?.confidence).toBeGreaterThanOrEqual(0.6);
    expect(finding?.measure.value).toBeGreaterThan(finding?.measure.threshold ?? 0);
  });
});

describe('detectSpeech', () => {
  const spans = (samples: Samples) => detectSpeech(measure(samples).voice);

  it('finds a voice and its pauses', () => {
    const samples = new Float32Array(10 * WIND_RATE_HZ);
    samples.set(voiceLike(3, WIND_RATE_HZ, 3), WIND_RATE_HZ);
    samples.set(voiceLike(3, WIND_RATE_HZ, 4), 6 * WIND_RATE_HZ);
    const found = spans(samples);
    expect(found[0]?.startMs).toBeGreaterThan(800);
    expect(found[0]?.startMs).toBeLessThan(1500);
    expect(found.every((span) => span.endMs < 4100 || span.startMs > 5800)).toBe(true);
    expect(found.at(-1)?.endMs).toBeGreaterThan(8000);
  });

  it.each<[string, Samples]>([
    ['wind', gustingWind(SECONDS, WIND_RATE_HZ, 5)],
    ['an engine', engine(SECONDS, WIND_RATE_HZ, 53, 5)],
    ['a rumble', steadyNoise(SECONDS, WIND_RATE_HZ, { cutoffHz: 200, rms: 0.1, seed: 5 })],
  ])('does not take %s for a voice', (_, samples) => {
    expect(spans(samples)).toEqual([]);
  });
});
