import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { mean } from '#server/media/signal/signal.ts';
import { mixAtSnr, rms, siSdr } from '#server/test/synthetic-sound.ts';
import { REAL_MEDIA } from '#server/test/real-media.ts';
import { createVoiceMeter, detectSpeech } from '../../analyse/detect-speech.ts';
import { createWindMeter } from '../../analyse/wind-noise/detect-wind-noise-series.ts';
import { findWindSpans } from '../../analyse/wind-noise/detect-wind-noise.ts';
import { createWindSuppressor } from './repair-wind-noise-filter.ts';
import { createLayout } from './repair-wind-noise-layout.ts';
import { createShapeLearner } from './repair-wind-noise-shape.ts';

const exec = promisify(execFile);
const folder = REAL_MEDIA;
const recordings = existsSync(folder);

const heard = new Map<string, Promise<Float32Array>>();

/** Samples of a stretch of a recording; each stretch is decoded once. */
function read(name: string, rateHz: number, fromS = 0, lengthS = 60): Promise<Float32Array> {
  const key = [name, rateHz, fromS, lengthS].join();
  const samples = heard.get(key) ?? decode(name, rateHz, fromS, lengthS);
  heard.set(key, samples);
  return samples;
}

async function decode(name: string, rateHz: number, fromS: number, lengthS: number): Promise<Float32Array> {
  const { stdout } = await exec(
    'ffmpeg',
    `-v error -nostdin -ss ${fromS} -t ${lengthS} -i`
      .split(' ')
      .concat(path.join(folder, name), `-map 0:a:0 -ac 1 -ar ${rateHz} -f f32le -`.split(' ')),
    { encoding: 'buffer', maxBuffer: 64 << 20 },
  );
  const samples = new Float32Array(Math.floor(stdout.length / 4));
  Buffer.from(samples.buffer).set(stdout.subarray(0, samples.length * 4));
  return samples;
}

function isWindy(samples: Float32Array): boolean {
  const voice = createVoiceMeter();
  const meter = createWindMeter(voice.listen);
  meter.push(samples);
  const series = meter.finish();
  return findWindSpans(series, detectSpeech(voice.series)).spans.length > 0;
}

const WINDS: [name: string, fromS: number, lengthS: number][] = [
  ['wind-iphone-after-speech.wav', 5.45, 2.3],
  ['wind-cc0-15s.ogg', 1, 13],
  ['wind-outdoor-73s.mp3', 1, 30],
  ['walk-gopro7-wind-480p.mp4', 0.5, 11],
];
const VOICES = ['speech-austen-0870.wav', 'speech-jfk-11s.wav', 'talk-grid-5-people-15s.mp4'];

/** Names of the recordings that the gain network was trained on; the others are new to it. */
const LEARNT_FROM = /cc0|gopro|grid/;

function clean(windy: Float32Array): Float64Array {
  const learner = createShapeLearner(createLayout(48_000));
  learner.push(windy);
  const suppressor = createWindSuppressor(48_000, learner.finish());
  return Float64Array.from([...suppressor.push(windy), ...suppressor.flush()]);
}

describe.skipIf(!recordings)('wind on real recordings (folder ../shared/media)', () => {
  it.each(WINDS)('finds the wind of %s', async (name, fromS, lengthS) => {
    expect(isWindy(await read(name, 16_000, fromS, lengthS))).toBe(true);
  });

  it.each([
    'drone-coast-480p.mp4',
    'roof-handheld-zoom-360p.mp4',
    'plane-fadeout-360p.mp4',
    'iphone-train-vfr-pcm.mov',
    'butterfly-720p.mp4',
    'event-cuts-portrait-720p.mp4',
    'narration-nasa-subs-270p.mp4',
    'talk-laptop-man-320p.mp4',
    'talk-stage-portrait-720p.mp4',
    'talk-webcam-drawing-880p60.mp4',
    'speech-jfk-11s.wav',
    'speech-austen-0920.wav',
  ])('finds no wind in %s', async (name) => {
    expect(isWindy(await read(name, 16_000))).toBe(false);
  });

  it.each([
    [0, 6],
    [5, 3],
  ])(
    'raises voices by its goal on average when mixed with wind at %i dB: by %i dB',
    async (snrDb, goalDb) => {
      const gains: number[] = [];
      const unheard: number[] = [];
      for (const [windName, fromS, lengthS] of WINDS) {
        const wind = await read(windName, 48_000, fromS, lengthS);
        for (const voiceName of VOICES) {
          const voice = await read(voiceName, 48_000, 0, 6);
          const windy = mixAtSnr(voice, wind, snrDb);
          const gainDb = siSdr(voice, clean(windy)) - siSdr(voice, windy);
          gains.push(gainDb);
          if (!LEARNT_FROM.test(windName) && !LEARNT_FROM.test(voiceName)) unheard.push(gainDb);
        }
      }
      expect(mean(gains)).toBeGreaterThanOrEqual(goalDb + 2);
      expect(mean(unheard)).toBeGreaterThanOrEqual(goalDb);
      expect(Math.min(...gains)).toBeGreaterThan(3);
    },
  );

  it.each(VOICES)('costs %s less than 0.3 dB when there is no wind in it', async (name) => {
    const voice = await read(name, 48_000, 0, 6);
    const cleaned = clean(voice);
    expect(siSdr(voice, cleaned)).toBeGreaterThan(18);
    expect(20 * Math.log10(rms(voice) / rms(cleaned))).toBeLessThan(0.3);
  });
});
