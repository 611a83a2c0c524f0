import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { findTools } from '#server/media/find-tools.ts';
import { createLayout, createWindSuppressor } from '#server/pipeline/repair/repair-wind-noise-filter.ts';
import type { GainNetwork } from '#server/pipeline/repair/repair-wind-noise-network.ts';
import { createShapeLearner } from '#server/pipeline/repair/repair-wind-noise-shape.ts';
import { seededRandom } from '#server/test/seeded-random.ts';
import { gustingWind, mixAtSnr, rms, siSdr, voiceLike, type Samples } from '#server/test/synthetic-sound.ts';
import { decodeMono } from './sound-residual.ts';
import { learnNetwork, type GainExamples } from './wind-gain-network.ts';

const RATE_HZ = 48_000;
const SECONDS = 5;
/** Part of the bins that is kept of a mixture; loud ones more often. */
const KEPT_SHARE = 0.3;

/** Recordings to learn from: name, from, length in s. All others stay new to the network. */
const VOICES = [
  ['talk-grid-5-people-15s.mp4', 0, 15],
  ['talk-laptop-man-320p.mp4', 0, 10],
  ['talk-stage-portrait-720p.mp4', 0, 15],
  ['talk-webcam-drawing-880p60.mp4', 0, 14],
  ['narration-nasa-subs-270p.mp4', 0, 13],
] as const;
const WINDS = [
  ['wind-cc0-15s.ogg', 0.5, 14],
  ['walk-gopro7-wind-480p.mp4', 0.3, 11],
] as const;

/**
 * `npm run bench -- wind-gain [--media DIR] [--mixtures N] [--steps N] [--seed N] [--out FILE]`: learns the gain network
 * of the wind repair anew from voices and winds mixed at -6 to 12 dB, prints what it gains on voices and winds that it
 * never heard (made ones, other seeds), and writes the weights as JSON. Without the folder it learns from made
 * sounds alone.
 */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      media: { type: 'string', default: '../shared/media' },
      mixtures: { type: 'string', default: '180' },
      steps: { type: 'string', default: '14000' },
      seed: { type: 'string', default: '1' },
      out: { type: 'string' },
    },
  });
  const random = seededRandom(Number(values.seed));
  const sounds = await readSounds(values.media);
  const parts: GainExamples[] = [];
  for (let i = 0; i < Number(values.mixtures); i++) parts.push(makeExamples(sounds, random, i));
  const examples = joinExamples(parts);
  console.log(`${examples.a.length} examples of ${examples.width} inputs`);
  const network = learnNetwork(examples, Number(values.steps), random, (step, loss) => {
    console.log(`step ${step}: loss ${loss.toFixed(4)}`);
  });
  for (const snrDb of [0, 5]) {
    const learnt = gainOnMade(snrDb, network).toFixed(2);
    console.log(
      `made voices and winds at ${snrDb} dB: ${learnt} dB, the shipped network ${gainOnMade(snrDb).toFixed(2)} dB`,
    );
  }
  if (values.out !== undefined) {
    await writeFile(values.out, JSON.stringify(network.layers.map((layer) => [...layer])));
  }
}

interface Sounds {
  readonly voices: readonly Samples[];
  readonly winds: readonly Samples[];
}

async function readSounds(media: string): Promise<Sounds> {
  const found = await findTools({
    ffmpegPath: process.env.FFMPEG_PATH ?? null,
    ffprobePath: process.env.FFPROBE_PATH ?? null,
    searchPath: process.env.PATH ?? '',
  });
  const tools = found?.paths;
  const read = async ([name, fromS, lengthS]: readonly [string, number, number]): Promise<Samples[]> => {
    if (!tools) return [];
    const all = await decodeMono(path.join(media, name), tools, RATE_HZ).catch(() => new Float32Array(0));
    const part = all.slice(fromS * RATE_HZ, (fromS + lengthS) * RATE_HZ);
    return rms(part) > 1e-4 ? [part] : [];
  };
  const voices = (await Promise.all(VOICES.map(read))).flat();
  const winds = (await Promise.all(WINDS.map(read))).flat();
  const made = [1, 2, 3, 4].map((seed) => voiceLike(10, RATE_HZ, seed));
  return { voices: voices.length > 0 ? voices : made, winds };
}

/** A stretch at another speed (which moves pitch and formants) and with its lows raised or lowered by up to 6 dB. */
function vary(sounds: readonly Samples[], random: () => number): Samples {
  const sound = sounds[Math.floor(random() * sounds.length)] ?? new Float32Array(RATE_HZ);
  const speed = 0.85 + 0.35 * random();
  const from = Math.floor(random() * Math.max(1, sound.length - SECONDS * RATE_HZ * speed));
  const hz = 80 * 25 ** random();
  const pole = 1 - Math.exp((-2 * Math.PI * hz) / RATE_HZ);
  const raise = 10 ** ((12 * random() - 6) / 20) - 1;
  let low = 0;
  return Float32Array.from({ length: SECONDS * RATE_HZ }, (_, i) => {
    const at = from + i * speed;
    const a = sound[Math.floor(at) % sound.length] ?? 0;
    const b = sound[Math.ceil(at) % sound.length] ?? 0;
    const value = a + (b - a) * (at % 1);
    low += pole * (value - low);
    return value + raise * low;
  });
}

function makeExamples(sounds: Sounds, random: () => number, number: number): GainExamples {
  const voice = vary(sounds.voices, random);
  const made = () => vary([gustingWind(SECONDS, RATE_HZ, 1000 + number)], random);
  const wind = sounds.winds.length === 0 || random() < 0.4 ? made() : vary(sounds.winds, random);
  const mixture = mixAtSnr(voice, wind, 18 * random() - 6);
  const learner = createShapeLearner(RATE_HZ);
  learner.push(mixture);
  const spectra = { voice: spectrumOf(voice), mixture: spectrumOf(mixture) };
  const mean = spectra.voice.power() + 1e-12;
  const rows: number[] = [];
  const [a, c, weight]: [number[], number[], number[]] = [[], [], []];
  const suppressor = createWindSuppressor(RATE_HZ, learner.finish(), {
    onInputs(frame, bin, inputs) {
      const s = spectra.voice.at(frame, bin);
      const x = spectra.mixture.at(frame, bin);
      const power = (x.re ** 2 + x.im ** 2) / mean;
      const keep = KEPT_SHARE * (0.4 + 0.6 * Math.min(1, Math.sqrt(power)));
      if (random() >= keep) return;
      for (const input of inputs) rows.push(input);
      a.push(power);
      c.push((s.re * x.re + s.im * x.im) / mean);
      weight.push(1 / keep);
    },
  });
  suppressor.push(mixture);
  suppressor.flush();
  return {
    inputs: Float32Array.from(rows),
    width: rows.length / Math.max(1, a.length),
    a: Float32Array.from(a),
    c: Float32Array.from(c),
    weight: Float32Array.from(weight),
  };
}

/** Frames of the suppressor: the first is the silence before the first sample. */
function spectrumOf(samples: Samples) {
  const { size, fft, bins, window } = createLayout(RATE_HZ);
  const hop = size / 4;
  const frames: { re: Float64Array; im: Float64Array }[] = [];
  for (let start = -size; start < samples.length; start += hop) {
    const re = new Float64Array(bins);
    const im = new Float64Array(bins);
    fft.forward(
      window.map((w, i) => w * (samples[start + i] ?? 0)),
      re,
      im,
    );
    frames.push({ re, im });
  }
  return {
    at: (frame: number, bin: number) => ({
      re: frames[frame]?.re[bin] ?? 0,
      im: frames[frame]?.im[bin] ?? 0,
    }),
    power() {
      const top = Math.round((4000 * size) / RATE_HZ);
      const sum = frames.reduce((total, { re, im }) => {
        for (let k = 0; k < top; k++) total += (re[k] ?? 0) ** 2 + (im[k] ?? 0) ** 2;
        return total;
      }, 0);
      return sum / frames.length / top;
    },
  };
}

function joinExamples(parts: readonly GainExamples[]): GainExamples {
  const join = (pick: (part: GainExamples) => Float32Array) => {
    const all = new Float32Array(parts.reduce((sum, part) => sum + pick(part).length, 0));
    let at = 0;
    for (const part of parts) {
      all.set(pick(part), at);
      at += pick(part).length;
    }
    return all;
  };
  return {
    inputs: join((part) => part.inputs),
    width: parts.find(({ width }) => width > 0)?.width ?? 0,
    a: join((part) => part.a),
    c: join((part) => part.c),
    weight: join((part) => part.weight),
  };
}

function gainOnMade(snrDb: number, network?: GainNetwork): number {
  const gains = [21, 22, 23].map((seed) => {
    const voice = voiceLike(6, RATE_HZ, seed);
    const windy = mixAtSnr(voice, gustingWind(6, RATE_HZ, seed + 7), snrDb);
    const learner = createShapeLearner(RATE_HZ);
    learner.push(windy);
    const suppressor = createWindSuppressor(RATE_HZ, learner.finish(), network ? { network } : {});
    const cleaned = [...suppressor.push(windy), ...suppressor.flush()];
    return siSdr(voice, cleaned) - siSdr(voice, windy);
  });
  return gains.reduce((sum, gain) => sum + gain, 0) / gains.length;
}
