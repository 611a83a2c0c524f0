import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import type { IntraPlace } from '#server/media/hevc/intra-slice.ts';
import { HEVC_WARM_UP } from '#server/media/hevc/restart.ts';
import { writeFully } from '#server/media/mp4/file-bytes.ts';
import type { ChangedSpan, PictureEdit } from '../../picture-edit.ts';
import { spoolFrom, type EncodedPicture } from '../smart-render-encoder.ts';
import { concealGroup } from './smart-render-hevc-conceal.ts';
import { entryWithSets } from './smart-render-hevc-entry.ts';
import { ridersOrNear } from './smart-render-hevc-riders.ts';
import { carriesParameterSets, type HevcSource } from './smart-render-hevc-source.ts';
import {
  isNoFartherMended,
  nearestMended,
  type StayingInput,
  type StayingTrial,
} from './smart-render-hevc-staying.ts';
import { encodeIntra, intraTarget, type IntraTarget } from './smart-render-hevc-stand-in-encode.ts';
import {
  type GroupOrders,
  placeStandIns,
  readGroupOrders,
  stillReferred,
} from './smart-render-hevc-stand-in-places.ts';
import {
  exchangedWhole,
  findHevcCandidates,
  isCovered,
  isGoodReference,
  partAtCleanStarts,
  partByKind,
  toGroups,
  type HevcCandidate,
  type StandInGroup,
} from './smart-render-hevc-stand-in-plan.ts';
import { isUnfit, unlessUnfit } from '../../unfit.ts';
import { hashClip } from '../smart-render-hashes.ts';
import { createGroupDecoder } from '../smart-render-originals.ts';
import { samplesOfPart, writeTrialPart, type Part } from '../smart-render-part.ts';
import { openPixels } from '../smart-render-pixels.ts';
import { isVacant } from '../smart-render-source.ts';
import { planSegments, type Cut, type SegmentPlan } from '../smart-render-plan.ts';

export interface HevcStandInsInput extends StayingInput {
  readonly cuts: readonly Cut[];
  readonly edit: PictureEdit;
  /** Places of damaged pictures that are wanted as the decoder conceals them. */
  readonly damaged: ReadonlySet<number>;
  readonly pictureBytes: number;
  readonly threads: number;
  /** Coded pictures are appended here from `position` on. */
  readonly spool: FileHandle;
  readonly position: number;
}

/** Pictures that were exchanged alone, with all surrounding samples unchanged. */
interface MadeGroup {
  readonly spans: readonly ChangedSpan[];
  /** By sample of the original, in the order of `pictures`. */
  readonly samples: readonly number[];
  /** Samples that keep their data but may look different, because they refer to exchanged ones. */
  readonly staying: readonly number[];
  readonly pictures: readonly EncodedPicture[];
  /** Their picture parameter set; null if there are none. */
  readonly pps: Buffer | null;
  /** Places of originals that never came out of the decoder. */
  readonly held: readonly number[];
}

export interface HevcStandIns extends Omit<MadeGroup, 'spans'> {
  /** Stretches that are encoded again as well. */
  readonly plan: SegmentPlan;
  /** Where the spool continues. */
  readonly position: number;
}

/**
 * Exchanges damaged pictures for intra pictures of the clip's own sequence, so that all other samples of their group
 * keep their bytes, and plans stretches for all other changes. No picture that stays may refer to an exchanged one.
 * Each group is tried. If the decoder complains, or shows any other picture differently, these go to the stretches step
 * by step: pictures that kept their data but refer to exchanged ones (they may be exchanged instead), then candidates
 * that others may refer to, then the whole group.
 * @throws MediaToolError when ffmpeg fails or the run is cancelled
 */
export async function makeHevcStandIns(input: HevcStandInsInput): Promise<HevcStandIns> {
  const { source, order, cuts } = input;
  const planning = { samples: source.samples, order, cuts, offsetTicks: source.shownEdit.offsetTicks };
  const edit = partAtCleanStarts(order, input.edit);
  const target = unlessUnfit(() => intraTarget(source));
  let candidates = target ? await findHevcCandidates(source, { ...planning, edit }) : [];
  let made: MadeGroup[] = [];
  let position = input.position;
  const leave = (ones: readonly HevcCandidate[], instead: readonly HevcCandidate[] = []) => {
    candidates = candidates.flatMap((candidate) => {
      return ones.includes(candidate) ? instead.filter(({ span }) => span === candidate.span) : [candidate];
    });
    made = made.filter(({ spans }) => spans.every((span) => candidates.some((one) => one.span === span)));
  };
  for (;;) {
    const alone = new Set(candidates.map(({ span }) => span));
    const plan = planSegments({ ...planning, edit: edit.filter((span) => !alone.has(span)) });
    const segments = plan.ok ? plan.segments : [];
    const covered = plan.ok ? candidates.filter((candidate) => isCovered(candidate, segments)) : candidates;
    if (covered.length > 0) {
      leave(covered);
      continue;
    }
    const done = new Set(made.flatMap(({ spans }) => spans));
    const open = candidates.filter(({ span }) => !done.has(span));
    const [group] = toGroups(source, order, cuts, open, segments);
    if (!group || !target) return { ...gather(made), plan, position };
    const tried = await tryGroup({ ...input, position }, target, group);
    if (tried.made) {
      made.push(tried.made);
      const ends = tried.made.pictures.map(({ bytes }) => bytes.offset + bytes.sizeBytes);
      position = Math.max(position, ...ends);
    } else leave(tried.refused, await exchangedWhole(source, { ...planning, edit }, tried.refused));
  }
}

function gather(groups: readonly MadeGroup[]) {
  return {
    samples: groups.flatMap(({ samples }) => samples),
    pictures: groups.flatMap(({ pictures }) => pictures),
    staying: groups.flatMap(({ staying }) => staying),
    held: groups.flatMap(({ held }) => held),
    pps: groups.find(({ pps }) => pps)?.pps ?? null,
  };
}

/** Result of a group: its pictures, or the candidates that cannot be exchanged alone. */
type TriedGroup =
  | { readonly made: MadeGroup }
  | { readonly made: null; readonly refused: readonly HevcCandidate[] };

async function tryGroup(
  input: HevcStandInsInput,
  target: IntraTarget,
  group: StandInGroup,
): Promise<TriedGroup> {
  const { candidates } = group;
  const staying = candidates.flatMap((candidate) => candidate.staying);
  const spans = candidates.map(({ span }) => span);
  if (candidates.every(({ standIns }) => standIns.length === 0))
    return { made: { spans, samples: [], staying, pictures: [], pps: null, held: [] } };
  const stayers = candidates.filter((candidate) => candidate.staying.length > 0);
  try {
    const orders = await readGroupOrders(input.source, input.order, group);
    const open = orders ? stillReferred(orders, candidates) : candidates;
    if (open.length > 0) return { made: null, refused: open };
    const concealed = orders && (await concealAnew(input, target, group, orders));
    if (concealed) return { made: concealed };
    const places = orders && placeStandIns(orders, target.sps, candidates);
    const made = places && (await encodeGroup(input, target, group, places));
    const otherwise = made && (await proveGroup(input, group, made));
    if (made && otherwise) {
      const isGood = otherwise.length === 0 || candidates.every(isGoodReference);
      if (isGood && (otherwise.length === 0 || (await isNoFarther(input, group, made))))
        return { made: { ...made, staying: otherwise } };
      return { made: null, refused: stayers };
    }
  } catch (error) {
    // What does not fit here is encoded with the surrounding pictures.
    if (!isUnfit(error)) throw error;
  }
  if (stayers.length > 0) return { made: null, refused: stayers };
  const referred = candidates.filter(({ isReferred }) => isReferred);
  return { made: null, refused: referred.length > 0 ? referred : candidates };
}

/**
 * The group with its damaged pictures concealed here and its rebuilt ones exchanged, if that is proven; otherwise null.
 */
async function concealAnew(
  input: HevcStandInsInput,
  target: IntraTarget,
  group: StandInGroup,
  orders: GroupOrders,
): Promise<MadeGroup | null> {
  const { concealed: torn, rebuilt } = partByKind(group, input.order);
  if (torn.candidates.length === 0) return null;
  try {
    const places = placeStandIns(orders, target.sps, rebuilt.candidates);
    if (!places) return null;
    const beside = rebuilt.candidates.length > 0 ? await encodeGroup(input, target, rebuilt, places) : null;
    const ends = beside?.pictures.map(({ bytes }) => bytes.offset + bytes.sizeBytes) ?? [];
    const take = spoolFrom(Math.max(input.position, ...ends));
    const store = async (bytes: Buffer) => {
      const offset = take(bytes.length);
      await writeFully(input.spool, bytes, offset);
      return { bytes: { file: input.spool, offset, sizeBytes: bytes.length }, sync: false };
    };
    const all = await concealGroup({ ...input, group: torn, orders, store });
    const made = all.map(({ samples, pictures }) => ({
      spans: group.candidates.map(({ span }) => span),
      staying: group.candidates.flatMap((candidate) => candidate.staying),
      samples: [...samples, ...(beside?.samples ?? [])],
      pictures: [...pictures, ...(beside?.pictures ?? [])],
      pps: beside?.pps ?? null,
      held: beside?.held ?? [],
    }));
    const trials = made.map((one) => stayingTrial(input, group, one));
    const mustGain = all.every((one) => one.mustGain);
    const best = made[(await nearestMended(input, trials, mustGain)) ?? -1];
    const otherwise = best && (await proveGroup(input, group, best));
    return best && otherwise ? { ...best, staying: otherwise } : null;
  } catch (error) {
    if (isUnfit(error)) return null;
    throw error;
  }
}

/** Whether pictures bring their parameter sets. */
async function hasSetsInBand(source: HevcSource, { start }: StandInGroup): Promise<boolean> {
  return carriesParameterSets(source, await source.units(start.sample)) || source.entry.coding === 'hev1';
}

async function encodeGroup(
  input: HevcStandInsInput,
  target: IntraTarget,
  group: StandInGroup,
  places: readonly IntraPlace[],
): Promise<MadeGroup> {
  const { source, workDir, pictureBytes } = input;
  const standIns = group.candidates.flatMap((candidate) => candidate.standIns);
  const label = `smart-render-alone-${group.start.sample}`;
  const decoder = createGroupDecoder({
    ...input,
    pixelFormat: input.raw.pixelFormat,
    decodeFrom: group.start,
    warmUp: HEVC_WARM_UP,
  });
  const pixels = openPixels(
    { decoder, workDir, pictureBytes, label },
    standIns.map((standIn) => standIn.pixels),
  );
  const riders = [];
  for (const { sample } of standIns) riders.push(await ridersOrNear(source, input.order, sample));
  const { pictures, pps } = await encodeIntra({
    ...input,
    take: spoolFrom(input.position),
    target,
    places,
    riders,
    pictures: pixels.pictures,
    lengthSize: source.lengthSize,
    inBandSets: await hasSetsInBand(source, group),
  });
  const { candidates } = group;
  return {
    spans: candidates.map(({ span }) => span),
    samples: standIns.map(({ sample }) => sample),
    staying: candidates.flatMap(({ staying }) => staying),
    pictures,
    pps,
    held: pixels.held,
  };
}

/**
 * Proves that the strictest decoder accepts the new pictures with no complaint that it does not also make without them,
 * and that it shows every undamaged picture as it does when the exchanged ones are left out.
 * @returns samples that keep their data but look different from the unchanged clip; null if it is not proven
 */
async function proveGroup(
  input: HevcStandInsInput,
  group: StandInGroup,
  made: MadeGroup,
): Promise<number[] | null> {
  const { source, order } = input;
  const leaning = new Set(group.start.leaning);
  const whole: Part = { from: group.start.sample, end: group.endSample };
  const replaced = new Set(made.samples);
  const staying = new Set(made.staying);
  const none = new Map<number, EncodedPicture>();
  const before = await hashTrial(input, { ...whole, omitted: replaced }, none, source.entry.bytes);
  const { coded, entry } = trialOf(source, made);
  const after = await hashTrial(input, whole, coded, entry);
  // Left-out pictures may be reported as missing although nobody uses them; exchanged ones must not be.
  const isNew = (complaint: string) => MISSED.test(complaint) || !before.complaints.includes(complaint);
  if (after.complaints.some(isNew)) return null;
  const shown = samplesOfPart(whole)
    .filter((sample) => !leaning.has(sample))
    .sort((a, b) => (order.placeOf[a] ?? 0) - (order.placeOf[b] ?? 0));
  const shownBefore = shown.filter((sample) => !replaced.has(sample));
  if (after.hashes.length !== shown.length || before.hashes.length !== shownBefore.length) return null;
  const hashOf = new Map(shownBefore.map((sample, at) => [sample, before.hashes[at]]));
  const isKept = (sample: number, at: number) =>
    replaced.has(sample) || staying.has(sample) || after.hashes[at] === hashOf.get(sample);
  if (!shown.every(isKept)) return null;
  if (staying.size === 0) return [];
  const torn = await hashTrial(input, whole, none, source.entry.bytes);
  const shownTorn = shown.filter((sample) => !isVacant(source, sample));
  const isWhole = torn.hashes.length === shownTorn.length;
  const tornOf = new Map(isWhole ? shownTorn.map((sample, at) => [sample, torn.hashes[at]]) : []);
  return shown.filter((sample, at) => staying.has(sample) && tornOf.get(sample) !== after.hashes[at]);
}

/** Whether the pictures that keep their data look no worse than encoded again from the clip's own view. */
const isNoFarther = (input: HevcStandInsInput, group: StandInGroup, made: MadeGroup): Promise<boolean> =>
  isNoFartherMended(input, stayingTrial(input, group, made));

function stayingTrial({ source }: HevcStandInsInput, group: StandInGroup, made: MadeGroup): StayingTrial {
  // The next key picture is the first one shown after the group.
  const part = { from: group.start.sample, end: Math.min(source.samples.length, group.endSample + 1) };
  return { ...trialOf(source, made), part, staying: made.staying };
}

/** The exchanged pictures by sample, and the sample description with their parameter set. */
function trialOf(source: HevcSource, { samples, pictures, pps }: MadeGroup) {
  return {
    coded: new Map(pictures.flatMap((picture, at) => [[samples[at] ?? -1, picture] as const])),
    entry: entryWithSets(source, pps ? [pps] : []),
  };
}

/** Complaints of the decoder about its input, as ffmpeg logs them. */
const COMPLAINT = /(?:\[hevc @ [^\]]+\] \[(?:error|warning)\]|corrupt decoded frame).*/;

const MISSED = /Could not find ref/;

async function hashTrial(
  input: HevcStandInsInput,
  part: Part,
  coded: ReadonlyMap<number, EncodedPicture>,
  entry: Buffer,
): Promise<{ hashes: string[]; complaints: string[] }> {
  const { workDir, tools, signal, raw } = input;
  const outputPath = path.join(workDir, 'smart-render-alone-trial.mp4');
  await writeTrialPart({ ...input, part, coded, entry, outputPath });
  const complaints: string[] = [];
  const onLine = (line: string) => {
    const found = COMPLAINT.exec(line)?.[0];
    if (found) complaints.push(found.replace(/@ [^\]]+/, ''));
  };
  const { pixelFormat } = raw;
  const label = 'decode pictures exchanged alone';
  const hashes = await hashClip(outputPath, { label, codec: 'hevc', pixelFormat, tools, signal, onLine });
  input.onTrial?.();
  return { hashes, complaints };
}
