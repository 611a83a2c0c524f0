import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { EACH_PICTURE } from '#server/media/ffmpeg/ffmpeg-names.ts';
import { smallSize, type GreySize } from '#server/media/grey/grey-frame.ts';
import { createGreySeries, type FrameSeries } from '#server/media/grey/grey-series.ts';
import { probe } from '#server/media/probe/probe.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';
import { detectCuts } from '#server/pipeline/analyse/detect-cuts.ts';
import { readForest } from '#server/pipeline/analyse/dropped-frames/detect-hidden-drops-forest.ts';
import { jumpFeatures } from '#server/pipeline/analyse/dropped-frames/detect-hidden-drops-score.ts';
import { judgeableSteps } from '#server/pipeline/analyse/dropped-frames/detect-hidden-drops-step.ts';
import { seededRandom } from '#server/test/seeded-random.ts';
import { BenchInputError, benchTools, mediaFolder, wholeNumber } from './bench-options.ts';
import { growForest, type LabelledRows } from './boosted-trees.ts';
import { greyPictures } from './motion-noise.ts';

const CLIP_SECONDS = 10;
const HOLES = 60;
/** Pictures on each side of a loss that are measured again. */
const SIDE = 12;
/** The busiest blocks change by at least this many grey levels in every step around a moving place. */
const MOVING = 3;
const FOLDS = 6;
/** Weight of the losses of a clip relative to its other steps. */
const LOSS_WEIGHT = 0.3;

interface Row {
  readonly clip: number;
  /** Variant of the clip: as it is, re-encoded, backwards, at half the rate. */
  readonly playing: number;
  readonly frame: number;
  readonly isLoss: boolean;
  /** False where the detector does not consult the forest at all. */
  readonly isAsked: boolean;
  readonly isMoving: boolean;
  readonly features: readonly number[];
}

/**
 * `npm run bench -- hidden-drops [--media DIR] [--seed N] [--leave-out NAME,...] [--out FILE]`: trains the trees that
 * find losses hidden in a constant rate on the clips of a folder. Each clip is used as it is, re-encoded, backwards and
 * at half its rate; losses of 1 to 5 pictures are made in the small grey pictures. Prints what forests find in clips
 * that they were not trained on, at several numbers of false alarms, and writes the forest of all clips as JSON. Clips
 * of varying rate are not used for training, nor those left out because they lost pictures themselves.
 */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      media: { type: 'string' },
      seed: { type: 'string', default: '1' },
      'leave-out': { type: 'string', default: '' },
      out: { type: 'string' },
    },
  });
  const tools = await benchTools();
  const seed = wholeNumber('--seed', values.seed, 0);
  const media = await mediaFolder(values.media);
  if (media === null) throw new BenchInputError('Name a folder of clips by --media.');
  const leftOut = values['leave-out'].split(',').filter(Boolean);
  const names = (await readdir(media)).filter(
    (name) => /\.(mp4|mov|webm|avi|mkv)$/.test(name) && !name.startsWith('odd-'),
  );
  const random = seededRandom(seed);
  const rows: Row[] = [];
  for (const name of names.filter((one) => !leftOut.some((word) => one.includes(word))).sort()) {
    const clip = await measureClip(path.join(media, name), rows.at(-1)?.clip ?? -1, tools, random);
    for (const row of clip) rows.push(row);
    console.log(`${name}: ${clip.length} steps`);
  }
  printScores(rows, random);
  if (values.out !== undefined) {
    await writeFile(values.out, JSON.stringify(growForest(learnable(rows), random), null, 2));
  }
}

/** Rows of one clip; empty when it cannot be read or its rate varies. */
async function measureClip(
  file: string,
  clipBefore: number,
  tools: ToolPaths,
  random: () => number,
): Promise<Row[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'reelmend-bench-'));
  try {
    const stream = (await probe(tools, file, 'mov')).video[0];
    if (!stream?.frameRate) return [];
    const fps = stream.frameRate;
    const size = smallSize(stream.width, stream.height);
    const plain = (await greyPictures(file, tools)).slice(0, Math.round(CLIP_SECONDS * fps));
    const coded = await codedAnew(file, path.join(folder, 'coded.mp4'), tools);
    const half = fps >= 23 ? [coded.filter((_, i) => i % 2 === 0)] : [];
    return [plain, coded, [...plain].reverse(), ...half].flatMap((pictures, playing) =>
      measurePlaying(pictures, size, playing === 3 ? fps / 2 : fps, random).map((row) => ({
        ...row,
        clip: clipBefore + 1,
        playing,
      })),
    );
  } catch (error) {
    console.log(`${path.basename(file)}: ${error instanceof Error ? error.message : 'not readable'}`);
    return [];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function codedAnew(inputPath: string, outputPath: string, tools: ToolPaths): Promise<Uint8Array[]> {
  const encode = `-map 0:v:0 -t ${CLIP_SECONDS} -c:v libx264 -preset medium -crf 26 -pix_fmt yuv420p`;
  await runFfmpeg(
    {
      label: 'code the clip anew',
      inputs: [{ path: inputPath, options: ['-noautorotate'] }],
      outputs: [{ path: outputPath, options: [...encode.split(' '), ...EACH_PICTURE] }],
      expectedDurationMs: null,
    },
    { tools },
  );
  return greyPictures(outputPath, tools);
}

function measurePlaying(
  pictures: readonly Uint8Array[],
  size: GreySize,
  fps: number,
  random: () => number,
): Omit<Row, 'clip' | 'playing'>[] {
  const series = seriesOf(pictures, size);
  const cuts = detectCuts(series);
  const { own, isRise, scaleAt } = jumpFeatures(series, judgeableSteps(series, cuts), fps);
  const moves = series.blockDiff.get(1) ?? [];
  const steps = own.flatMap((features, frame) =>
    features
      ? [{ frame, isLoss: false, isAsked: isRise(frame), isMoving: true, features: scaleAt(frame)(features) }]
      : [],
  );
  const places = pictures
    .map((_, i) => i)
    .filter(
      (i) => i >= SIDE && i + 5 + SIDE < pictures.length && !cuts.some((cut) => Math.abs(cut - i - 3) <= 11),
    )
    .map((place) => ({ place, order: random() }))
    .sort((a, b) => a.order - b.order)
    .slice(0, HOLES);
  const losses = places.flatMap(({ place }) => {
    const behind = place + 1 + Math.floor(5 * random());
    const joined = [...pictures.slice(place - SIDE, place), ...pictures.slice(behind, behind + SIDE)];
    const around = seriesOf(joined, size);
    const there = jumpFeatures(around, judgeableSteps(around, []), fps);
    const features = there.own[SIDE];
    const isMoving = Math.min(...moves.slice(place - 8, place + 16)) >= MOVING;
    const row = { frame: place, isLoss: true, isMoving, isAsked: there.isRise(SIDE) };
    return [{ ...row, features: features ? scaleAt(place)(features) : [] }];
  });
  return [...steps, ...losses];
}

function seriesOf(pictures: readonly Uint8Array[], size: GreySize): FrameSeries {
  const builder = createGreySeries(size);
  for (const picture of pictures) builder.add(picture);
  return builder.finish();
}

/** The rows to train on. Weights fall with the square root of the group's size, so that long clips do not dominate. */
function learnable(rows: readonly Row[]): LabelledRows {
  const used = rows.filter(({ features, isMoving, isLoss }) => features.length > 0 && (isMoving || !isLoss));
  const group = ({ clip, playing, isLoss }: Row) => `${clip}/${playing}/${isLoss}`;
  const sizes = new Map<string, number>();
  for (const row of used) sizes.set(group(row), (sizes.get(group(row)) ?? 0) + 1);
  return {
    features: used.map(({ features }) => features),
    labels: used.map(({ isLoss }) => (isLoss ? 1 : 0)),
    weights: used.map((row) => (row.isLoss ? LOSS_WEIGHT : 1) / Math.sqrt(sizes.get(group(row)) ?? 1)),
  };
}

/** Cross-validates: each forest judges the unchanged clips that it was not trained on. */
function printScores(rows: readonly Row[], random: () => number): void {
  const judged: { row: Row; odds: number }[] = [];
  for (let fold = 0; fold < FOLDS; fold += 1) {
    const forest = readForest(
      growForest(learnable(rows.filter(({ clip }) => clip % FOLDS !== fold)), random),
    );
    for (const row of rows) {
      if (row.clip % FOLDS !== fold || row.playing !== 0) continue;
      judged.push({ row, odds: row.isAsked ? forest(row.features) : -Infinity });
    }
  }
  const moving = judged.filter(({ row }) => row.isLoss && row.isMoving);
  const natural = judged.filter(({ row, odds }) => !row.isLoss && odds > -Infinity).map(({ odds }) => odds);
  natural.sort((a, b) => b - a);
  console.log(`${moving.length} losses at moving places`);
  for (const alarms of [0, 2, 5, 10, 20]) {
    const limit = natural[alarms] ?? -Infinity;
    const recall = moving.filter(({ odds }) => odds > limit).length / Math.max(1, moving.length);
    console.log(`odds ${limit.toFixed(2)}: ${alarms} natural steps above, recall ${recall.toFixed(3)}`);
  }
}
