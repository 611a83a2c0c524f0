import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { NoticedKind } from '#common/noticed.ts';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';
import { probe } from '#server/media/probe/probe.ts';
import { median } from '#server/media/statistics.ts';
import { analysePicture } from '#server/pipeline/analyse/analyse-picture.ts';
import { ACT_CONFIDENCE, type Finding } from '#server/pipeline/analyse/analysis.ts';
import { judgePictures } from '#server/pipeline/analyse/judge-pictures.ts';
import { isMarked, judgeNoticed } from '#server/pipeline/analyse/noticed/judge-noticed.ts';
import { injectHiddenDrops, injectRepeats, type MakeInput } from '#server/test/broken-clips.ts';
import { seededRandom } from '#server/test/seeded-random.ts';
import { BenchInputError, benchTools, mediaFolder, wholeNumber } from './bench-options.ts';
import { collectSources } from './repair-sources.ts';

/** Whoever marks a fault while the clip plays does so up to this much later, ms. */
const LATEST_MS = 700;
/** Median change of the pictures around a place below which nobody would see a fault, grey levels. */
const LEAST_MOTION = 2;
/** Pictures at both ends of a clip, and beside its cuts, in which nothing is planted. */
const MARGIN = 20;
const BESIDE_CUT = 14;
/** Pictures around a place by which its motion is judged. */
const AROUND = 7;

interface Place {
  readonly firstFrame: number;
  readonly lastFrame: number;
}

interface Plant {
  readonly name: string;
  readonly kind: NoticedKind;
  /** @returns the fault in pictures of the new clip; for a loss the pictures on both sides of it */
  readonly plant: (input: MakeInput, frame: number, random: () => number) => Promise<Place | undefined>;
}

const repeats = (history: 'held' | 'inserted'): Plant => ({
  name: `${history} repeats, 2 to 5`,
  kind: 'freeze',
  async plant(input, frame, random) {
    const runs = [{ frame, count: 2 + Math.floor(random() * 4) }];
    return (await injectRepeats({ ...input, history, runs }))[0];
  },
});

const PLANTS: readonly Plant[] = [
  repeats('held'),
  repeats('inserted'),
  {
    name: 'pictures lost at a constant rate, 1 to 4',
    kind: 'jump',
    async plant(input, frame, random) {
      const holes = [{ frame, count: 1 + Math.floor(random() * 4) }];
      const [hole] = await injectHiddenDrops({ ...input, holes });
      return hole && { firstFrame: hole.frameBefore, lastFrame: hole.frameBefore + 1 };
    },
  },
];

interface Counts {
  clips: number;
  /** By the repair, without a mark. */
  found: number;
  /** Of the others, by a mark: the fault, something else near it, nothing. */
  named: number;
  else: number;
  nothing: number;
  /** Marks in the clip as it was at which something would have been tried. */
  unharmed: number;
}

/**
 * `npm run bench -- noticed [--media DIR] [--clips N] [--seed N]`: plants one fault in a moving place of each clip of a
 * folder, or of made clips, and marks it up to 0.7 s late, as somebody does who watches the clip. Counts the faults that
 * the repair finds without a mark, and of the others those that the mark names. The same mark in the clip without the
 * fault counts what a mark alone makes of nothing.
 */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      media: { type: 'string' },
      clips: { type: 'string', default: '1000' },
      seed: { type: 'string', default: '1' },
    },
  });
  const tools = await benchTools();
  const media = await mediaFolder(values.media);
  const folder = await mkdtemp(path.join(tmpdir(), 'bench-noticed-'));
  try {
    const sources = await collectSources(media, wholeNumber('--clips', values.clips, 1), folder, tools);
    const bases = sources.flatMap(({ base }) => ('path' in base ? [base.path] : []));
    if (bases.length === 0) throw new BenchInputError('The folder has no clip that can be planted in.');
    console.log(
      '| planted | clips | found without a mark | of the others named | something else | nothing | unharmed, tried |',
    );
    console.log('|---|---|---|---|---|---|---|');
    for (const plant of PLANTS) {
      const random = seededRandom(wholeNumber('--seed', values.seed, 0));
      const counts: Counts = { clips: 0, found: 0, named: 0, else: 0, nothing: 0, unharmed: 0 };
      for (const base of bases) await count(plant, { base, folder, tools, random }, counts);
      const { clips, found, named, nothing, unharmed } = counts;
      const others = clips - found;
      console.log(
        `| ${plant.name} | ${clips} | ${share(found, clips)} | ${share(named, others)} | ${share(counts.else, others)} | ${share(nothing, others)} | ${share(unharmed, clips)} |`,
      );
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const share = (part: number, whole: number): string => `${part} of ${whole}`;

interface Trial {
  readonly base: string;
  readonly folder: string;
  readonly tools: ToolPaths;
  readonly random: () => number;
}

async function count({ kind, plant }: Plant, trial: Trial, counts: Counts): Promise<void> {
  const { base, folder, tools, random } = trial;
  const info = await probe(tools, base, 'mov');
  const fps = info.video[0]?.frameRate ?? 30;
  const places = await movingPlaces(base, tools);
  const frame = places[Math.floor(random() * places.length)];
  if (frame === undefined) return;
  const outputPath = path.join(folder, 'planted.mp4');
  const place = await plant({ tools, inputPath: base, outputPath }, frame, random);
  if (!place) return;
  const atMs = Math.round((place.lastFrame * 1000) / fps + random() * LATEST_MS);
  counts.clips += 1;
  if ((await look(base, tools, kind, atMs)).marked.length > 0) counts.unharmed += 1;
  const { plain, marked } = await look(outputPath, tools, kind, atMs);
  const isThere = (finding: Finding) => meets(finding, place);
  if (plain.some(isThere)) counts.found += 1;
  else if (marked.some(isThere)) counts.named += 1;
  else if (marked.length > 0) counts.else += 1;
  else counts.nothing += 1;
}

/** What the detectors find by themselves, and what a mark makes of the clip. */
async function look(inputPath: string, tools: ToolPaths, kind: NoticedKind, atMs: number) {
  const info = await probe(tools, inputPath, 'mov');
  let plain: readonly Finding[] = [];
  const { findings } = await analysePicture({
    inputPath,
    info,
    tools,
    judge(measured, silenceMs) {
      plain = judgePictures(measured, silenceMs).findings;
      return judgeNoticed(measured, silenceMs, [{ kind, atMs }]);
    },
  });
  return {
    plain: plain.filter(({ confidence }) => confidence >= ACT_CONFIDENCE),
    marked: findings.filter(isMarked),
  };
}

function meets({ kind, firstFrame, lastFrame }: Finding, place: Place): boolean {
  if (kind !== 'stuttered_cut' && kind !== 'dropped_frames') return false;
  return (firstFrame ?? Infinity) <= place.lastFrame + 1 && (lastFrame ?? -1) >= place.firstFrame - 1;
}

async function movingPlaces(inputPath: string, tools: ToolPaths): Promise<number[]> {
  const info = await probe(tools, inputPath, 'mov');
  let moves: readonly number[] = [];
  const { sceneCuts } = await analysePicture({
    inputPath,
    info,
    tools,
    judge(measured, silenceMs) {
      moves = measured.series.blockDiff.get(1) ?? [];
      return judgePictures(measured, silenceMs);
    },
  });
  const isFit = (at: number) =>
    median(moves.slice(at - AROUND, at + AROUND + 1)) >= LEAST_MOTION &&
    sceneCuts.every((cut) => Math.abs(cut - at) >= BESIDE_CUT);
  return moves.flatMap((_, at) => (at >= MARGIN && at < moves.length - MARGIN && isFit(at) ? [at] : []));
}
