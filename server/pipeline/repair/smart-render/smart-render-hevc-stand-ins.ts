import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { H264Error } from '#server/media/h264/h264-error.ts';
import { HevcError } from '#server/media/hevc/hevc-error.ts';
import { withHevcParameterSets } from '#server/media/hevc/hevc-config.ts';
import { HEVC_NAL, hevcNalType } from '#server/media/hevc/hevc-nal.ts';
import type { DisplayOrder } from '#server/media/mp4/display-order.ts';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';
import { withEntryBox } from '#server/media/mp4/sample-entry.ts';
import type { ToolPaths } from '#server/media/tools.ts';
import type { ChangedSpan, PictureEdit } from '../picture-edit.ts';
import type { EncodedPicture, RawPictures } from './smart-render-encoder.ts';
import { generalOf } from './smart-render-hevc-encode.ts';
import { ridersOf } from './smart-render-hevc-riders.ts';
import { carriesParameterSets, type HevcSource } from './smart-render-hevc-source.ts';
import { encodeIntra, intraTarget, type IntraTarget } from './smart-render-hevc-stand-in-encode.ts';
import {
  findHevcCandidates,
  isCovered,
  placeStandIns,
  toGroups,
  type StandInGroup,
} from './smart-render-hevc-stand-in-plan.ts';
import { hashClip } from './smart-render-hashes.ts';
import { createGroupDecoder } from './smart-render-originals.ts';
import { samplesOfPart, writeTrialPart, type Part } from './smart-render-part.ts';
import { openPixels } from './smart-render-pixels.ts';
import { planSegments, type Cut, type SegmentPlan } from './smart-render-plan.ts';

export interface HevcStandInsInput {
  readonly source: HevcSource;
  readonly order: DisplayOrder;
  readonly cuts: readonly Cut[];
  readonly edit: PictureEdit;
  /** Places of damaged pictures that are wanted as the decoder conceals their loss. */
  readonly damaged: ReadonlySet<number>;
  readonly workDir: string;
  readonly raw: RawPictures;
  readonly pictureBytes: number;
  readonly threads: number;
  /** Coded pictures are appended here from `position` on. */
  readonly spool: FileHandle;
  readonly position: number;
  readonly tools: ToolPaths;
  readonly signal?: AbortSignal;
}

/** Pictures that were exchanged alone, with every sample around them as it was. */
interface MadeGroup {
  readonly spans: readonly ChangedSpan[];
  /** By sample of the original, in the order of `pictures`. */
  readonly samples: readonly number[];
  readonly pictures: readonly EncodedPicture[];
  readonly pps: Buffer;
  /** Places of originals that never came out of the decoder. */
  readonly held: readonly number[];
}

export interface HevcStandIns extends Omit<MadeGroup, 'spans' | 'pps'> {
  /** Stretches that are encoded anew beside them. */
  readonly plan: SegmentPlan;
  /** Picture parameter set that they name; null when there are none. */
  readonly pps: Buffer | null;
  /** Where the spool goes on. */
  readonly position: number;
}

/**
 * Exchanges damaged pictures to which nobody refers for intra pictures of the clip's own sequence, so that every other sample
 * of their group stays byte for byte, and plans the stretches for all other changes. A group is tried before: it goes
 * to the stretches when the decoder complains or shows any other picture otherwise than before.
 * @throws MediaToolError when ffmpeg fails or the run is cancelled
 */
export async function makeHevcStandIns(input: HevcStandInsInput): Promise<HevcStandIns> {
  const { source, order, cuts, edit } = input;
  const target = unlessUnfit(() => intraTarget(source));
  let candidates = target ? await findHevcCandidates(source, order, edit) : [];
  const made = new Map<ChangedSpan, MadeGroup>();
  let position = input.position;
  for (;;) {
    const alone = new Set(candidates.map(({ span }) => span));
    const plan = planSegments({
      samples: source.samples,
      order,
      cuts,
      edit: edit.filter((span) => !alone.has(span)),
      offsetTicks: source.shownEdit.offsetTicks,
    });
    const segments = plan.ok ? plan.segments : [];
    const apart = plan.ok ? candidates.filter((candidate) => !isCovered(candidate, segments)) : [];
    const isSettled = apart.length === candidates.length;
    candidates = apart;
    if (!isSettled) continue;
    const open = candidates.filter(({ span }) => !made.has(span));
    const [group] = toGroups(source, order, cuts, open, segments);
    if (!group || !target)
      return {
        ...gather(
          candidates.map(({ span }) => span),
          made,
        ),
        plan,
        position,
      };
    const done = await tryGroup({ ...input, position }, target, group);
    if (done) {
      position = Math.max(...done.pictures.map(({ bytes }) => bytes.offset + bytes.sizeBytes));
      for (const span of done.spans) made.set(span, done);
    } else candidates = candidates.filter((candidate) => !group.candidates.includes(candidate));
  }
}

/** The groups of which every span is still exchanged alone. */
function gather(spans: readonly ChangedSpan[], made: ReadonlyMap<ChangedSpan, MadeGroup>) {
  const groups = [...new Set(spans.flatMap((span) => made.get(span) ?? []))];
  return {
    samples: groups.flatMap(({ samples }) => samples),
    pictures: groups.flatMap(({ pictures }) => pictures),
    held: groups.flatMap(({ held }) => held),
    pps: groups[0]?.pps ?? null,
  };
}

async function tryGroup(
  input: HevcStandInsInput,
  target: IntraTarget,
  group: StandInGroup,
): Promise<MadeGroup | null> {
  try {
    const made = await encodeGroup(input, target, group);
    return made && (await isProven(input, group, made)) ? made : null;
  } catch (error) {
    // What does not fit here is encoded with the pictures around it.
    if (isUnfit(error)) return null;
    throw error;
  }
}

const isUnfit = (error: unknown): boolean =>
  error instanceof Mp4Error || error instanceof H264Error || error instanceof HevcError;

function unlessUnfit<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (isUnfit(error)) return null;
    throw error;
  }
}

async function encodeGroup(
  input: HevcStandInsInput,
  target: IntraTarget,
  group: StandInGroup,
): Promise<MadeGroup | null> {
  const { source, order, workDir, pictureBytes } = input;
  const places = await placeStandIns(source, order, target.sps, group);
  if (!places) return null;
  const standIns = group.candidates.flatMap((candidate) => candidate.standIns);
  const key = await source.units(group.start.sample);
  const label = `smart-render-alone-${group.start.sample}`;
  const decoder = createGroupDecoder({
    ...input,
    pixelFormat: input.raw.pixelFormat,
    decodeFrom: group.start,
  });
  const pixels = openPixels(
    { decoder, workDir, pictureBytes, label },
    standIns.map((standIn) => standIn.pixels),
  );
  const riders = [];
  for (const { sample } of standIns) riders.push(await ridersOf(source, sample));
  const { pictures, pps } = await encodeIntra({
    ...input,
    target,
    places,
    riders,
    pictures: pixels.pictures,
    lengthSize: source.lengthSize,
    inBandSets: carriesParameterSets(source, key) || source.entry.coding === 'hev1',
  });
  const spans = group.candidates.map(({ span }) => span);
  return { spans, samples: standIns.map(({ sample }) => sample), pictures, pps, held: pixels.held };
}

/**
 * Whether the decoder, as strict as it can be, takes the new pictures without a word that it does not say without them,
 * and shows every other picture as it shows it when the exchanged ones are left out.
 */
async function isProven(input: HevcStandInsInput, group: StandInGroup, made: MadeGroup): Promise<boolean> {
  const { source, order } = input;
  const leaning = new Set(group.start.leaning);
  const whole: Part = { from: group.start.sample, end: group.endSample };
  const replaced = new Set(made.samples);
  const coded = new Map(made.pictures.flatMap((picture, at) => [[made.samples[at] ?? -1, picture] as const]));
  const before = await hashTrial(input, { ...whole, omitted: replaced }, new Map(), source.entry.bytes);
  const entry = entryWithSets(source, [made.pps], ownGeneral(source));
  const after = await hashTrial(input, whole, coded, entry);
  if (after.complaints.some((complaint) => !before.complaints.includes(complaint))) return false;
  const shown = samplesOfPart(whole)
    .filter((sample) => !leaning.has(sample))
    .sort((a, b) => (order.placeOf[a] ?? 0) - (order.placeOf[b] ?? 0));
  if (after.hashes.length !== shown.length) return false;
  const kept = after.hashes.filter((_, at) => !replaced.has(shown[at] ?? -1));
  return kept.length === before.hashes.length && kept.every((hash, at) => hash === before.hashes[at]);
}

/** Complaints of the decoder about its input, as ffmpeg prints them. */
const COMPLAINT = /(?:\[hevc @ [^\]]+\] \[(?:error|warning)\]|corrupt decoded frame).*/;

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
  return { hashes: await hashClip(outputPath, { label, pixelFormat, tools, signal, onLine }), complaints };
}

/** Profile, tier and level of the clip's own sequence, as bytes. */
function ownGeneral(source: HevcSource): Buffer {
  const own = source.parameterSets.find((unit) => hevcNalType(unit) === HEVC_NAL.sps);
  if (!own) throw new HevcError('The video track has no decoder settings.');
  return generalOf(own);
}

/**
 * The sample description with more parameter sets.
 * @param general profile, tier and level of the pictures that name them; those of the clip by default
 */
export function entryWithSets(
  source: HevcSource,
  sets: readonly Buffer[],
  general = ownGeneral(source),
): Buffer {
  return withEntryBox(source.entry, 'hvcC', withHevcParameterSets(source.config, sets, general));
}
