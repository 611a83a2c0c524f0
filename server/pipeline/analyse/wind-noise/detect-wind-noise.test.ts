import { describe, expect, it } from 'vitest';
import {
  chords,
  crackles,
  engine,
  gustingWind,
  mixAtSnr,
  steadyNoise,
  thumps,
  voiceLike,
  type Samples,
} from '#server/test/synthetic-sound.ts';
import type { SpeechSpan } from '../analysis.ts';
import { createVoiceMeter, detectSpeech } from '../detect-speech.ts';
import {
  createWindMeter,
  WIND_RATE_HZ,
  type WindSeries,
  type WindWindow,
} from './detect-wind-noise-series.ts';
import { findWindHeard, findWindSpans, toWindFinding } from './detect-wind-noise.ts';

const SECONDS = 12;

function measure(samples: Samples) {
  const voice = createVoiceMeter();
  const meter = createWindMeter(voice.listen);
  for (let i = 0; i < samples.length; i += 5000) meter.push(samples.subarray(i, i + 5000));
  return { wind: meter.finish(), voice: voice.series };
}

function windOf(samples: Samples) {
  const { wind, voice } = measure(samples);
  return findWindSpans(wind, detectSpeech(voice)).spans;
}

function heardIn(samples: Samples) {
  const { wind, voice } = measure(samples);
  return findWindHeard(wind, detectSpeech(voice));
}

/** Sounds that are nothing like wind, by name. */
const UNLIKE_WIND: readonly [string, Samples][] = [
  ['a voice', voiceLike(SECONDS, WIND_RATE_HZ, 7)],
  ['an engine', engine(SECONDS, WIND_RATE_HZ, 47, 3)],
  ['chords', chords(SECONDS, WIND_RATE_HZ, 3)],
  ['room tone', steadyNoise(SECONDS, WIND_RATE_HZ, { cutoffHz: 120, rms: 0.003, seed: 5 })],
  ['rain', steadyNoise(SECONDS, WIND_RATE_HZ, { cutoffHz: 4000, rms: 0.1, seed: 6 })],
  ['silence', new Float32Array(SECONDS * WIND_RATE_HZ)],
];

describe('findWindSpans', () => {
  it.each([1, 2, 3])('finds gusting wind, alone and under a voice at 0 and 5 dB (seed %i)', (seed) => {
    const wind = gustingWind(SECONDS, WIND_RATE_HZ, seed);
    const voice = voiceLike(SECONDS, WIND_RATE_HZ, seed + 20);
    expect(windOf(wind).length).toBeGreaterThan(0);
    expect(windOf(mixAtSnr(voice, wind, 0)).length).toBeGreaterThan(0);
    expect(windOf(mixAtSnr(voice, wind, 5)).length).toBeGreaterThan(0);
  });

  it('ignores an engine that runs after the wind has ended, as loud as it was', () => {
    const windy = mixAtSnr(voiceLike(SECONDS, WIND_RATE_HZ, 21), gustingWind(SECONDS, WIND_RATE_HZ, 1), 0);
    const samples = new Float32Array(2 * windy.length);
    samples.set(windy);
    samples.set(engine(SECONDS, WIND_RATE_HZ, 47, 3), windy.length);
    const [span, ...others] = windOf(samples);
    expect(others).toEqual([]);
    expect(span?.endMs).toBeGreaterThan(1000 * (SECONDS - 2));
    expect(span?.endMs).toBeLessThan(1000 * (SECONDS + 2));
  });

  const rumble = steadyNoise(SECONDS, WIND_RATE_HZ, { cutoffHz: 60, rms: 0.1, seed: 4 });

  it.each<[string, Samples]>([...UNLIKE_WIND, ['a steady rumble', rumble]])(
    'does not mistake %s for wind',
    (_, samples) => {
      expect(windOf(samples)).toEqual([]);
    },
  );

  it.each([
    [15, 6, 5],
    [25, 9, 3],
    [40, 12, 5],
    [60, 9, 8],
    [80, 6, 5],
  ])(
    'does not mistake a road for wind: rumble below %i Hz that swells by %i dB every %i s',
    (cutoffHz, swellDb, everyS) => {
      const rumble = steadyNoise(24, WIND_RATE_HZ, { cutoffHz, rms: 0.05, seed: cutoffHz });
      const road = rumble.map((value, i) => {
        const phase = (2 * Math.PI * i) / WIND_RATE_HZ / everyS;
        return value * 10 ** (((swellDb / 2) * Math.sin(phase)) / 20);
      });
      expect(windOf(road)).toEqual([]);
    },
  );

  const added = (a: Samples, b: Samples) => a.map((value, i) => value + (b[i] ?? 0));

  it.each([1, 2, 3])(
    'does not mistake the roar of a fire, which crackles all the time, for wind (seed %i)',
    (seed) => {
      const roar = gustingWind(SECONDS, WIND_RATE_HZ, seed);
      expect(windOf(added(roar, crackles(SECONDS, WIND_RATE_HZ, 8, seed + 5)))).toEqual([]);
      expect(windOf(added(roar, crackles(SECONDS, WIND_RATE_HZ, 1, seed + 5)))).not.toEqual([]);
    },
  );

  it.each([1, 2, 3])('does not mistake balls bouncing in a hall for wind (seed %i)', (seed) => {
    const wind = gustingWind(SECONDS, WIND_RATE_HZ, seed);
    const quiet = wind.map((value) => 0.3 * value);
    expect(windOf(added(quiet, thumps(SECONDS, WIND_RATE_HZ, 1.5, seed)))).toEqual([]);
    // A single ball in the wind.
    const once = thumps(1, WIND_RATE_HZ, 1, seed);
    expect(windOf(added(wind, once))).not.toEqual([]);
  });

  it.each([1, 2, 3])('finds faint wind under a voice only where somebody heard it (seed %i)', (seed) => {
    const wind = gustingWind(SECONDS, WIND_RATE_HZ, seed);
    const faint = mixAtSnr(voiceLike(SECONDS, WIND_RATE_HZ, seed + 20), wind, 12);
    expect(windOf(faint)).toEqual([]);
    const heard = heardIn(faint);
    expect(heard).toMatchObject({ isHeard: true });
    const coveredMs = heard.spans.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0);
    expect(coveredMs).toBeGreaterThan(SECONDS * 400);
  });

  it.each(UNLIKE_WIND)('finds nothing like wind in %s, whatever somebody heard', (_, samples) => {
    expect(heardIn(samples).spans).toEqual([]);
  });

  /** A gusty background; what is not given is clearly wind. */
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
      cracklesPerSecond: 0.5,
      knocksPerSecond: 0.2,
      centroidHz: 120,
      ...given,
    })),
    blockFloorDb: Array.from({ length: windows.length * 6 + 6 }, (_, i) => -24 + 2 * Math.sin(i * i)),
    blockLowBurst: Array.from({ length: windows.length * 6 + 6 }, () => 0.3),
    blockMs: 256,
  });
  const silent: SpeechSpan[] = [];
  const spoken: SpeechSpan[] = [{ startMs: 0, endMs: 60_000 }];
  const spansOf = (series: WindSeries, speech = silent) => findWindSpans(series, speech).spans;

  it('does not mistake the inside of a car or train for wind: gusts over steady lines', () => {
    const steady = [0.16, 0.2, 0.21, 0.19, 0.19, 0.24];
    expect(spansOf(seriesOf(steady.map((lineSteadiness) => ({ lineSteadiness }))))).toEqual([]);
    expect(spansOf(seriesOf(steady.map(() => ({}))))).toHaveLength(1);
  });

  it('does not mistake an engine for wind: fine steady lines, whatever its rumble', () => {
    const lined = { fineLineShare: 0.38, lowFloorDb: -36 };
    const engineLike = { ...lined, lineSteadiness: 0.15 };
    const drifting = { ...lined, lineSteadiness: 0.05 };
    const clip = seriesOf([engineLike, engineLike, engineLike]);
    expect(spansOf(clip)).toEqual([]);
    expect(spansOf(clip, spoken)).toEqual([]);
    expect(spansOf(seriesOf([drifting, drifting, drifting]))).toHaveLength(1);
  });

  it('does not mistake babble for wind: lines in the pauses of most windows', () => {
    const shares = [0.31, 0.38, 0.36, 0.33];
    const unplain = shares.map((pauseTonalShare) => ({ pauseTonalShare, tiltDbPerOctave: -4.8 }));
    expect(spansOf(seriesOf(unplain))).toEqual([]);
    const plain = shares.map((pauseTonalShare) => ({ pauseTonalShare }));
    expect(spansOf(seriesOf(plain))).toHaveLength(1);
  });

  it('needs more than two windows that barely pass', () => {
    const hardly = { tiltDbPerOctave: -4.28 };
    const not = { highFloorDb: -25 };
    expect(spansOf(seriesOf([not, hardly, hardly, not]))).toEqual([]);
    expect(spansOf(seriesOf([not, hardly, hardly, hardly, hardly, not]))).toHaveLength(1);
  });

  it('requires more of quiet wind, and not of louder wind', () => {
    const quiet = { floorDb: -43, totalDb: -36, highFloorDb: -68, lowFloorDb: -48 };
    expect(spansOf(seriesOf([quiet, quiet, quiet]))).toHaveLength(1);
    const series = seriesOf([quiet, quiet, quiet]);
    const finding = toWindFinding(series, findWindSpans(series, silent), (ms) => ms);
    expect(finding?.measure.threshold).toBe(-40.5);
    const flat = { ...quiet, tiltDbPerOctave: -4.8 };
    expect(spansOf(seriesOf([flat, flat, flat]))).toEqual([]);
    const faint = { ...quiet, floorDb: -44.5 };
    expect(spansOf(seriesOf([faint, faint, faint]))).toEqual([]);
  });

  it('detects quiet and steadier wind under a voice, which it would not accept alone', () => {
    const quiet = { floorDb: -46, totalDb: -40, highFloorDb: -71, lowFloorDb: -58 };
    const clip = seriesOf([quiet, quiet, quiet]);
    expect(spansOf(clip)).toEqual([]);
    expect(spansOf(clip, spoken)).toHaveLength(1);
    const plain = seriesOf(Array.from({ length: 3 }, () => ({ lowFloorDb: -34 })));
    const calmer = { ...plain, blockFloorDb: plain.blockFloorDb.map((level) => -24 + 0.6 * (level + 24)) };
    expect(spansOf(calmer)).toEqual([]);
    expect(spansOf(calmer, spoken)).toHaveLength(1);
  });

  it('does not mistake the syllables of a voice over street noise for gusts', () => {
    const street = { highFloorDb: -35, lowFloorDb: -32 };
    const flutter = seriesOf([street, street, street, street]);
    expect(spansOf(flutter)).toHaveLength(1);
    expect(spansOf(flutter, spoken)).toEqual([]);
    const wind = { ...street, lowFloorDb: -25 };
    expect(spansOf(seriesOf([wind, wind, wind, wind]), spoken)).toHaveLength(1);
  });

  it('does not mistake deep rumble as even as plain noise for wind, nor any with a tone in its low frequencies', () => {
    const deep = seriesOf(Array.from({ length: 4 }, () => ({ lowFloorDb: -24 })));
    const bursting = (series: WindSeries, burst: number) => ({
      ...series,
      blockLowBurst: series.blockLowBurst.map(() => burst),
    });
    expect(spansOf(bursting(deep, 0.3))).toHaveLength(1);
    expect(spansOf(bursting(deep, 0.18))).toEqual([]);
    const shallow = seriesOf(Array.from({ length: 4 }, () => ({ lowFloorDb: -36 })));
    expect(spansOf(bursting(shallow, 0.18))).toHaveLength(1);
    expect(spansOf(bursting(shallow, 0.1))).toEqual([]);
  });

  it('counts knocks against wind only if the rumble bursts as well, as steps and gusts of wind do not', () => {
    const knocking = (knocksPerSecond: number, burst: number, tiltDbPerOctave = -5.4) => {
      const series = seriesOf(Array.from({ length: 4 }, () => ({ knocksPerSecond, tiltDbPerOctave })));
      return { ...series, blockLowBurst: series.blockLowBurst.map(() => burst) };
    };
    expect(spansOf(knocking(1.2, 0.57))).toEqual([]);
    expect(spansOf(knocking(1.2, 0.4))).toHaveLength(1);
    expect(spansOf(knocking(0.33, 0.57))).toHaveLength(1);
    // Somebody walks or plays in wind that leaves no doubt.
    const plain = knocking(1.2, 0.57, -10);
    const gusty = plain.blockFloorDb.map((level) => -24 + 1.5 * (level + 24));
    expect(spansOf({ ...plain, blockFloorDb: gusty })).toHaveLength(1);
  });

  it('counts the crackles of a whole stretch, not of one window', () => {
    const crackling = (...rates: number[]) => {
      return spansOf(seriesOf(rates.map((cracklesPerSecond) => ({ cracklesPerSecond }))));
    };
    expect(crackling(5, 1, 1, 1)).toHaveLength(1);
    expect(crackling(4, 3, 3, 3)).toEqual([]);
  });

  it('does not extend over a quieter room by windows that the wind fills in part', () => {
    const not = { floorDb: -36, highFloorDb: -46, lowFloorDb: -60 };
    const edge = { floorDb: -36, totalDb: -26, highFloorDb: -60, lowFloorDb: -48 };
    const clip = seriesOf([not, not, not, edge, {}, {}, {}, edge, not, not, not]);
    const blockFloorDb = clip.blockFloorDb.map((level, i) => level - (i < 20 || i >= 42 ? 14 : 0));
    const [span, ...others] = spansOf({ ...clip, blockFloorDb });
    expect(others).toEqual([]);
    expect(span?.startMs).toBeGreaterThan(3000);
    expect(span?.endMs).toBeLessThan(clip.blockMs * blockFloorDb.length - 3000);
  });

  it('does not mistake a fan that is switched on for some seconds for wind: the step is not a gust', () => {
    const not = { floorDb: -50, highFloorDb: -55, lowFloorDb: -60 };
    const fan = { floorDb: -24, lowFloorDb: -36 };
    const clip = seriesOf([not, not, not, not, fan, fan, fan, fan, not, not, not, not]);
    const steps = (deepDb: number) =>
      clip.blockFloorDb.map((level, i) => (i < 22 || i >= 54 ? -50 : -24) + deepDb * ((level + 24) / 2));
    expect(spansOf({ ...clip, blockFloorDb: steps(0.5) }, spoken)).toEqual([]);
    expect(spansOf({ ...clip, blockFloorDb: steps(2) }, spoken)).toHaveLength(1);
  });

  it('names the windy part of a clip', () => {
    const samples = voiceLike(20, WIND_RATE_HZ, 9);
    const wind = gustingWind(7, WIND_RATE_HZ, 2);
    const first = 8 * WIND_RATE_HZ;
    wind.forEach((value, i) => {
      samples[first + i] = (samples[first + i] ?? 0) + 1.5 * value;
    });
    const measured = measure(samples);
    const finding = toWindFinding(
      measured.wind,
      findWindSpans(measured.wind, detectSpeech(measured.voice)),
      (ms) => ms + 40,
    );
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
  ])('does not mistake %s for a voice', (_, samples) => {
    expect(spans(samples)).toEqual([]);
  });
});
