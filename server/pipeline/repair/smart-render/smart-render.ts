import { open, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { type DisplayOrder, displayOrder } from '#server/media/mp4/display-order.ts';
import type { MediaInfo } from '#server/media/probe/probe.ts';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';
import type { KeptRun } from '../../analyse/decode/kept-pictures.ts';
import type { MediaLimits } from '../../worker-protocol.ts';
import { keptFrames, type ChangedSpan, type PictureEdit } from '../picture-edit.ts';
import { rawFormat } from '../rebuild-pictures/rebuild-pictures-raw.ts';
import { planAround, type AroundPlan } from './smart-render-around.ts';
import { createCoder, type Coder } from './smart-render-coder.ts';
import { damagedPlaces } from './smart-render-damaged.ts';
import { toTarget } from './smart-render-target.ts';
import { renderHevc } from './hevc/smart-render-hevc.ts';
import { lastOfEach, replaceAlone, withExchanges } from './smart-render-replace.ts';
import type { TargetSequence } from './smart-render-encode.ts';
import { outcomeOf } from './smart-render-outcome.ts';
import { encodeSegments } from './smart-render-segments.ts';
import { cutCandidates, type Cut } from './smart-render-plan.ts';
import { isIdr, openSmartSource, type SmartSource, withVacant } from './smart-render-source.ts';
import type { StandIn } from './smart-render-stand-ins.ts';
import { concealsAll, inOwnNumbers, withVacancies, type Vacated } from './smart-render-vacancies.ts';
import { raiseCounts } from './smart-render-raise.ts';
import {
  declined,
  type PlacedClip,
  type PlacedResult,
  type RenderJob,
  renderRaised,
  unfilledOf,
} from './smart-render-raised.ts';
import { planTimes, type Timing } from './smart-render-timing.ts';
import { spansWithoutRoom } from './smart-render-room.ts';
import { verbatimPps, type VerbatimPps } from './smart-render-verbatim.ts';
import { withNewPps, writeResult } from './smart-render-write.ts';
import { isUnfit } from '../unfit.ts';

export interface SmartRenderInput {
  readonly inputPath: string;
  readonly outputPath: string;
  /** Folder for working files; the caller removes them. */
  readonly workDir: string;
  readonly info: MediaInfo;
  readonly edit: PictureEdit;
  readonly tools: ToolPaths;
  readonly limits: MediaLimits;
  readonly signal?: AbortSignal;
  /** Share of the pictures to encode that are encoded, 0 to 1. */
  readonly onProgress?: (share: number) => void;
}

export interface DoneSmartRender {
  readonly done: true;
  /** Number of coded pictures carried over byte for byte. */
  readonly framesKept: number;
  /** Number of coded pictures in the original. */
  readonly framesTotal: number;
  /** Stretches of the original, display order, whose coded pictures no longer have the same bytes. */
  readonly reencodedSpans: readonly { readonly firstFrame: number; readonly endFrame: number }[];
  /**
   * Originals whose order counts changed to make room for new pictures; all else of them is the same, including what
   * they show. Absent for none.
   */
  readonly recounted?: readonly number[];
  /** Originals that could not be decoded; the picture before is shown in their place. */
  readonly heldFrames: readonly number[];
  /**
   * Originals, display order, in whose places other pictures may be shown now. All others are bound, or proven, to
   * decode as before. Null if unknown.
   */
  readonly altered: ReadonlySet<number> | null;
  /** Originals before which lost reference pictures were filled in like damaged ones; absent for none. */
  readonly concealedLost?: readonly number[];
  /** Small grey pictures of the altered ones that a strict decode has shown; their files lie in the work folder. */
  readonly seen: readonly KeptRun[];
}

export type SmartRenderResult = DoneSmartRender | { readonly done: false; readonly reason: string };

/**
 * Applies an edit to an MP4 clip with H.264 or HEVC pictures so that only pictures that must change are encoded again.
 * Every other coded picture and all other tracks are carried over byte for byte, in one file with one sample
 * description. Declines with a reason if the stream does not allow it.
 * @throws MediaToolError when ffmpeg fails or the run is cancelled.
 */
export async function smartRender(input: SmartRenderInput): Promise<SmartRenderResult> {
  const file = await open(input.inputPath, 'r');
  const spool = await open(path.join(input.workDir, 'smart-render.coded'), 'w+');
  try {
    const isHevc = input.info.video[0]?.codec === 'hevc';
    return await (isHevc ? renderHevc : render)(input, file, spool);
  } catch (error) {
    if (isUnfit(error)) return decline(error.message);
    throw error;
  } finally {
    await spool.close();
    await file.close();
  }
}

/** Progress when pictures have been replaced one by one, if there are any. */
const REPLACED = 0.95;

const decline = (reason: string): SmartRenderResult => ({ done: false, reason });

async function render(
  input: SmartRenderInput,
  file: FileHandle,
  spool: FileHandle,
): Promise<SmartRenderResult> {
  const answer = await openSmartSource(file, input.info);
  if (!answer.ok) return decline(answer.reason);
  const stream = input.info.video[0];
  const format = stream && rawFormat(stream.pixelFormat, stream.width, stream.height);
  if (!stream || !format) return decline('The pixel format of the video is unusual.');
  const job = { ...input, stream, format, spool };
  const { source } = answer;
  const { edit } = input;
  const noRoom = await spansWithoutRoom(source, edit);
  return renderRaised<SmartSource>({
    ...input,
    noRoom,
    place: (roomless) => withVacancies(source, edit, withVacant, roomless),
    raise: (roomless) => raiseCounts({ ...input, ...roomless, pixelFormat: format.name }),
    render: (placed) => renderPlaced(job, placed),
  });
}

const orderOf = ({ samples, shownEdit }: SmartSource) =>
  displayOrder(samples, shownEdit.startTicks, shownEdit.endTicks);

/** Renders a clip in which lost pictures have places of their own. */
async function renderPlaced(job: RenderJob, placed: PlacedClip<SmartSource>): Promise<PlacedResult> {
  const { vacated } = placed;
  const { source } = vacated;
  const arranged = await arrange(job, vacated);
  const { plan, standIns, exchanges } = arranged;
  if (arranged.unfilled.size > 0) return { unfilled: arranged.unfilled };
  if (!plan.ok) return declined(plan.reason);
  const { segments } = plan;
  const timing = planTimes(source.samples, segments);
  if (!timing.ok) return declined(timing.reason);
  const target = await toTarget(source, job.info, segments);
  if (typeof target === 'string') return declined(target);
  const inStretches = segments.reduce((sum, { pictures }) => sum + pictures.length, 0);
  if (inStretches + standIns.length > 0 && isTooLarge(job)) {
    return declined('The pictures are too large to be encoded within the memory of this server.');
  }
  await encodeAndWrite(job, placed, { ...arranged, plan, timing, target });
  const outcome = outcomeOf({
    order: arranged.order,
    framesTotal: source.samples.length,
    segments,
    standIns,
    exchanges,
    moved: placed.moved,
    heldPlaces: arranged.coder.held(),
  });
  const filled = arranged.isFilled && { concealedLost: vacated.besideDamage };
  return { result: inOwnNumbers(vacated, { ...outcome, ...filled }) };
}

const isTooLarge = ({ stream, limits }: RenderJob): boolean =>
  stream.width * stream.height > limits.maxEncodePixels;

/** What becomes of each picture of an edit. */
interface Arranged extends AroundPlan {
  readonly order: DisplayOrder;
  readonly cuts: readonly Cut[];
  readonly coder: Coder;
  readonly pps: VerbatimPps | null;
  /** Whether lost pictures were filled in like damaged ones. */
  readonly isFilled: boolean;
  /** Spans whose pictures could not be put into their places. */
  readonly unfilled: ReadonlySet<ChangedSpan>;
}

/** Replaces pictures one by one where the stream allows it, and plans stretches for the others. */
async function arrange(job: RenderJob, vacated: Vacated<SmartSource>): Promise<Arranged> {
  const { stream, format, onProgress, ...silent } = job;
  const { source, edit } = vacated;
  const order = orderOf(source);
  const cuts = await findCuts(source, order, edit);
  const damaged = damagedPlaces(edit, order);
  const shared = { ...silent, source, order, cuts, damaged, pixelFormat: format.name, shown: stream };
  let tried = 0;
  const coder = createCoder({
    ...shared,
    pictureBytes: format.pictureBytes,
    onProgress: (share) => onProgress?.(tried + (1 - tried) * share),
  });
  const pps = verbatimPps(source);
  const replaceIn = (wanted: PictureEdit, verbatim: VerbatimPps) =>
    replaceAlone({
      ...shared,
      edit: wanted,
      coder,
      verbatimPps: verbatim,
      canEncode: !isTooLarge(job),
      targetOf: (decodeFrom, endSample) => toTarget(source, job.info, [{ decodeFrom, endSample }]),
      onShare: (share) => {
        tried = REPLACED;
        onProgress?.(REPLACED * share);
      },
    });
  const tryEdit = async (wanted: PictureEdit) =>
    planAround(source, order, cuts, wanted, pps ? await replaceIn(wanted, pps) : []);
  const concealed = vacated.asDamage && (await tryEdit(vacated.asDamage));
  const isFilled = concealed !== null && concealsAll(vacated, [...concealed.exchanges, ...concealed.under]);
  const around = isFilled ? concealed : await tryEdit(edit);
  const unfilled = unfilledOf(vacated, [
    ...around.exchanges.flatMap(({ samples }) => samples),
    ...around.standIns.map(({ sample }) => sample),
  ]);
  return { ...around, exchanges: lastOfEach(around.exchanges), order, cuts, coder, pps, isFilled, unfilled };
}

interface Encodable extends Arranged {
  readonly plan: Extract<AroundPlan['plan'], { ok: true }>;
  readonly timing: Extract<Timing, { ok: true }>;
  readonly target: TargetSequence;
}

async function encodeAndWrite(
  { limits, signal, outputPath, onProgress }: RenderJob,
  { vacated: { source }, moved }: PlacedClip<SmartSource>,
  { plan, timing, target, order, cuts, coder, pps, standIns, exchanges, under }: Encodable,
): Promise<void> {
  const { segments, shiftTotal } = plan;
  const toEncode = segments.reduce((sum, { pictures }) => sum + pictures.length, standIns.length);
  coder.expect(toEncode);
  if (toEncode === 0) onProgress?.(1);
  const mended = pps ? withExchanges(source, under, pps) : source;
  const encoded = await encodeSegments({ source: mended, coder, target, limits, signal }, segments);
  const alone =
    standIns.length === 0
      ? null
      : await coder.encode({
          target,
          label: 'smart-render-alone',
          decodeFrom: firstCut(cuts, standIns),
          wanted: standIns.map(({ pixels }) => pixels),
          place: { neighbourIdrIds: [], standIns },
        });
  const ownPps = exchanges.flatMap((one) => (one.pps ? [{ pps: one.pps }] : []));
  const exchangePps = exchanges.length > 0 ? (pps?.unit ?? null) : null;
  await writeResult({
    source,
    sampleEntry: withNewPps(source, [...encoded, alone, ...ownPps], exchangePps),
    order,
    timing,
    segments,
    encoded,
    standIns: {
      samples: [
        ...standIns.map(({ sample }) => sample),
        ...exchanges.flatMap(({ samples: replaced }) => replaced),
      ],
      coded: {
        pictures: [...(alone?.pictures ?? []), ...exchanges.flatMap(({ pictures }) => pictures)],
      },
    },
    moved,
    shiftTotal,
    outputPath,
    signal,
  });
}

/** Where decoding must start to get every original that stand-ins need. */
function firstCut(cuts: readonly Cut[], standIns: readonly StandIn[]): Cut {
  const places = standIns.flatMap(({ pixels }) => (pixels.kind === 'original' ? [pixels.frame] : []));
  const first = Math.min(...places);
  return cuts.findLast((cut) => cut.place <= first) ?? { sample: 0, place: 0, leaning: [] };
}

/**
 * The cut points that the edit needs: the last one at or before each wanted picture, and the first one after each span.
 */
async function findCuts(source: SmartSource, order: DisplayOrder, edit: PictureEdit): Promise<Cut[]> {
  const candidates = cutCandidates(source.samples);
  const places = candidates.map((sample) => order.placeOf[sample] ?? 0);
  const found = new Set<number>();
  const known = new Map<number, boolean>();
  const test = async (index: number) => {
    const sample = candidates[index];
    if (sample === undefined) return false;
    // Decoding always starts at the first sample, whatever is left of it.
    const answer = known.get(sample) ?? (sample === 0 || (await isIdr(source, sample)));
    known.set(sample, answer);
    if (answer) found.add(sample);
    return answer;
  };
  const before = async (place: number) => {
    let index = places.findLastIndex((candidate) => candidate <= place);
    while (index >= 0 && !(await test(index))) index--;
  };
  for (const span of edit) {
    await before(span.firstFrame + order.firstShown);
    if (span.hiddenFrames) await before(Math.min(...span.hiddenFrames) + order.firstShown);
    if (keptFrames(span).length > 0) await before(span.firstFrame + order.firstShown - 1);
    for (const { pixels } of span.pictures) {
      if (pixels.kind === 'original') await before(pixels.frame + order.firstShown);
    }
    const end = span.endFrame + order.firstShown;
    let index = places.findIndex((candidate) => candidate >= end);
    while (index >= 0 && index < candidates.length && !(await test(index))) index++;
  }
  return [...found]
    .sort((a, b) => a - b)
    .map((sample) => ({ sample, place: order.placeOf[sample] ?? 0, leaning: [] }));
}
