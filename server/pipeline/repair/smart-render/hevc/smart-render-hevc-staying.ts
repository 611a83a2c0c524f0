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
  /** Called each time a group has been decoded to see what a trial makes of it. */
  readonly onTrial?: () => void;
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
 * @param mustGain whether they may not be nearer in the clip as it is
 * @returns its place; null where they are, or do not decode
 */
export async function nearestMended(
  input: StayingInput,
  trials: readonly StayingTrial[],
  mustGain: boolean,
): Promise<number | null> {
  const [first] = trials;
  if (!first) return null;
  const exchanged = new Set(first.coded.keys());
  if (edgesOf(input.order, { ...first, exchanged }).length === 0) return 0;
  const errors: number[] = [];
  for (const trial of mustGain ? [...trials, asTorn(input, first)] : trials) {
    errors.push((await errorBeside(input, trial, exchanged, moved)) ?? Infinity);
  }
  const torn = mustGain ? (errors.pop() ?? Infinity) : Infinity;
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
  const { source, order, raw, workDir } = input;
  const edges = edgesOf(order, { ...trial, exchanged });
  if (edges.length === 0) return 0;
  const pictures = await decodePlaces({
    ...input,
    label: 'decode pictures that keep their data',
    part: withWarmUp(source, trial.part),
    coded: trial.coded,
    entry: trial.entry,
    outputPath: path.join(workDir, 'smart-render-staying-trial.mp4'),
    wanted: new Set(edges.flatMap((place) => [place, place + 1])),
    pixelFormat: 'gray',
    pictureBytes: raw.width * raw.height,
  });
  input.onTrial?.();
  let sum = 0;
  for (const place of edges) {
    const [left, right] = [pictures.get(place), pictures.get(place + 1)];
    if (!left || !right) return null;
    sum += measure(left.pixels, right.pixels, raw);
  }
  return sum;
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
