import path from 'node:path';
import { everyPicture } from '#server/media/ffmpeg/every-picture.ts';
import { HEVC_WARM_UP } from '#server/media/hevc/restart.ts';
import type { DisplayOrder } from '#server/media/mp4/display-order.ts';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';
import { EVERY_PICTURE_ONCE, streamPictures } from '../smart-render-decode.ts';
import type { EncodedPicture, RawPictures } from '../smart-render-encoder.ts';
import { movedErrors } from '../../conceal-picture/conceal-picture-errors.ts';
import { createSearchKernel } from '../../rebuild-pictures/rebuild-pictures-field.ts';
import { sampled, squareError } from '../exchange/smart-render-exchange-likeness.ts';
import type { HevcSource } from './smart-render-hevc-source.ts';
import { samplesOfPart, writeTrialPart, type Part } from '../smart-render-part.ts';

export interface StayingInput {
  readonly source: HevcSource;
  readonly order: DisplayOrder;
  readonly workDir: string;
  readonly raw: RawPictures;
  readonly tools: ToolPaths;
  readonly signal?: AbortSignal;
}

export interface StayingTrial {
  /** From the key picture that the group is decoded from. */
  readonly part: Part;
  /** Exchanged pictures, by sample. */
  readonly coded: ReadonlyMap<number, EncodedPicture>;
  /** Sample description that names their parameter sets. */
  readonly entry: Buffer;
  /** Samples that keep their data and refer to exchanged ones. */
  readonly staying: readonly number[];
}

/** So that damage looks as it does in one decode of the clip. */
const ONE_THREAD: readonly string[] = ['-threads', '1', '-noautorotate', ...everyPicture('hevc')];

/** How much more of an error, as a share, may be chance. */
const MOST_SHARE = 1.05;

/** What two grey pictures differ by, mean squared error. */
type Measure = (one: Uint8Array, other: Uint8Array, size: Pick<RawPictures, 'width' | 'height'>) => number;

const standing: Measure = (one, other) => squareError(sampled(one), sampled(other));

/** Along the motion between them: what stays is what one of them holds nowhere. */
const moved: Measure = (one, other, { width, height }) => {
  const [from, to] = [one, other].map((samples) => ({ width, height, samples }));
  if (!from || !to) return 0;
  const kernel = createSearchKernel(to);
  return movedErrors(from, to, height, Math.max(width, height), kernel).reduce(
    (sum, error) => sum + error,
    0,
  );
};

/**
 * Whether pictures that keep their data differ no more from the undamaged ones right beside them when what they refer to is mended
 * than when it is damaged: both differ from those by the motion between, and each by an error of its own.
 * @returns true too where no undamaged picture stands beside one of them
 * @throws MediaToolError when ffmpeg fails or the run is cancelled
 */
export async function isNoFartherMended(input: StayingInput, trial: StayingTrial): Promise<boolean> {
  const exchanged = new Set(trial.coded.keys());
  const mended = await errorBeside(input, trial, exchanged, standing);
  if (mended === 0) return true;
  const torn = await errorBeside(input, asTorn(input, trial), exchanged, standing);
  return mended !== null && (torn === null || mended <= MOST_SHARE * torn);
}

/** By so much of its error the likeliest trial must be outdone. */
const LEAD = 0.87;

/**
 * Which of some trials of a group leaves the pictures that keep their data nearest to the undamaged ones right beside them, along the
 * motion: the first, unless another is clearly nearer.
 * @param trials all of the same part, the likeliest first
 * @returns its place; null where they are nearer in the clip as it is, or do not decode
 */
export async function nearestMended(
  input: StayingInput,
  trials: readonly StayingTrial[],
): Promise<number | null> {
  const [first] = trials;
  if (!first) return null;
  const exchanged = new Set(first.coded.keys());
  if (edgesOf(input.order, { ...first, exchanged }).length === 0) return 0;
  const errors: number[] = [];
  for (const trial of [...trials, asTorn(input, first)]) {
    errors.push((await errorBeside(input, trial, exchanged, moved)) ?? Infinity);
  }
  const torn = errors.pop() ?? Infinity;
  const least = Math.min(...errors);
  const [likeliest = Infinity] = errors;
  const best = LEAD * likeliest <= least ? 0 : errors.indexOf(least);
  return (errors[best] ?? Infinity) > torn || least === Infinity ? null : best;
}

const asTorn = ({ source }: StayingInput, trial: StayingTrial): StayingTrial => ({
  ...trial,
  coded: new Map(),
  entry: source.entry.bytes,
});

/** The sum of what pictures that keep their data differ by from those right beside them; null where one does not decode. */
async function errorBeside(
  input: StayingInput,
  trial: StayingTrial,
  exchanged: ReadonlySet<number>,
  measure: Measure,
): Promise<number | null> {
  const { source, order } = input;
  const warm = source.samples.findLastIndex(({ sync }, at) => sync && at <= trial.part.from - HEVC_WARM_UP);
  const part = { ...trial.part, from: Math.max(0, warm) };
  const edges = edgesOf(order, { ...trial, exchanged });
  return edges.length === 0 ? 0 : errorAt(input, part, trial.coded, trial.entry, edges, measure);
}

/** Places of undamaged pictures whose next one in the order of display is one of those that stay, or the other way round. */
export function edgesOf(
  order: DisplayOrder,
  {
    part,
    exchanged,
    staying,
  }: Pick<StayingTrial, 'part' | 'staying'> & { readonly exchanged: ReadonlySet<number> },
): number[] {
  const stays = new Set(staying);
  const isWhole = (sample: number) => !stays.has(sample) && !exchanged.has(sample);
  const inside = new Set(samplesOfPart(part));
  return order.samples.flatMap((sample, place) => {
    const next = order.samples[place + 1];
    if (next === undefined || !inside.has(sample) || !inside.has(next)) return [];
    const isEdge = (stays.has(sample) && isWhole(next)) || (stays.has(next) && isWhole(sample));
    return isEdge ? [place] : [];
  });
}

/** Sum of the mean square errors between the pictures at places and the next ones; null where one is missing. */
async function errorAt(
  input: StayingInput,
  part: Part,
  coded: ReadonlyMap<number, EncodedPicture>,
  entry: Buffer,
  edges: readonly number[],
  measure: Measure,
): Promise<number | null> {
  const { raw } = input;
  const outputPath = path.join(input.workDir, 'smart-render-staying-trial.mp4');
  const placeAt = await writeTrialPart({ ...input, part, coded, entry, outputPath });
  const wanted = new Set(edges.flatMap((place) => [place, place + 1]));
  const seen = new Map<number, Uint8Array>();
  const plan = {
    label: 'decode pictures that keep their data',
    logLevel: 'info',
    globalOptions: ['-copyts'],
    inputs: [{ path: outputPath, format: 'mov', options: ONE_THREAD }],
    outputs: [{ path: 'pipe:1', options: ['-map', '0:v:0', ...EVERY_PICTURE_ONCE, '-pix_fmt', 'gray'] }],
    expectedDurationMs: null,
  };
  for await (const { pts, pixels } of streamPictures(plan, {
    ...input,
    pictureBytes: raw.width * raw.height,
  })) {
    const place = pts === null ? undefined : placeAt.get(pts);
    if (place !== undefined && wanted.has(place)) seen.set(place, pixels);
  }
  let sum = 0;
  for (const place of edges) {
    const [left, right] = [seen.get(place), seen.get(place + 1)];
    if (!left || !right) return null;
    sum += measure(left, right, raw);
  }
  return sum;
}
