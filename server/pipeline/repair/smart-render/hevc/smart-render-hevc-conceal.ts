import path from 'node:path';
import { everyPicture } from '#server/media/ffmpeg/every-picture.ts';
import { EACH_PICTURE } from '#server/media/ffmpeg/ffmpeg-names.ts';
import { ONCE } from '#server/media/ffmpeg/ffmpeg-plan.ts';
import { joinSample } from '#server/media/h264/nal.ts';
import { createHevcSliceChecker } from '#server/media/hevc/check-hevc-slices.ts';
import { concealUnits, firstReference } from '#server/media/hevc/conceal-slice.ts';
import { HEVC_WARM_UP } from '#server/media/hevc/restart.ts';
import type { TimedPicture } from '../../conceal-picture/conceal-picture-guess.ts';
import { motionToConceal } from '../../conceal-picture/conceal-picture-motion.ts';
import { rawFormat, type RawFormat } from '../../rebuild-pictures/rebuild-pictures-raw.ts';
import { streamPictures } from '../smart-render-decode.ts';
import type { EncodedPicture } from '../smart-render-encoder.ts';
import { writeTrialPart, type Part } from '../smart-render-part.ts';
import { picturesAround, placesAround, type PlacesAround } from '../smart-render-surroundings.ts';
import { edgesOf, type StayingInput } from './smart-render-hevc-staying.ts';
import type { GroupOrders } from './smart-render-hevc-stand-in-places.ts';
import type { HevcStandIn, StandInGroup } from './smart-render-hevc-stand-in-plan.ts';

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
  const delta = damaged && firstReference(units, damaged, parameterSets);
  const own = orders.exchanged.get(sample);
  if (!damaged || delta === null || own === undefined) return null;
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
  return motions.map((motionAt) => {
    const made = concealUnits(units, damaged, { parameterSets, lost: concealed.lost, motionAt });
    return joinSample(made, lengthSize);
  });
}

interface Shown {
  readonly places: PlacesAround;
  readonly pictures: ReadonlyMap<number, TimedPicture>;
}

const ALL: readonly string[] = ['-map', '0:v:0', ...EACH_PICTURE, '-f', 'rawvideo'];
/** Tells the time of each picture. */
const SHOWN_ONCE = `showinfo=checksum=0,${ONCE}`;

/** Decodes the pictures around a damaged one, by one thread so that damage looks alike every time; null where one is not in the group. */
async function decodeAround(
  input: ConcealGroupInput,
  sample: number,
  { coded, reference }: Pick<SoFar, 'coded'> & { readonly reference: number },
): Promise<Shown | null> {
  const { source, order, group, raw, workDir } = input;
  const from = source.samples.findLastIndex(
    ({ sync }, at) => sync && at <= group.start.sample - HEVC_WARM_UP,
  );
  const whole: Part = { from: Math.max(0, from), end: group.endSample };
  const places = placesAround(order, whole, sample, reference);
  if (!places) return null;
  const wanted = new Set(Object.values(places));
  const end = 1 + Math.max(...[...wanted].map((place) => order.samples[place] ?? 0));
  const outputPath = path.join(workDir, 'smart-render-conceal-trial.mp4');
  const placeAt = await writeTrialPart({
    ...input,
    part: { ...whole, end },
    coded,
    entry: source.entry.bytes,
    outputPath,
  });
  const ticks = [...placeAt].flatMap(([pts, place]) => (wanted.has(place) ? [pts] : []));
  const chosen = `select='not(lt(pts,${Math.min(...ticks)}))'`;
  const plan = {
    label: 'decode pictures around a damaged one',
    logLevel: 'info',
    globalOptions: ['-copyts'],
    inputs: [
      {
        path: outputPath,
        format: 'mov',
        options: ['-threads', '1', '-noautorotate', ...everyPicture('hevc')],
      },
    ],
    outputs: [
      { path: 'pipe:1', options: [...ALL, '-vf', `${chosen},${SHOWN_ONCE}`, '-pix_fmt', raw.pixelFormat] },
    ],
    expectedDurationMs: null,
  };
  const pictures = new Map<number, TimedPicture>();
  for await (const { pts, pixels } of streamPictures(plan, input)) {
    const place = pts === null ? undefined : placeAt.get(pts);
    if (pts !== null && place !== undefined && wanted.has(place)) pictures.set(place, { pixels, ticks: pts });
  }
  return { places, pictures };
}
