import type { FileHandle } from 'node:fs/promises';
import { HevcError } from '#server/media/hevc/hevc-error.ts';
import type { ByteRange } from '#server/media/mp4/file-bytes.ts';
import { type DisplayOrder, displayOrder } from '#server/media/mp4/display-order.ts';
import type { MediaInfo } from '#server/media/probe/probe.ts';
import { rawFormat } from '../../rebuild-pictures/rebuild-pictures-raw.ts';
import type { DoneSmartRender, SmartRenderInput, SmartRenderResult } from '../smart-render.ts';
import { findHevcCuts } from './smart-render-hevc-cuts.ts';
import {
  generalOf,
  hevcEncoderFormats,
  type EncodedHevc,
  type HevcTarget,
} from './smart-render-hevc-encode.ts';
import {
  carriesParameterSets,
  openHevcSource,
  withVacantHevc,
  type HevcSource,
} from './smart-render-hevc-source.ts';
import { entryWithSets } from './smart-render-hevc-entry.ts';
import { countedClip, multiplyCounts } from './smart-render-hevc-raise.ts';
import { unlessUnfit } from '../../unfit.ts';
import { makeHevcStandIns, type HevcStandIns } from './smart-render-hevc-stand-ins.ts';
import { encodeStretches } from './smart-render-hevc-stretches.ts';
import type { PictureEdit } from '../../picture-edit.ts';
import { damagedPlaces } from '../smart-render-damaged.ts';
import { isInStretch, type Cut, type Segment } from '../smart-render-plan.ts';
import {
  declined,
  type PlacedClip,
  type PlacedResult,
  type RenderJob,
  renderRaised,
  unfilledOf,
} from '../smart-render-raised.ts';
import { spansWithoutRoom } from '../smart-render-room.ts';
import { planTimes } from '../smart-render-timing.ts';
import { concealsAll, inOwnNumbers, withVacancies, type Vacated } from '../smart-render-vacancies.ts';
import { writeResult } from '../smart-render-write.ts';

/**
 * Most decodes of a group for a damaged stretch: one for each way to conceal it, one unchanged, and one to prove the
 * best.
 */
const TRIALS = 10;

const decline = (reason: string): SmartRenderResult => ({ done: false, reason });

/**
 * `smartRender` for HEVC. Each stretch of new pictures is a coded video sequence of its own, with parameter set ids
 * that the clip does not use, so the encoder need not use the camera's coding tools. The surrounding pictures keep
 * every byte.
 * @param spool open file for coded pictures
 * @throws Mp4Error, H264Error or HevcError when the stream cannot be joined; MediaToolError when ffmpeg fails or the
 * run is cancelled.
 */
export async function renderHevc(
  input: SmartRenderInput,
  file: FileHandle,
  spool: FileHandle,
): Promise<SmartRenderResult> {
  const answer = await openHevcSource(file, input.info);
  if (!answer.ok) return decline(answer.reason);
  const stream = input.info.video[0];
  const format = stream && rawFormat(stream.pixelFormat, stream.width, stream.height);
  if (!stream || !format) return decline('The pixel format of the video is unusual.');
  if (stream.width * stream.height > input.limits.maxEncodePixels) {
    return decline('The pictures are too large to be encoded within the memory of this server.');
  }
  const formats = await hevcEncoderFormats(input.tools, input.signal);
  if (!formats.includes(format.name)) return decline('This server has no encoder for HEVC of this kind.');
  const job = { ...input, stream, format, spool };
  const counted = unlessUnfit(() => countedClip(answer.source));
  return renderRaised<HevcSource>({
    ...input,
    noRoom: counted ? await spansWithoutRoom(counted, input.edit) : new Set(),
    place: (roomless) => withVacancies(answer.source, input.edit, withVacantHevc, roomless),
    raise: (roomless) => multiplyCounts({ ...input, ...roomless, pixelFormat: format.name }),
    render: (placed) => renderPlaced(job, placed),
  });
}

/** Renders a clip in which lost pictures have places of their own. */
async function renderPlaced(
  job: RenderJob,
  { vacated, moved: raised }: PlacedClip<HevcSource>,
): Promise<PlacedResult> {
  const { source, edit } = vacated;
  const { samples, shownEdit } = source;
  const order = displayOrder(samples, shownEdit.startTicks, shownEdit.endTicks);
  const cuts = await findHevcCuts(source, order, edit);
  const hidden = cuts.find(({ sample }) => sample === 0)?.place ?? 0;
  if (order.firstShown < hidden) return declined('The video begins with pictures that cannot be decoded.');
  const { alone, isFilled } = await arrange(job, vacated, { order, cuts });
  const unfilled = unfilledOf(vacated, alone.samples);
  if (unfilled.size > 0) return { unfilled };
  const { plan } = alone;
  if (!plan.ok) return declined(plan.reason);
  const { segments } = plan;
  const timing = planTimes(samples, segments);
  if (!timing.ok) return declined(timing.reason);
  const target = await toTarget(source, job.info, segments);
  if (!target) return declined('The video track has no decoder settings.');
  const damaged = damagedPlaces(edit, order);
  const { position } = alone;
  const stretches = { ...job, source, order, cuts, damaged, target, segments, position };
  const { encoded, moved, heldPlaces } = await encodeStretches(stretches);
  await writeResult({
    source,
    sampleEntry: withNewSets(source, encoded, alone.pps),
    order,
    timing,
    segments,
    encoded,
    standIns: { samples: alone.samples, coded: alone },
    moved: new Map([...raised, ...moved]),
    shiftTotal: plan.shiftTotal,
    outputPath: job.outputPath,
    signal: job.signal,
  });
  const heldFrames = [...alone.held, ...heldPlaces].map((place) => place - order.firstShown);
  const outcome = outcomeOf({ order, framesTotal: samples.length, segments, alone, raised, moved });
  const filled = isFilled && { concealedLost: vacated.besideDamage };
  return { result: inOwnNumbers(vacated, { ...outcome, heldFrames, ...filled }) };
}

/** Replaces pictures one by one where the stream allows it, and plans stretches for the others. */
async function arrange(
  { stream, format, ...input }: RenderJob,
  vacated: Vacated<HevcSource>,
  { order, cuts }: { readonly order: DisplayOrder; readonly cuts: readonly Cut[] },
): Promise<{ alone: HevcStandIns; isFilled: boolean }> {
  const { width, height } = stream;
  const damagedSpans = vacated.edit.filter(({ mendsDamage }) => mendsDamage).length;
  let trials = 0;
  const tryAlone = (edit: PictureEdit) =>
    makeHevcStandIns({
      ...input,
      edit,
      source: vacated.source,
      order,
      cuts,
      damaged: damagedPlaces(edit, order),
      raw: { width, height, pixelFormat: format.name, frameRate: usualRate(stream.frameRate) },
      pictureBytes: format.pictureBytes,
      threads: input.limits.threads,
      position: 0,
      onTrial: () => {
        trials += 1;
        input.onProgress?.(Math.min(1, trials / (TRIALS * Math.max(1, damagedSpans))));
      },
    });
  const concealed = vacated.asDamage && (await tryAlone(vacated.asDamage));
  const isFilled = concealed !== null && concealsAll(vacated, [concealed]);
  return { alone: isFilled ? concealed : await tryAlone(vacated.edit), isFilled };
}

/** What was done to the coded pictures of a clip. */
interface Rendered {
  readonly order: DisplayOrder;
  readonly framesTotal: number;
  readonly segments: readonly Segment[];
  readonly alone: HevcStandIns;
  /** Samples whose order counts changed. */
  readonly raised: ReadonlyMap<number, ByteRange>;
  /** Key pictures after stretches of which only the header changed. */
  readonly moved: ReadonlyMap<number, ByteRange>;
}

/** Tells which pictures kept their bytes, and which may look different. */
function outcomeOf(rendered: Rendered): Omit<DoneSmartRender, 'heldFrames'> {
  const { order, framesTotal, segments, alone, raised, moved } = rendered;
  const frameOf = (sample: number) => (order.placeOf[sample] ?? 0) - order.firstShown;
  const replaced = segments.reduce((sum, { firstPlace, endPlace }) => sum + endPlace - firstPlace, 0);
  const spans = changedSpans(segments, moved, order);
  const own = new Set(alone.samples);
  const isCoded = (sample: number) =>
    own.has(sample) || moved.has(sample) || segments.some((segment) => isInStretch(segment, sample));
  const recounted = [...raised.keys()].filter((sample) => !isCoded(sample));
  const single = [...alone.samples, ...alone.staying].map(frameOf);
  const singleSpans = single.map((frame) => ({ firstFrame: frame, endFrame: frame + 1 }));
  return {
    done: true,
    framesKept: framesTotal - replaced - moved.size - alone.samples.length - recounted.length,
    framesTotal,
    ...(recounted.length > 0 && { recounted: recounted.map(frameOf) }),
    reencodedSpans: [...spans, ...singleSpans].sort((a, b) => a.firstFrame - b.firstFrame),
    altered: alone.samples.length > 0 ? null : new Set(spans.flatMap(framesOf)),
    seen: [],
  };
}

const framesOf = ({ firstFrame, endFrame }: { readonly firstFrame: number; readonly endFrame: number }) =>
  Array.from({ length: endFrame - firstFrame }, (_, at) => firstFrame + at);

/** Stretches that were encoded again, and the key pictures after them of which only the header changed. */
function changedSpans(
  segments: readonly Segment[],
  moved: ReadonlyMap<number, ByteRange>,
  order: DisplayOrder,
): { firstFrame: number; endFrame: number }[] {
  return segments.flatMap((segment) => {
    const key = moved.has(segment.endSample) ? (order.placeOf[segment.endSample] ?? 0) : null;
    const adjoins = key === segment.endPlace;
    const spans = [{ first: segment.firstPlace, end: segment.endPlace + (adjoins ? 1 : 0) }];
    if (key !== null && !adjoins) spans.push({ first: key, end: key + 1 });
    return spans.map(({ first, end }) => ({
      firstFrame: Math.max(0, first - order.firstShown),
      endFrame: Math.min(end, order.endShown) - order.firstShown,
    }));
  });
}

/** @throws HevcError when the settings of the video change near a stretch */
async function toTarget(
  source: HevcSource,
  info: MediaInfo,
  segments: readonly Segment[],
): Promise<HevcTarget | null> {
  const stream = info.video[0];
  if (!stream) return null;
  let inBandSets = source.entry.coding === 'hev1';
  for (const segment of segments) {
    for (const sample of [segment.decodeFrom.sample, segment.endSample]) {
      if (sample >= source.samples.length) continue;
      if (carriesParameterSets(source, await source.units(sample))) inBandSets = true;
    }
  }
  return {
    sps: source.sps,
    ids: source.freeIds,
    width: stream.width,
    height: stream.height,
    pixelFormat: stream.pixelFormat ?? 'yuv420p',
    frameRate: usualRate(stream.frameRate),
    lengthSize: source.lengthSize,
    inBandSets,
  };
}

/** The sample description with the parameter sets of the new pictures; null if there are none. */
function withNewSets(
  source: HevcSource,
  encoded: readonly (EncodedHevc | null)[],
  pps: Buffer | null,
): Buffer | null {
  const all = encoded.flatMap((coded) => (coded ? [coded.sets] : []));
  const [sets] = all;
  if (!sets) return pps && entryWithSets(source, [pps]);
  // All stretches share their sets, because encoder and settings are the same. Different sets cannot share ids.
  if (all.some((other) => !Buffer.concat(other).equals(Buffer.concat(sets)))) {
    throw new HevcError('The encoder changed its settings between two stretches.');
  }
  return entryWithSets(source, [...sets, ...(pps ? [pps] : [])], generalOf(sets[1]));
}

/** Pictures per second, for rate control only. */
const usualRate = (frameRate: number | null): number => Math.min(240, Math.max(1, frameRate ?? 30));
