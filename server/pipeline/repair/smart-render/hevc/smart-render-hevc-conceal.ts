import path from 'node:path';
import { joinSample } from '#server/media/h264/nal.ts';
import { createHevcSliceChecker } from '#server/media/hevc/check-hevc-slices.ts';
import { openDamaged } from '#server/media/hevc/conceal-slice.ts';
import type { TimedPicture } from '../../conceal-picture/conceal-picture-guess.ts';
import { motionToConceal } from '../../conceal-picture/conceal-picture-motion.ts';
import { rawFormat, type RawFormat } from '../../rebuild-pictures/rebuild-pictures-raw.ts';
import type { EncodedPicture } from '../smart-render-encoder.ts';
import { picturesAround, placesAround, type PlacesAround } from '../smart-render-surroundings.ts';
import { edgesOf, type StayingInput } from './smart-render-hevc-staying.ts';
import type { GroupOrders } from './smart-render-hevc-stand-in-places.ts';
import type { HevcStandIn, StandInGroup } from './smart-render-hevc-stand-in-plan.ts';
import { decodePlaces, withWarmUp } from './smart-render-hevc-trial.ts';

export interface ConcealGroupInput extends StayingInput {
  readonly pictureBytes: number;
  readonly group: StandInGroup;
  readonly orders: GroupOrders;
  /** Keeps the bytes of a sample. */
  readonly store: (bytes: Buffer) => Promise<EncodedPicture>;
}

/** Pictures in the places of damaged ones. */
export interface ConcealedGroup {
  readonly samples: readonly number[];
  /** In the order of the samples. */
  readonly pictures: readonly EncodedPicture[];
}

/** Damaged pictures of a group at most that are concealed: each asks for a decode of what stands in front of it. */
const MOST_CONCEALED = 6;

/**
 * Conceals the damaged pictures of a group that are wanted as they decode, so that those whose own data are whole decode from better
 * ones. Of an HEVC picture ffmpeg leaves in the place of what is lost what its memory held. Here what can be read of it keeps its data, and
 * behind that stand blocks moved as `motionToConceal` guesses: as an intra picture, without motion, it would lead all later ones astray, whose
 * vectors are told as differences to its own (of 12 torn clips 4 came out worse by 2 to 7 dB, none better).
 * @returns one for each guess of the motion, the likeliest first; none where there are other new pictures, or one that cannot be concealed
 * @throws MediaToolError when ffmpeg fails or the run is cancelled; HevcError or H264Error where a picture is coded in an unusual way
 */
export async function concealGroup(input: ConcealGroupInput): Promise<ConcealedGroup[]> {
  const { order, group, raw } = input;
  const format = rawFormat(raw.pixelFormat, raw.width, raw.height);
  const standIns = group.candidates.flatMap((candidate) => candidate.standIns);
  const isKept = ({ sample, pixels }: HevcStandIn) =>
    pixels.kind === 'original' && pixels.frame === order.placeOf[sample];
  if (!format || standIns.length > MOST_CONCEALED || !standIns.every(isKept)) return [];
  if (group.candidates.every(({ staying }) => staying.length === 0)) return [];
  const [first, ...others] = standIns.map(({ sample }) => sample).sort((a, b) => a - b);
  if (first === undefined) return [];
  const made: ConcealedGroup[] = [];
  const guessed = await guessSample(input, first, { coded: new Map(), format });
  for (const [guess, bytes] of (guessed ?? []).entries()) {
    const coded = new Map([[first, await input.store(bytes)]]);
    for (const sample of others) {
      const next = (await guessSample(input, sample, { coded, format }))?.[guess];
      if (next) coded.set(sample, await input.store(next));
    }
    if (coded.size === standIns.length)
      made.push({ samples: [...coded.keys()], pictures: [...coded.values()] });
  }
  return made;
}

interface SoFar {
  readonly coded: ReadonlyMap<number, EncodedPicture>;
  readonly format: RawFormat;
}

/** The bytes of a sample with what is lost of it concealed, by guess; null where that is not known, or nothing to conceal it from. */
async function guessSample(
  input: ConcealGroupInput,
  sample: number,
  { coded, format }: SoFar,
): Promise<Buffer[] | null> {
  const { source, order, group, orders } = input;
  const { parameterSets, lengthSize } = source;
  const units = await source.units(sample);
  const damaged = createHevcSliceChecker(parameterSets).findLoss(units);
  const opened = damaged && openDamaged(units, damaged, parameterSets);
  const delta = opened?.firstReference ?? null;
  const own = orders.exchanged.get(sample);
  if (!opened || delta === null || own === undefined) return null;
  const known = [...orders.kept].map(([other, { order: count }]) => [other, count] as const);
  const [reference] = [...known, ...orders.exchanged].find(([, count]) => count === own + delta) ?? [];
  if (reference === undefined) return null;
  const shown = await decodeAround(input, sample, { coded, reference: order.placeOf[reference] ?? -1 });
  const around = shown && picturesAround(shown.pictures, shown.places, format);
  if (!around) return null;
  const staying = group.candidates.flatMap((candidate) => candidate.staying);
  const exchanged = new Set(group.candidates.flatMap(({ standIns }) => standIns.map((one) => one.sample)));
  const part = { from: group.start.sample, end: Math.min(source.samples.length, group.endSample + 1) };
  const isProvenLater = edgesOf(order, { part, staying, exchanged }).length > 0;
  const concealed = motionToConceal({ ...around, lost: damaged, isProvenLater }, format);
  if (!concealed) return null;
  // Where nothing behind tells the guesses apart the likeliest is taken.
  const motions = isProvenLater ? concealed.motions : concealed.motions.slice(0, 1);
  return opened.conceal(concealed.lost, motions).map((made) => joinSample(made, lengthSize));
}

interface Shown {
  readonly places: PlacesAround;
  readonly pictures: ReadonlyMap<number, TimedPicture>;
}

/** Decodes the pictures around a damaged one; null where one is not in the group. */
async function decodeAround(
  input: ConcealGroupInput,
  sample: number,
  { coded, reference }: Pick<SoFar, 'coded'> & { readonly reference: number },
): Promise<Shown | null> {
  const { source, order, group, raw, workDir } = input;
  const whole = withWarmUp(source, { from: group.start.sample, end: group.endSample });
  const places = placesAround(order, whole, sample, reference);
  if (!places) return null;
  const wanted = new Set(Object.values(places));
  const end = 1 + Math.max(...[...wanted].map((place) => order.samples[place] ?? 0));
  const pictures = await decodePlaces({
    ...input,
    label: 'decode pictures around a damaged one',
    part: { ...whole, end },
    coded,
    entry: source.entry.bytes,
    outputPath: path.join(workDir, 'smart-render-conceal-trial.mp4'),
    wanted,
    pixelFormat: raw.pixelFormat,
  });
  return { places, pictures };
}
