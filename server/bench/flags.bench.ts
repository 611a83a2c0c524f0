import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';
import { smallSize } from '#server/media/grey/grey-frame.ts';
import { createGreySeries } from '#server/media/grey/grey-series.ts';
import { probe } from '#server/media/probe/probe.ts';
import { detectCuts } from '#server/pipeline/analyse/detect-cuts.ts';
import { detectPictureFlags } from '#server/pipeline/analyse/picture-flags/detect-picture-flags.ts';
import type { PictureFlag } from '#server/pipeline/analyse/picture-flags/picture-flag.ts';
import { BenchInputError, benchTools, mediaFolder, wholeNumber } from './bench-options.ts';
import { greyPictures } from './motion-noise.ts';
import { collectSources } from './repair-sources.ts';
import { median } from './repair-table.ts';

/** Start and end of the part that a change is limited to, seconds. */
const PART = [2.5, 5.5] as const;
/** A clip is long enough for such a part when at least this much follows it, seconds. */
const BEHIND_S = 0.5;

interface Plant {
  readonly name: string;
  readonly kind: PictureFlag['kind'];
  readonly isPart: boolean;
  /** @param side of the square that has the area of the picture, pixels */
  readonly filter: (side: number) => string;
}

const partly = `:enable='between(t,${PART.join(',')})'`;

/** Scales every level to this share, in the coded range; one stop less is a factor of 0.73. */
const darker = (share: number) =>
  `lutyuv=y='16+(val-16)*${share}':u='128+(val-128)*${share}':v='128+(val-128)*${share}'`;
const blurred = (share: number) => (side: number) => `gblur=sigma=${(side * share).toFixed(2)}:steps=5`;

/**
 * Shakes the picture as a hand-held camera would: three sines of 3 to 8 Hz per axis, with this share of the width as
 * amplitude.
 */
function shaken(share: number, isPart: boolean): string {
  const size = `${isPart ? `between(t,${PART.join(',')})*` : ''}${share}*iw/2`;
  const x = '(sin(2*PI*3.1*t)+0.7*sin(2*PI*4.7*t+1)+0.5*sin(2*PI*6.9*t+2))';
  const y = '(sin(2*PI*2.7*t+0.5)+0.7*sin(2*PI*5.3*t+1)+0.5*sin(2*PI*7.7*t))';
  return `scale=iw*1.08:ih*1.08,crop=iw/1.08:ih/1.08:'(iw-ow)/2+${size}*${x}':'(ih-oh)/2+${size}*${y}'`;
}

const percent = (share: number) => `${Math.round(share * 1000) / 10} %`;

const PLANTS: readonly Plant[] = [
  ...[0.53, 0.39, 0.28].map((share): Plant => ({
    name: `dark, ${share} of each level`,
    kind: 'poor_lighting',
    isPart: false,
    filter: () => darker(share),
  })),
  {
    name: 'dark for 3 s, 0.3',
    kind: 'poor_lighting',
    isPart: true,
    filter: () => `${darker(0.3)}${partly}`,
  },
  ...[0.007, 0.01, 0.02].flatMap((share): Plant[] =>
    [false, true].map((isPart) => ({
      name: `blurred${isPart ? ' for 3 s' : ''}, ${percent(share)} of the side of a square`,
      kind: 'blurry_section',
      isPart,
      filter: (side) => `${blurred(share)(side)}${isPart ? partly : ''}`,
    })),
  ),
  ...[0.007, 0.015, 0.025].map((share): Plant => ({
    name: `shaken, ${percent(share)} of the width`,
    kind: 'shaky_footage',
    isPart: false,
    filter: () => shaken(share, false),
  })),
  {
    name: 'shaken for 3 s, 1.5 %',
    kind: 'shaky_footage',
    isPart: true,
    filter: () => shaken(0.015, true),
  },
];

interface Clip {
  readonly name: string;
  readonly path: string;
  readonly width: number;
  readonly height: number;
  readonly fps: number;
  readonly seconds: number;
}

/**
 * `npm run bench -- flags [--media DIR] [--clips N]`: applies one ffmpeg filter at a time to the first seconds of every
 * clip of a folder, or of made clips (less light, a Gaussian blur, a shaking camera; to the whole clip or three seconds
 * of it). Prints in how many clips the flag is raised, of those that do not have it themselves; how far the ends of a
 * part are off; and which other flags are raised that the clip does not have itself. Pictures are measured as they
 * leave the filter, without coding.
 */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { media: { type: 'string' }, clips: { type: 'string', default: '1000' } },
  });
  const tools = await benchTools();
  const most = wholeNumber('--clips', values.clips, 1);
  const media = await mediaFolder(values.media);
  const folder = await mkdtemp(path.join(tmpdir(), 'bench-flags-'));
  try {
    const clips = await readClips(media, most, folder, tools);
    if (clips.length === 0) throw new BenchInputError('The folder has no clip that can be planted in.');
    const own = new Map<string, PictureFlag[]>();
    for (const clip of clips) own.set(clip.name, await flagsOf(clip, null, tools));
    console.log(`${clips.length} clips (${media ?? 'made'})\n`);
    for (const [name, flags] of own) if (flags.length > 0) console.log(`as it is: ${name}: ${told(flags)}`);
    console.log('\n| planted | clips | raised | ends of a part off, s (median) | something else raised |');
    console.log('|---|---|---|---|---|');
    for (const plant of PLANTS) console.log(await rowOf(plant, clips, own, tools));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function readClips(
  media: string | null,
  most: number,
  folder: string,
  tools: ToolPaths,
): Promise<Clip[]> {
  const clips: Clip[] = [];
  for (const { name, base } of await collectSources(media, most, folder, tools)) {
    if (!('path' in base)) continue;
    const info = await probe(tools, base.path, 'mov');
    const stream = info.video[0];
    if (!stream || stream.frameRate === null) continue;
    const { width, height, frameRate: fps } = stream;
    clips.push({ name, path: base.path, width, height, fps, seconds: (info.durationMs ?? 0) / 1000 });
  }
  return clips;
}

async function rowOf(
  plant: Plant,
  clips: readonly Clip[],
  own: ReadonlyMap<string, readonly PictureFlag[]>,
  tools: ToolPaths,
): Promise<string> {
  const counted = { clips: 0, raised: 0, other: 0 };
  const errors: number[] = [];
  for (const clip of clips) {
    const mine = own.get(clip.name) ?? [];
    if (mine.some(({ kind }) => kind === plant.kind)) continue;
    if (plant.isPart && clip.seconds < PART[1] + BEHIND_S) continue;
    counted.clips += 1;
    const flags = await flagsOf(clip, plant, tools);
    const right = flags.filter(({ kind }) => kind === plant.kind);
    const [first] = right;
    if (first) counted.raised += 1;
    if (first && plant.isPart) {
      const end = (right.at(-1) ?? first).last + 1;
      errors.push(Math.abs(first.first / clip.fps - PART[0]), Math.abs(end / clip.fps - PART[1]));
    }
    const isNew = ({ kind }: PictureFlag) => kind !== plant.kind && !mine.some((one) => one.kind === kind);
    if (flags.some(isNew)) counted.other += 1;
  }
  const off = median(errors);
  return `| ${plant.name} | ${counted.clips} | ${counted.raised} | ${off === null ? '' : off.toFixed(2)} | ${counted.other} |`;
}

/** @throws MediaToolError when the clip cannot be decoded */
async function flagsOf(clip: Clip, plant: Plant | null, tools: ToolPaths): Promise<PictureFlag[]> {
  const series = createGreySeries(smallSize(clip.width, clip.height));
  const change = plant?.filter(Math.sqrt(clip.width * clip.height));
  for (const picture of await greyPictures(clip.path, tools, change)) series.add(picture);
  const measured = series.finish();
  return detectPictureFlags(measured, detectCuts(measured), clip.fps);
}

const told = (flags: readonly PictureFlag[]): string =>
  flags.map(({ kind, first, last, value }) => `${kind} ${first}-${last} (${value.toFixed(3)})`).join(', ');
