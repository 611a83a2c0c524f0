import { mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';
import { mean } from '#server/media/signal/signal.ts';
import { processVideo } from '#server/pipeline/process-video.ts';
import { makeMovingClip } from '#server/test/broken-clips.ts';
import { replaceSound } from '#server/test/broken-sound.ts';
import { makeTask } from '#server/test/media-job.ts';
import {
  chords,
  engine,
  gustingWind,
  mixAtSnr,
  rms,
  siSdr,
  steadyNoise,
  voiceLike,
  type Samples,
} from '#server/test/synthetic-sound.ts';
import { decodeMono } from './sound-residual.ts';

const RATE_HZ = 48_000;
const SECONDS = 6;

interface Recording {
  readonly name: string;
  readonly samples: Samples;
}

export interface WindPair {
  readonly wind: string;
  readonly voice: string;
  readonly snrDb: number;
  readonly found: boolean;
  /**
   * Gain in SI-SDR against the voice alone, from the broken clip to the result, both after AAC coding, dB; 0 when left
   * alone.
   */
  readonly gainDb: number;
}

/** How the engine treated a sound without wind. */
export interface CalmFigures {
  readonly name: string;
  readonly found: boolean;
  /** Lost level, dB; 0 when the clip came back unchanged. */
  readonly lossDb: number;
}

export interface WindFigures {
  readonly pairs: readonly WindPair[];
  readonly voices: readonly CalmFigures[];
  readonly others: readonly CalmFigures[];
}

/** Stretches of pure wind in recordings that also contain something else: start and length, s. */
const WIND_ONLY: ReadonlyMap<string, readonly [number, number]> = new Map([
  ['wind-iphone-after-speech.wav', [5.45, 2.3]],
  ['walk-gopro7-wind-480p.mp4', [0.5, 11]],
]);
/** A shorter voice is too short to judge. */
const LEAST_VOICE_SECONDS = 5;

/**
 * Mixes voices with winds at 0 and 5 dB, puts each under a picture as AAC, repairs the clip and measures what the voice
 * gained. Then repairs voices alone, engines, music and room tone, which must come back unchanged.
 * @param media folder with recordings: `wind` in the name is wind, `speech-` and `talk-grid-` are voices, every other
 *   file with sound is neither; null for sounds made in code
 */
export async function measureWind(
  media: string | null,
  folder: string,
  tools: ToolPaths,
): Promise<WindFigures> {
  const made = makeSounds();
  const read = media === null ? made : await readSounds(media, tools);
  // Made sounds fill in where a folder has no recordings of wind or of voices.
  const winds = read.winds.length > 0 ? read.winds : made.winds;
  const voices = read.voices.length > 0 ? read.voices : made.voices;
  const { others } = read;
  const picture = path.join(folder, 'wind-picture.mp4');
  await makeMovingClip({
    tools,
    outputPath: picture,
    seconds: SECONDS,
    width: 160,
    height: 90,
    sound: false,
  });
  const mend = (samples: Samples) => mendSound({ samples, picture, folder, tools });
  const pairs: WindPair[] = [];
  for (const snrDb of [0, 5]) {
    for (const wind of winds) {
      for (const voice of voices) {
        const { found, before, after } = await mend(mixAtSnr(voice.samples, wind.samples, snrDb));
        const gainDb = siSdr(voice.samples, after) - siSdr(voice.samples, before);
        pairs.push({ wind: wind.name, voice: voice.name, snrDb, found, gainDb });
      }
    }
  }
  const calm = async ({ name, samples }: Recording): Promise<CalmFigures> => {
    const { found, before, after } = await mend(samples);
    return { name, found, lossDb: 20 * Math.log10(rms(before) / Math.max(rms(after), 1e-9)) };
  };
  const figures: WindFigures = {
    pairs,
    voices: await inTurn(voices, calm),
    others: await inTurn(others, calm),
  };
  return figures;
}

async function inTurn<In, Out>(items: readonly In[], work: (item: In) => Promise<Out>): Promise<Out[]> {
  const done: Out[] = [];
  for (const item of items) done.push(await work(item));
  return done;
}

async function mendSound(input: {
  readonly samples: Samples;
  readonly picture: string;
  readonly folder: string;
  readonly tools: ToolPaths;
}): Promise<{ found: boolean; before: Samples; after: Samples }> {
  const { tools, picture, samples } = input;
  const broken = path.join(input.folder, 'wind.mp4');
  const workDir = path.join(input.folder, 'wind-work');
  await replaceSound({ tools, inputPath: picture, outputPath: broken, channels: [samples], rateHz: RATE_HZ });
  await mkdir(workDir, { recursive: true });
  const task = await makeTask(broken, workDir, { tools });
  const result = await processVideo(task, { signal: new AbortController().signal, send: () => undefined });
  if (!result.ok) throw new Error(`${result.code}: ${result.message}`);
  const before = await decodeMono(broken, tools, RATE_HZ);
  const after = result.resultPath === null ? before : await decodeMono(result.resultPath, tools, RATE_HZ);
  await rm(workDir, { recursive: true, force: true });
  return { found: result.issues.windNoise, before, after };
}

function makeSounds() {
  const seeds = [1, 2, 3];
  return {
    winds: seeds.map((seed) => ({ name: `made wind ${seed}`, samples: gustingWind(SECONDS, RATE_HZ, seed) })),
    voices: seeds.map((seed) => ({ name: `made voice ${seed}`, samples: voiceLike(SECONDS, RATE_HZ, seed) })),
    others: madeCalm(),
  };
}

function madeCalm(): Recording[] {
  const noise = (cutoffHz: number, level: number) => {
    return steadyNoise(SECONDS, RATE_HZ, { cutoffHz, rms: level, seed: 5 });
  };
  return [
    { name: 'engine, 45 Hz', samples: engine(SECONDS, RATE_HZ, 45, 1) },
    { name: 'engine, 110 Hz', samples: engine(SECONDS, RATE_HZ, 110, 2) },
    { name: 'chords', samples: chords(SECONDS, RATE_HZ, 3) },
    { name: 'room tone', samples: noise(300, 0.005) },
    { name: 'road', samples: noise(150, 0.05) },
  ];
}

async function readSounds(media: string, tools: ToolPaths) {
  const winds: Recording[] = [];
  const voices: Recording[] = [];
  const others: Recording[] = madeCalm();
  for (const name of (await readdir(media)).sort()) {
    if (name.startsWith('odd-') || name.endsWith('.md')) continue;
    const [fromS, lengthS] = WIND_ONLY.get(name) ?? [0, 15];
    const whole = await decodeMono(path.join(media, name), tools, RATE_HZ).catch(() => new Float32Array(0));
    const samples = whole.slice(fromS * RATE_HZ, (fromS + lengthS) * RATE_HZ);
    if (rms(samples) < 1e-4 || samples.length < RATE_HZ) continue;
    const isVoice = /^(speech|talk-grid)-/.test(name);
    if (name.includes('wind')) winds.push({ name, samples });
    else if (!isVoice) others.push({ name, samples: samples.slice(0, SECONDS * RATE_HZ) });
    else if (samples.length >= LEAST_VOICE_SECONDS * RATE_HZ) {
      voices.push({ name, samples: samples.slice(0, SECONDS * RATE_HZ) });
    }
  }
  return { winds, voices, others };
}

/** Formats the figures as Markdown. */
export function formatWind({ pairs, voices, others }: WindFigures): string {
  const of = (wind: string, voice: string, snrDb: number) => {
    const pair = pairs.find((one) => one.wind === wind && one.voice === voice && one.snrDb === snrDb);
    return pair ? `${pair.gainDb.toFixed(1)}${pair.found ? '' : ' (not found)'}` : '-';
  };
  const names = [...new Map(pairs.map(({ wind, voice }) => [`${wind}/${voice}`, { wind, voice }])).values()];
  const average = (snrDb: number) => {
    const gains = pairs.filter((pair) => pair.snrDb === snrDb).map(({ gainDb }) => gainDb);
    return `**${mean(gains).toFixed(1)}** (${Math.min(...gains).toFixed(1)} to ${Math.max(...gains).toFixed(1)})`;
  };
  const calm = (list: readonly CalmFigures[]) => {
    const alarms = list.filter(({ found }) => found);
    const worst = Math.max(0, ...list.map(({ lossDb }) => lossDb));
    const which = alarms.length === 0 ? '' : ` (${alarms.map(({ name }) => name).join(', ')})`;
    return `${list.length} clips, wind found in ${alarms.length}${which}, largest loss ${worst.toFixed(2)} dB`;
  };
  return [
    'SI-SDR gained by a voice, dB, through the whole engine and both AAC codings:',
    '',
    '| wind | voice | wind at 0 dB | wind at 5 dB |',
    '|---|---|---|---|',
    ...names.map(
      ({ wind, voice }) => `| ${wind} | ${voice} | ${of(wind, voice, 0)} | ${of(wind, voice, 5)} |`,
    ),
    `| mean (range) of ${names.length} | | ${average(0)} | ${average(5)} |`,
    '',
    `Clean speech: ${calm(voices)}. Engines, music, room tone and other clips without wind: ${calm(others)}.`,
    '',
  ].join('\n');
}
