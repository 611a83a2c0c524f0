import { seededRandom } from './seeded-random.ts';

/** Mono samples made in code, full scale 1, for use where no recordings are available. */
export type Samples = Float32Array;

/**
 * Wind as a microphone picks it up: noise that falls by 6 dB per octave from 60 Hz and by 12 from 600 Hz, its level
 * driven by gusts (log-normal, about +-6 dB, changing within 0.1 to 2 s). RMS 0.1.
 */
export function gustingWind(seconds: number, rateHz: number, seed: number): Samples {
  const random = seededRandom(seed);
  const count = Math.round(seconds * rateHz);
  const samples = new Float32Array(count);
  let slow = 0;
  let fast = 0;
  let first = 0;
  let second = 0;
  const pole = (hz: number) => 1 - Math.exp((-2 * Math.PI * hz) / rateHz);
  const [a, b, s, f] = [pole(60), pole(600), pole(0.4), pole(3)];
  for (let i = 0; i < count; i++) {
    slow += s * (gauss(random) - slow);
    fast += f * (gauss(random) - fast);
    // A one-pole low-pass reduces white noise by sqrt(pole / 2); the division gives both unit deviation.
    const gust = 0.55 * (slow / Math.sqrt(s / 2)) + 0.35 * (fast / Math.sqrt(f / 2));
    first += a * (gauss(random) - first);
    second += b * (first - second);
    samples[i] = second * Math.exp(gust);
  }
  return scaleTo(samples, 0.1);
}

/**
 * Voice-like sound: harmonics of a gliding pitch under moving formants in syllables of a quarter second, with noisy
 * consonants and a pause after every few syllables. RMS 0.1.
 */
export function voiceLike(seconds: number, rateHz: number, seed: number): Samples {
  const random = seededRandom(seed);
  const samples = new Float32Array(Math.round(seconds * rateHz));
  let at = 0.15;
  let left = 4 + Math.floor(random() * 5);
  while (at < seconds - 0.4) {
    const length = 0.14 + 0.16 * random();
    addSyllable(samples, rateHz, at, length, random);
    at += length + 0.03;
    if (--left === 0) {
      at += 0.45 + 0.5 * random();
      left = 4 + Math.floor(random() * 5);
    }
  }
  return scaleTo(samples, 0.1);
}

/** Where in its wave each harmonic starts, so that they do not all peak together. */
function harmonicTurns(count: number): { readonly sin: Float64Array; readonly cos: Float64Array } {
  const turns = Float64Array.from({ length: count + 1 }, (_, h) => h * h * 0.3);
  return { sin: turns.map(Math.sin), cos: turns.map(Math.cos) };
}

function addSyllable(
  samples: Samples,
  rateHz: number,
  at: number,
  length: number,
  random: () => number,
): void {
  const pitch = 105 + 70 * random();
  const glide = 0.75 + 0.5 * random();
  const [low, middle, high] = [350 + 450 * random(), 900 + 1300 * random(), 2400 + 600 * random()];
  const topHz = Math.min(3800, rateHz / 2);
  const turns = harmonicTurns(Math.ceil(topHz / (pitch * Math.min(1, glide))));
  const first = Math.round(at * rateHz);
  const count = Math.round(length * rateHz);
  let phase = 0;
  for (let i = 0; i < count && first + i < samples.length; i++) {
    const t = i / count;
    const f0 = pitch * glide ** t;
    phase += (2 * Math.PI * f0) / rateHz;
    let value = 0;
    // The sine and cosine of each multiple of the phase follow from those of the one before.
    const [sin, cos] = [Math.sin(phase), Math.cos(phase)];
    let [sine, cosine] = [0, 1];
    for (let h = 1; h * f0 < topHz; h++) {
      [sine, cosine] = [sine * cos + cosine * sin, cosine * cos - sine * sin];
      const hz = h * f0;
      const gain =
        0.02 +
        1 / (1 + ((hz - low) / 80) ** 2) +
        0.6 / (1 + ((hz - middle) / 120) ** 2) +
        0.36 / (1 + ((hz - high) / 160) ** 2);
      value += gain * (sine * (turns.cos[h] ?? 0) + cosine * (turns.sin[h] ?? 0));
    }
    samples[first + i] = (samples[first + i] ?? 0) + value * Math.sin(Math.PI * t) ** 0.5;
  }
  const hiss = Math.round(0.04 * rateHz);
  let last = 0;
  for (let i = 0; i < hiss && first - hiss + i >= 0; i++) {
    const noise = gauss(random);
    const at2 = first - hiss + i;
    samples[at2] = (samples[at2] ?? 0) + 0.15 * (noise - last) * Math.sin((Math.PI * i) / hiss);
    last = noise;
  }
}

/** Short hits at the given times: bursts of noise that decay within 40 ms. Peak 0.8. */
export function hits(seconds: number, rateHz: number, timesMs: readonly number[], seed: number): Samples {
  const random = seededRandom(seed);
  const samples = new Float32Array(Math.round(seconds * rateHz));
  for (const timeMs of timesMs) {
    const first = Math.round((timeMs / 1000) * rateHz);
    for (let i = 0; i < 0.2 * rateHz && first + i < samples.length; i++) {
      if (first + i >= 0) samples[first + i] = 0.8 * (2 * random() - 1) * Math.exp(-i / (0.04 * rateHz));
    }
  }
  return samples;
}

/** Crackles at random times, as of embers: bursts of noise that decay within 1.5 ms. Peak 0.2. */
export function crackles(seconds: number, rateHz: number, perSecond: number, seed: number): Samples {
  const random = seededRandom(seed);
  const samples = new Float32Array(Math.round(seconds * rateHz));
  for (let k = 0; k < seconds * perSecond; k++) {
    const first = Math.floor(random() * samples.length);
    const peak = 0.2 * (0.4 + 0.6 * random());
    for (let i = 0; i < 0.006 * rateHz && first + i < samples.length; i++) {
      const value = peak * (2 * random() - 1) * Math.exp(-i / (0.0015 * rateHz));
      samples[first + i] = (samples[first + i] ?? 0) + value;
    }
  }
  return samples;
}

/** Thumps of a ball or a drum, not quite evenly spaced: noise below 80 Hz that decays within 60 ms. */
export function thumps(seconds: number, rateHz: number, perSecond: number, seed: number): Samples {
  const random = seededRandom(seed);
  const samples = new Float32Array(Math.round(seconds * rateHz));
  const pole = 1 - Math.exp((-2 * Math.PI * 80) / rateHz);
  for (let at = 0.3; at < seconds; at += (0.6 + 0.8 * random()) / perSecond) {
    const start = Math.floor(at * rateHz);
    let once = 0;
    let twice = 0;
    for (let i = 0; i < 0.4 * rateHz && start + i < samples.length; i++) {
      once += pole * (2 * random() - 1 - once);
      twice += pole * (once - twice);
      samples[start + i] = (samples[start + i] ?? 0) + 4 * twice * Math.exp(-i / (0.06 * rateHz));
    }
  }
  return samples;
}

/** A rotor or engine: harmonics of one steady pitch over quiet broadband noise. RMS 0.1. */
export function engine(seconds: number, rateHz: number, pitchHz: number, seed: number): Samples {
  const random = seededRandom(seed);
  const samples = Float32Array.from({ length: Math.round(seconds * rateHz) }, (_, i) => {
    let value = 0.05 * gauss(random);
    for (let h = 1; h <= 20; h++) value += Math.sin((2 * Math.PI * h * pitchHz * i) / rateHz + h * h) / h;
    return value;
  });
  return scaleTo(samples, 0.1);
}

/** Held chords that change every 0.8 s. RMS 0.1. */
export function chords(seconds: number, rateHz: number, seed: number): Samples {
  const random = seededRandom(seed);
  const samples = new Float32Array(Math.round(seconds * rateHz));
  const step = Math.round(0.8 * rateHz);
  for (let first = 0; first < samples.length; first += step) {
    const root = 110 * 2 ** (Math.floor(random() * 12) / 12);
    const tones = [1, 1.25, 1.5, 2].flatMap((ratio) => [ratio, 2 * ratio, 3 * ratio]);
    for (let i = 0; i < step && first + i < samples.length; i++) {
      samples[first + i] = tones.reduce(
        (sum, ratio, n) =>
          sum +
          (Math.sin((2 * Math.PI * root * ratio * i) / rateHz) * Math.exp(-i / rateHz)) / (1 + (n % 3) * 2),
        0,
      );
    }
  }
  return scaleTo(samples, 0.1);
}

/** White noise through a low-pass at `cutoffHz` (6 dB per octave) with the given RMS. Steady, like rooms and roads. */
export function steadyNoise(
  seconds: number,
  rateHz: number,
  options: { readonly cutoffHz: number; readonly rms: number; readonly seed: number },
): Samples {
  const random = seededRandom(options.seed);
  const pole = 1 - Math.exp((-2 * Math.PI * options.cutoffHz) / rateHz);
  let state = 0;
  const samples = Float32Array.from({ length: Math.round(seconds * rateHz) }, () => {
    state += pole * (gauss(random) - state);
    return state;
  });
  return scaleTo(samples, options.rms);
}

/** `sound + wind` with the wind scaled to a ratio of mean powers, dB. A shorter wind is repeated. */
export function mixAtSnr(sound: Samples, wind: Samples, snrDb: number): Samples {
  const tiled = new Float32Array(sound.length);
  for (let from = 0; from < tiled.length; from += wind.length)
    tiled.set(wind.subarray(0, tiled.length - from), from);
  const gain = (rms(sound) / rms(tiled)) * 10 ** (-snrDb / 20);
  return sound.map((value, i) => value + gain * (tiled[i] ?? 0));
}

/**
 * Scale-invariant signal-to-distortion ratio in dB (Le Roux et al. 2019, "SDR, half-baked or well done?"), means
 * removed.
 */
export function siSdr(reference: ArrayLike<number>, estimate: ArrayLike<number>): number {
  const count = Math.min(reference.length, estimate.length);
  let meanRef = 0;
  let meanEst = 0;
  for (let i = 0; i < count; i++) {
    meanRef += (reference[i] ?? 0) / count;
    meanEst += (estimate[i] ?? 0) / count;
  }
  let refRef = 0;
  let refEst = 0;
  let estEst = 0;
  for (let i = 0; i < count; i++) {
    const r = (reference[i] ?? 0) - meanRef;
    const e = (estimate[i] ?? 0) - meanEst;
    refRef += r * r;
    refEst += r * e;
    estEst += e * e;
  }
  const target = refEst ** 2 / refRef;
  return 10 * Math.log10(target / Math.max(estEst - target, 1e-30));
}

export function rms(samples: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < samples.length; i++) sum += (samples[i] ?? 0) ** 2;
  return Math.sqrt(sum / Math.max(1, samples.length));
}

function scaleTo(samples: Samples, target: number): Samples {
  const factor = target / Math.max(rms(samples), 1e-12);
  return samples.map((value) => value * factor);
}

function gauss(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}
