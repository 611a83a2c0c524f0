import path from 'node:path';
import type { DisplayOrder } from '#server/media/mp4/display-order.ts';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';
import type { EncodedPicture, RawPictures } from '../smart-render-encoder.ts';
import { movedErrors } from '../../conceal-picture/conceal-picture-errors.ts';
import { createSearchKernel } from '../../rebuild-pictures/rebuild-pictures-field.ts';
import { sampled, squareError } from '../exchange/smart-render-exchange-likeness.ts';
import type { HevcSource } from './smart-render-hevc-source.ts';
import { samplesOfPart, type Part } from '../smart-render-part.ts';
import { decodePlaces, withWarmUp } from './smart-render-hevc-trial.ts';

export interface StayingInput {
  readonly source: HevcSource;
  readonly order: DisplayOrder;
  readonly workDir: string;
  readonly raw: RawPictures;
  readonly tools: ToolPaths;
  readonly signal?: AbortSignal;
  /** Called each time a group has been decoded to evaluate a trial. */
  readonly onTrial?: () => void;
}

export interface StayingTrial {
  /** From the key picture that the group is decoded from. */
  readonly part: Part;
  /** Exchanged pictures, by sample. */
  readonly coded: ReadonlyMap<number, EncodedPicture>;
  /** Sample description with their parameter sets. */
  readonly entry: Buffer;
  /** Samples that keep their data and refer to exchanged ones. */
  readonly staying: readonly number[];
}

/** Ratio of errors up to which a difference may be chance. */
const MOST_SHARE = 1.05;

/** Difference between two grey pictures, mean squared error. */
type Measure = (one: Uint8Array, other: Uint8Array, size: Pick<RawPictures, 'width' | 'height'>) => number;

const standing: Measure = (one, other) => squareError(sampled(one), sampled(other));

/** Compared along the motion between them: what remains is content that one of them does not have. */
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
 * Whether pictures that keep their data differ no more from their undamaged neighbours when their references are
 * repaired than when they are damaged. Both differ from the neighbours by the motion between, and each by its own
 * error.
 * @returns also true if none of them has an undamaged neighbour
 * @throws MediaToolError when ffmpeg fails or the run is cancelled
 */
export async function isNoFartherMended(input: StayingInput, trial: StayingTrial): Promise<boolean> {
  const exchanged = new Set(trial.coded.keys());
  const mended = await errorBeside(input, trial, exchanged);
  if (mended === 0) return true;
  const torn = await errorBeside(input, asTorn(input, trial), exchanged);
  return mended !== null && (torn === null || mended <= MOST_SHARE * torn);
}

/** Mean square error between two pictures that means nothing: noise and rounding. */
const FLOOR = 2;

/**
 * The geometric mean of errors, to which a cut or wild motion adds no more than a still place; Infinity if there are
 * none.
 */
function shareOf(errors: readonly number[] | null): number {
  if (!errors) return Infinity;
  return Math.exp(errors.reduce((sum, error) => sum + Math.log(error + FLOOR), 0) / errors.length);
}

/** Most pairs of pictures that evaluate a trial; each needs a motion search in every trial. */
const MOST_PAIRS = 8;

/**
 * Chooses the trial in which the pictures that keep their data follow each other best along the motion. Content moved
 * by vectors that were made for other pixels is not found in the picture before. Intact neighbours alone tell less, and
 * those before mislead if B pictures lie between, which show errors least.
 * @param trials all of the same part, likeliest first
 * @param mustGain whether the unchanged clip must not be clearly better
 * @returns its index; null if the unchanged clip is better, or none decodes
 */
export async function nearestMended(
  input: StayingInput,
  trials: readonly StayingTrial[],
  mustGain: boolean,
): Promise<number | null> {
  const [first] = trials;
  if (!first) return null;
  const exchanged = new Set(first.coded.keys());
  const all = pairsOf(input.order, { ...first, exchanged });
  const start = Math.min(...[...exchanged].map((sample) => input.order.placeOf[sample] ?? 0));
  const behind = all.filter((place) => place > start);
  const pairs = evenly(behind.length > 0 ? behind : all, MOST_PAIRS);
  if (pairs.length === 0) return 0;
  const errors: number[] = [];
  for (const trial of mustGain ? [...trials, asTorn(input, first)] : trials) {
    errors.push(shareOf(await errorsBetween(input, trial, pairs, moved)));
  }
  const torn = mustGain ? (errors.pop() ?? Infinity) : Infinity;
  const least = Math.min(...errors);
  return least === Infinity || least > MOST_SHARE * torn ? null : errors.indexOf(least);
}

const asTorn = ({ source }: StayingInput, trial: StayingTrial): StayingTrial => ({
  ...trial,
  coded: new Map(),
  entry: source.entry.bytes,
});

/** Sum of the differences between pictures that keep their data and their neighbours; null if one does not decode. */
async function errorBeside(
  input: StayingInput,
  trial: StayingTrial,
  exchanged: ReadonlySet<number>,
): Promise<number | null> {
  const edges = edgesOf(input.order, { ...trial, exchanged });
  const errors = await errorsBetween(input, trial, edges, standing);
  return errors && errors.reduce((sum, error) => sum + error, 0);
}

/** Differences between pictures and those shown next; null if one does not decode. */
async function errorsBetween(
  input: StayingInput,
  trial: StayingTrial,
  places: readonly number[],
  measure: Measure,
): Promise<number[] | null> {
  if (places.length === 0) return [];
  const { source, raw, workDir } = input;
  const pictures = await decodePlaces({
    ...input,
    label: 'decode pictures that keep their data',
    part: withWarmUp(source, trial.part),
    coded: trial.coded,
    entry: trial.entry,
    outputPath: path.join(workDir, 'smart-render-staying-trial.mp4'),
    wanted: new Set(places.flatMap((place) => [place, place + 1])),
    pixelFormat: 'gray',
    pictureBytes: raw.width * raw.height,
  });
  input.onTrial?.();
  const errors: number[] = [];
  for (const place of places) {
    const [left, right] = [pictures.get(place), pictures.get(place + 1)];
    if (!left || !right) return null;
    errors.push(measure(left.pixels, right.pixels, raw));
  }
  return errors;
}

interface Touched extends Pick<StayingTrial, 'part' | 'staying'> {
  readonly exchanged: ReadonlySet<number>;
}

/** Places of undamaged pictures whose next one in display order is one of those that stay, or vice versa. */
export function edgesOf(order: DisplayOrder, touched: Touched): number[] {
  const stays = new Set(touched.staying);
  return pairsOf(order, touched).filter(
    (place) => !stays.has(order.samples[place] ?? -1) || !stays.has(order.samples[place + 1] ?? -1),
  );
}

/** Places of pictures that stay, or whose next one in display order does; none of the two is exchanged. */
function pairsOf(order: DisplayOrder, { part, exchanged, staying }: Touched): number[] {
  const stays = new Set(staying);
  const inside = new Set(samplesOfPart(part));
  return order.samples.flatMap((sample, place) => {
    const next = order.samples[place + 1];
    if (next === undefined || !inside.has(sample) || !inside.has(next)) return [];
    if (exchanged.has(sample) || exchanged.has(next)) return [];
    return stays.has(sample) || stays.has(next) ? [place] : [];
  });
}

/** Some elements of a list at even distances, including the first and the last. */
const evenly = (list: readonly number[], most: number): number[] =>
  list.length <= most
    ? [...list]
    : Array.from({ length: most }, (_, at) => list[Math.round((at * (list.length - 1)) / (most - 1))] ?? 0);
