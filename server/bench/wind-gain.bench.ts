import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';
import { createWindSuppressor } from '#server/pipeline/repair/wind-noise/repair-wind-noise-filter.ts';
import { createLayout } from '#server/pipeline/repair/wind-noise/repair-wind-noise-layout.ts';
import { createShapeLearner } from '#server/pipeline/repair/wind-noise/repair-wind-noise-shape.ts';
import { seededRandom } from '#server/test/seeded-random.ts';
import { mixAtSnr, rms, siSdr, voiceLike, type Samples } from '#server/test/synthetic-sound.ts';
import { benchTools, mediaFolder, wholeNumber } from './bench-options.ts';
import { decodeMono } from './sound-residual.ts';
import { microphoneWind } from './wind-gain-sounds.ts';

const RATE_HZ = 48_000;
/** Where the wind begins in recordings that are not wind throughout, s. */
const WIND_FROM_S = [
  ['wind-iphone-after-speech', 5.45],
  ['', 0],
] as const;

interface Sound {
  readonly name: string;
  readonly samples: Samples;
}

/**
 * `npm run bench -- wind-gain [--media DIR] [--voices NAMES] [--winds NAMES] [--seconds N]`: measures what the
 * suppressor gains with its network, by itself (no coding, the wind taken as found). Mixes every voice with every wind
 * at 0 and 5 dB and with made winds, each different, and measures what is lost from the voices alone. Voices and winds
 * are the files of the folder whose names contain one of the comma-separated NAMES, by default recordings that the
 * network was not trained on; without a folder the voices are made too.
 */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      media: { type: 'string' },
      voices: { type: 'string', default: 'speech-austen,speech-jfk' },
      winds: { type: 'string', default: 'wind-iphone,wind-outdoor' },
      seconds: { type: 'string', default: '7' },
    },
  });
  const seconds = wholeNumber('--seconds', values.seconds, 1);
  const media = await mediaFolder(values.media);
  const tools = await benchTools();
  const found = await readSounds(media, values.voices, seconds, tools);
  const voices = found.length > 0 ? found : madeVoices(seconds);
  const winds = [...(await readSounds(media, values.winds, seconds, tools)), ...madeWinds(seconds)];
  console.log(`| wind | SNR | mean | ${voices.map(({ name }) => name).join(' | ')} |`);
  console.log(`|---|---|---|${'---|'.repeat(voices.length)}`);
  for (const wind of winds) {
    for (const snrDb of [0, 5]) {
      const gains = voices.map((voice) => gainOn(voice.samples, wind.samples, snrDb));
      const mean = gains.reduce((sum, gain) => sum + gain, 0) / gains.length;
      const row = [wind.name, `${snrDb} dB`, mean.toFixed(2), ...gains.map((gain) => gain.toFixed(1))];
      console.log(`| ${row.join(' | ')} |`);
    }
  }
  const losses = voices.map(({ samples }) =>
    (20 * Math.log10(rms(samples) / rms(suppress(samples)))).toFixed(2),
  );
  console.log(`| none: loss of the voice alone | | | ${losses.join(' | ')} |`);
}

async function readSounds(
  folder: string | null,
  names: string,
  seconds: number,
  tools: ToolPaths,
): Promise<Sound[]> {
  const parts = names.split(',').filter(Boolean);
  const files = (folder === null ? [] : await readdir(folder)).filter((name) =>
    parts.some((part) => name.includes(part)),
  );
  const sounds: Sound[] = [];
  for (const name of files.toSorted()) {
    const all = await decodeMono(path.join(folder ?? '', name), tools, RATE_HZ);
    const fromS = WIND_FROM_S.find(([part]) => name.includes(part))?.[1] ?? 0;
    const samples = all.slice(fromS * RATE_HZ, (fromS + seconds) * RATE_HZ);
    if (rms(samples) > 1e-4) sounds.push({ name: path.parse(name).name, samples });
  }
  return sounds;
}

function madeVoices(seconds: number): Sound[] {
  return [1, 2, 3].map((seed) => ({ name: `made ${seed}`, samples: voiceLike(seconds, RATE_HZ, seed) }));
}

function madeWinds(seconds: number): Sound[] {
  return [31, 32, 33].map((seed) => ({
    name: `made ${seed}`,
    samples: microphoneWind(seconds, RATE_HZ, seededRandom(seed)),
  }));
}

function gainOn(voice: Samples, wind: Samples, snrDb: number): number {
  const windy = mixAtSnr(voice, wind, snrDb);
  return siSdr(voice, suppress(windy)) - siSdr(voice, windy);
}

function suppress(sound: Samples): Float64Array {
  const learner = createShapeLearner(createLayout(RATE_HZ));
  learner.push(sound);
  const suppressor = createWindSuppressor(RATE_HZ, learner.finish());
  return Float64Array.from([...suppressor.push(sound), ...suppressor.flush()]);
}
