import { createRealFft } from '#server/media/signal/fft.ts';
import { hannWindow } from '#server/media/signal/signal-frames.ts';
import { rms, type Samples } from '#server/test/synthetic-sound.ts';

type Random = () => number;

const FRAME = 2048;
const HOP = FRAME / 4;

/**
 * Synthesises wind on a microphone, different on every call. Noise has a spectrum that falls gently to a corner
 * frequency and steeply above it; the corner rises with the strength of the gust (turbulence in a boundary layer; the
 * source and filter of Nelke and Vary 2014). Gusts of three speeds, the high-pass of a phone, an overdriven input, a
 * levelling recorder and a noise floor are added. The ranges enclose the spectra and levels measured on a phone, an
 * action camera and two outdoor recordings. RMS 0.1.
 */
export function microphoneWind(seconds: number, rateHz: number, random: Random): Samples {
  const count = Math.round(seconds * rateHz);
  const gusts = makeGusts(Math.ceil((count + FRAME) / HOP) + 1, rateHz / HOP, random);
  const wind = shapeNoise(count, rateHz, gusts, makeShape(random), random);
  if (random() < 0.7) highPass(wind, rateHz, 20 * 10 ** random(), 1 + Math.floor(3 * random()));
  if (random() < 0.3) overdrive(wind, 1 + 2.5 * random());
  if (random() < 0.3) level(wind, rateHz, 0.3 + 0.5 * random());
  const floor = 10 ** (-(45 + 30 * random()) / 20) * rms(wind);
  const scale = 0.1 / Math.max(rms(wind), 1e-12);
  return wind.map((value) => scale * (value + floor * gauss(random)));
}

/** Level of the wind in dB per frame: slow, medium and fast gusts of random weight. */
function makeGusts(frames: number, framesPerS: number, random: Random): Float64Array {
  const gusts = new Float64Array(frames);
  const speeds = [
    [0.2 * 5 ** random(), 1 + 5 * random()],
    [1.5 * 3 ** random(), 0.5 + 4 * random()],
    [6 * 4 ** random(), 4 * random()],
  ] as const;
  for (const [hz, deviationDb] of speeds) {
    const pole = 1 - Math.exp((-2 * Math.PI * hz) / framesPerS);
    // A one-pole low-pass reduces the deviation of white noise to sqrt(pole / (2 - pole)).
    const gain = deviationDb * Math.sqrt((2 - pole) / pole);
    let state = Math.sqrt(pole / (2 - pole)) * gauss(random);
    for (let i = 0; i < frames; i++) {
      state += pole * (gauss(random) - state);
      gusts[i] = (gusts[i] ?? 0) + gain * state;
    }
  }
  return gusts;
}

interface WindSpectrum {
  /** Level in dB at a frequency, for a gust of `gustDb`. */
  dbAt(hz: number, gustDb: number): number;
}

function makeShape(random: Random): WindSpectrum {
  const corner = 90 * 12 ** random();
  const spread = 0.08 * random();
  const gentle = -6 * random();
  const steep = -(6 + 11 * random());
  const far = steep - 4 * random();
  const knee = 0.3 + 0.7 * random();
  const waves = Array.from({ length: 3 }, () => ({
    db: 2.5 * random(),
    perOctave: 0.3 + 0.7 * random(),
    phase: 2 * Math.PI * random(),
  }));
  return {
    dbAt(hz, gustDb) {
      const octave = Math.log2(Math.max(hz, 10) / corner);
      const above = octave - spread * gustDb;
      // The two slopes are joined by a rounded knee.
      const bend = knee * Math.log1p(Math.exp(Math.min(40, above / knee)));
      const beyond = Math.max(0, Math.log2(Math.max(hz, 10) / 3000));
      const ripple = waves.reduce(
        (sum, { db, perOctave, phase }) => sum + db * Math.sin(2 * Math.PI * perOctave * octave + phase),
        0,
      );
      return gentle * octave + (steep - gentle) * bend + (far - steep) * beyond + ripple;
    },
  };
}

function shapeNoise(
  count: number,
  rateHz: number,
  gusts: Float64Array,
  shape: WindSpectrum,
  random: Random,
): Samples {
  const fft = createRealFft(FRAME);
  const window = hannWindow(FRAME).map(Math.sqrt);
  const [re, im, frame] = [new Float64Array(fft.bins), new Float64Array(fft.bins), new Float64Array(FRAME)];
  const out = new Float64Array(count + 2 * FRAME);
  for (let f = 0; f * HOP < count + FRAME; f++) {
    const gust = gusts[f] ?? 0;
    for (let k = 1; k < fft.bins - 1; k++) {
      const gain = 10 ** ((shape.dbAt((k * rateHz) / FRAME, gust) + gust) / 20);
      re[k] = gain * gauss(random);
      im[k] = gain * gauss(random);
    }
    fft.inverse(re, im, frame);
    for (let i = 0; i < FRAME; i++) {
      out[f * HOP + i] = (out[f * HOP + i] ?? 0) + (frame[i] ?? 0) * (window[i] ?? 0);
    }
  }
  const samples = Float32Array.from(out.subarray(FRAME, FRAME + count));
  const scale = 0.1 / Math.max(rms(samples), 1e-12);
  return samples.map((value) => value * scale);
}

/** Applies `order` one-pole high-passes in series, in place. */
function highPass(samples: Samples, rateHz: number, hz: number, order: number): void {
  const pole = 1 - Math.exp((-2 * Math.PI * hz) / rateHz);
  for (let n = 0; n < order; n++) {
    let low = 0;
    for (let i = 0; i < samples.length; i++) {
      low += pole * ((samples[i] ?? 0) - low);
      samples[i] = (samples[i] ?? 0) - low;
    }
  }
}

function overdrive(samples: Samples, drive: number): void {
  const unit = 3 * rms(samples);
  for (let i = 0; i < samples.length; i++) {
    samples[i] = unit * Math.tanh((drive * (samples[i] ?? 0)) / unit);
  }
}

/** Simulates the automatic level of a recorder: removes a share of the level in dB, averaged over half a second. */
function level(samples: Samples, rateHz: number, share: number): void {
  const pole = 1 - Math.exp(-2 / rateHz);
  let power = rms(samples) ** 2;
  for (let i = 0; i < samples.length; i++) {
    power += pole * ((samples[i] ?? 0) ** 2 - power);
    samples[i] = (samples[i] ?? 0) * (power + 1e-9) ** (-share / 2);
  }
}

function gauss(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}
