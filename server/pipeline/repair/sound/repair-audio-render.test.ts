import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gustingWind, mixAtSnr, rms, siSdr, voiceLike } from '#server/test/synthetic-sound.ts';
import { channelOf, readRawSound, type RawSound } from './repair-audio-raw.ts';
import { renderSound } from './repair-audio-render.ts';
import { learnWind } from '../wind-noise/repair-wind-noise.ts';

const RATE = 16_000;
const SECONDS = 8;
const SPANS = [{ first: 2 * RATE, end: SECONDS * RATE }];

let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'reelmend-render-'));
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function writeRaw(name: string, channels: readonly Float32Array[]): Promise<RawSound> {
  const [first] = channels;
  const samples = Float32Array.from(
    { length: (first?.length ?? 0) * channels.length },
    (_, i) => channels[i % channels.length]?.[Math.floor(i / channels.length)] ?? 0,
  );
  const file = path.join(folder, name);
  await writeFile(file, new Uint8Array(samples.buffer));
  return { path: file, channels: channels.length };
}

async function render(input: Parameters<typeof renderSound>[0]): Promise<Float32Array> {
  const pieces: Buffer[] = [];
  for await (const piece of renderSound(input)) pieces.push(Buffer.from(piece));
  const bytes = Buffer.concat(pieces);
  const samples = new Float32Array(bytes.length / 4);
  Buffer.from(samples.buffer).set(bytes);
  return samples;
}

async function readAll(raw: RawSound): Promise<Float32Array> {
  return render({ raw, rateHz: RATE, wind: null, fillings: [] });
}

/** What encoding leaves between two equal channels: noise about 60 dB below the sound. */
const withCodingNoise = (samples: Float32Array, seed: number) => {
  const noise = gustingWind(SECONDS, RATE, seed);
  const level = (1e-3 * rms(samples)) / rms(noise);
  return samples.map((value, i) => value + level * (noise[i] ?? 0));
};

describe('readRawSound', () => {
  it('reads the samples of a span and ends where the file ends', async () => {
    const raw = await writeRaw('ramp.f32', [Float32Array.from({ length: 100 }, (_, i) => i)]);
    const read = async (first: number, end: number) => {
      const samples: number[] = [];
      for await (const chunk of readRawSound(raw, { first, end })) samples.push(...chunk);
      return samples;
    };
    expect(await read(10, 13)).toEqual([10, 11, 12]);
    expect(await read(98, 1000)).toEqual([98, 99]);
    expect(await read(200, 300)).toEqual([]);
  });
});

describe('renderSound', () => {
  it('cleans channels with the same sound as one, and keeps their difference', async () => {
    const voice = voiceLike(SECONDS, RATE, 1);
    const windy = mixAtSnr(voice, gustingWind(SECONDS, RATE, 2), 0);
    const raw = await writeRaw('alike.f32', [windy, withCodingNoise(windy, 9)]);
    const shapes = await learnWind({ raw, rateHz: RATE, spans: SPANS });
    expect(shapes).toHaveLength(1);
    const before = await readAll(raw);
    const after = await render({ raw, rateHz: RATE, wind: { shapes, spans: SPANS }, fillings: [] });
    expect(after.length).toBe(before.length);
    const inside = (samples: Float32Array, c: number) => channelOf(samples, c, 2).subarray(2 * RATE);
    const gainDb =
      siSdr(voice.subarray(2 * RATE), inside(after, 1)) - siSdr(voice.subarray(2 * RATE), inside(before, 1));
    expect(gainDb).toBeGreaterThan(5);
    const difference = (samples: Float32Array) => {
      const left = inside(samples, 0);
      return inside(samples, 1).map((value, i) => value - (left[i] ?? 0));
    };
    const kept = difference(after);
    const worst = difference(before).reduce(
      (most, value, i) => Math.max(most, Math.abs(value - (kept[i] ?? 9))),
      0,
    );
    expect(worst).toBeLessThan(1e-6);
  });

  it('cleans every channel separately when each has its own wind, and keeps what precedes the wind', async () => {
    const voice = voiceLike(SECONDS, RATE, 1);
    const channels = [2, 3].map((seed) => mixAtSnr(voice, gustingWind(SECONDS, RATE, seed), 0));
    const raw = await writeRaw('apart.f32', channels);
    const shapes = await learnWind({ raw, rateHz: RATE, spans: SPANS });
    expect(shapes).toHaveLength(2);
    const before = await readAll(raw);
    const after = await render({ raw, rateHz: RATE, wind: { shapes, spans: SPANS }, fillings: [] });
    expect(after.length).toBe(before.length);
    // The cleaned sound fades in within a tenth of a second.
    const untouched = 2 * (SPANS[0]?.first ?? 0) - 2 * 0.1 * RATE;
    expect(after.subarray(0, untouched)).toEqual(before.subarray(0, untouched));
    for (const c of [0, 1]) {
      const inside = (samples: Float32Array) => channelOf(samples, c, 2).subarray(2 * RATE);
      const truth = voice.subarray(2 * RATE);
      expect(siSdr(truth, inside(after)) - siSdr(truth, inside(before))).toBeGreaterThan(5);
    }
  });

  it('leaves a channel without wind unchanged beside one with wind', async () => {
    const voice = voiceLike(SECONDS, RATE, 1);
    const windy = mixAtSnr(voice, gustingWind(SECONDS, RATE, 2), 0);
    const raw = await writeRaw('still.f32', [windy, voice]);
    const shapes = await learnWind({ raw, rateHz: RATE, spans: SPANS });
    expect(shapes[1]).toBeNull();
    const after = await render({ raw, rateHz: RATE, wind: { shapes, spans: SPANS }, fillings: [] });
    expect(channelOf(after, 1, 2)).toEqual(voice);
    const truth = voice.subarray(2 * RATE);
    const gain =
      siSdr(truth, channelOf(after, 0, 2).subarray(2 * RATE)) - siSdr(truth, windy.subarray(2 * RATE));
    expect(gain).toBeGreaterThan(5);
  });

  it('cleans a windy channel whose microphone has a high-pass beside one that has none', async () => {
    const voice = voiceLike(SECONDS, RATE, 1);
    const windy = mixAtSnr(voice, gustingWind(SECONDS, RATE, 2), 0);
    let higher = gustingWind(SECONDS, RATE, 3);
    const pole = 1 - Math.exp((-2 * Math.PI * 120) / RATE);
    for (let order = 0; order < 6; order++) {
      let low = 0;
      higher = higher.map((value) => value - (low += pole * (value - low)));
    }
    const raw = await writeRaw('high-pass.f32', [windy, mixAtSnr(voice, higher, 5)]);
    const shapes = await learnWind({ raw, rateHz: RATE, spans: SPANS });
    expect(shapes[1]).not.toBeNull();
  });

  it('removes no more from a channel with little wind than the shape of the windiest one allows', async () => {
    const voice = voiceLike(SECONDS, RATE, 1);
    const channels = [0, 20].map((snrDb) => mixAtSnr(voice, gustingWind(SECONDS, RATE, 2 + snrDb), snrDb));
    const raw = await writeRaw('breeze.f32', channels);
    const [windiest, breezy] = await learnWind({ raw, rateHz: RATE, spans: SPANS });
    const excess = breezy?.relative.map((value, k) => value / (windiest?.relative[k] ?? 0)) ?? [];
    expect(Math.max(...excess)).toBeCloseTo(2, 6);
    const after = await render({
      raw,
      rateHz: RATE,
      wind: { shapes: [windiest ?? null, breezy ?? null], spans: SPANS },
      fillings: [],
    });
    const truth = voice.subarray(2 * RATE);
    const inside = (samples: Float32Array) => siSdr(truth, channelOf(samples, 1, 2).subarray(2 * RATE));
    expect(inside(after) - inside(await readAll(raw))).toBeGreaterThan(5);
  });
});
