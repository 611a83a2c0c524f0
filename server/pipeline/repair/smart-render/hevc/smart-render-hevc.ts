import type { FileHandle } from 'node:fs/promises';
import { HevcError } from '#server/media/hevc/hevc-error.ts';
import { HEVC_NAL, hevcNalType } from '#server/media/hevc/hevc-nal.ts';
import { craToBla } from '#server/media/hevc/move-units.ts';
import { type ByteRange, writeFully } from '#server/media/mp4/file-bytes.ts';
import { HEVC_WARM_UP } from '#server/media/hevc/restart.ts';
import { joinSample } from '#server/media/h264/nal.ts';
import { type DisplayOrder, displayOrder } from '#server/media/mp4/display-order.ts';
import type { MediaInfo } from '#server/media/probe/probe.ts';
import { rawFormat } from '../../rebuild-pictures/rebuild-pictures-raw.ts';
import type { SmartRenderInput, SmartRenderResult } from '../smart-render.ts';
import { findHevcCuts } from './smart-render-hevc-cuts.ts';
import { spoolFrom } from '../smart-render-encoder.ts';
import {
  encodeHevc,
  HEVC_CRF,
  shownFactor,
  generalOf,
  hevcEncoderFormats,
  type EncodedHevc,
  type HevcTarget,
} from './smart-render-hevc-encode.ts';
import { keyMessages, readRiders } from './smart-render-hevc-riders.ts';
import {
  carriesParameterSets,
  openHevcSource,
  withVacantHevc,
  type HevcSource,
} from './smart-render-hevc-source.ts';
import { entryWithSets } from './smart-render-hevc-entry.ts';
import { countedClip, multiplyCounts } from './smart-render-hevc-raise.ts';
import { unlessUnfit } from '../../unfit.ts';
import { makeHevcStandIns } from './smart-render-hevc-stand-ins.ts';
import type { PictureEdit } from '../../picture-edit.ts';
import { SPARE_BYTES } from '../exchange/smart-render-exchange-plan.ts';
import { damagedPlaces } from '../smart-render-damaged.ts';
import { createGroupDecoder } from '../smart-render-originals.ts';
import { openPixels } from '../smart-render-pixels.ts';
import type { Segment } from '../smart-render-plan.ts';
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
import { concealsAll, inOwnNumbers, withVacancies } from '../smart-render-vacancies.ts';
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
  { stream, format, spool, ...input }: RenderJob,
  { vacated, moved: raised }: PlacedClip<HevcSource>,
): Promise<PlacedResult> {
  const { source, edit } = vacated;
  const { samples, shownEdit } = source;
  const order = displayOrder(samples, shownEdit.startTicks, shownEdit.endTicks);
  const cuts = await findHevcCuts(source, order, edit);
  const hidden = cuts.find(({ sample }) => sample === 0)?.place ?? 0;
  if (order.firstShown < hidden) return declined('The video begins with pictures that cannot be decoded.');
  const frameRate = usualRate(stream.frameRate);
  const { threads } = input.limits;
  const damagedSpans = edit.filter(({ mendsDamage }) => mendsDamage).length;
  let trials = 0;
  const tryAlone = (tried: PictureEdit) =>
    makeHevcStandIns({
      ...input,
      edit: tried,
      source,
      order,
      cuts,
      damaged: damagedPlaces(tried, order),
      raw: { width: stream.width, height: stream.height, pixelFormat: format.name, frameRate },
      pictureBytes: format.pictureBytes,
      threads,
      spool,
      position: 0,
      onTrial: () => {
        trials += 1;
        input.onProgress?.(Math.min(1, trials / (TRIALS * Math.max(1, damagedSpans))));
      },
    });
  const concealed = vacated.asDamage && (await tryAlone(vacated.asDamage));
  const isFilled = concealed && concealsAll(vacated, [concealed]);
  const alone = isFilled ? concealed : await tryAlone(edit);
  const unfilled = unfilledOf(vacated, alone.samples);
  if (unfilled.size > 0) return { unfilled };
  const damaged = damagedPlaces(edit, order);
  const { plan } = alone;
  if (!plan.ok) return declined(plan.reason);
  const timing = planTimes(samples, plan.segments);
  if (!timing.ok) return declined(timing.reason);
  const target = await toTarget(source, input.info, plan.segments);
  if (!target) return declined('The video track has no decoder settings.');

  const toEncode = plan.segments.reduce((sum, segment) => sum + segment.pictures.length, 0);
  const encoded: (EncodedHevc | null)[] = [];
  const heldFrames = alone.held.map((place) => place - order.firstShown);
  const moved = new Map<number, ByteRange>();
  const take = spoolFrom(alone.position);
  let doneCount = 0;
  let spareBytes = SPARE_BYTES + samples.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  for (const [number, segment] of plan.segments.entries()) {
    const opener = await openSequence(
      source,
      segment.endSample,
      segment.endPlace < (order.placeOf[segment.endSample] ?? 0),
    );
    if (opener) {
      const offset = take(opener.length);
      await writeFully(spool, opener, offset);
      moved.set(segment.endSample, { file: spool, offset, sizeBytes: opener.length });
    }
    if (segment.pictures.length === 0) {
      encoded.push(null);
      continue;
    }
    const encodeAt = async (rateFactor: number) => {
      const decoder = createGroupDecoder({
        ...input,
        source,
        order,
        cuts,
        decodeFrom: segment.decodeFrom,
        damaged,
        pixelFormat: format.name,
        pictureBytes: format.pictureBytes,
        threads,
        warmUp: HEVC_WARM_UP,
      });
      const { workDir } = input;
      const { pictureBytes } = format;
      const pixels = openPixels(
        { decoder, workDir, pictureBytes, label: `smart-render-${number}` },
        segment.pictures.map((picture) => picture.pixels),
      );
      const before = doneCount;
      const made = await encodeHevc({
        ...input,
        target,
        pictures: pixels.pictures,
        rateFactor,
        messages: await keyMessages(source, segment),
        riders: await readRiders(source, order, segment),
        spool,
        take,
        onPicture: () => input.onProgress?.(++doneCount / toEncode),
      });
      if (made.pictures.length !== segment.pictures.length) {
        throw new HevcError('The encoder did not give one picture for each planned one.');
      }
      const sizeBytes = made.pictures.reduce((sum, { bytes }) => sum + bytes.sizeBytes, 0);
      return { coded: made, held: pixels.held, sizeBytes, before };
    };
    const showsDamage = segment.pictures.some(
      ({ pixels }) => pixels.kind === 'original' && damaged.has(pixels.frame),
    );
    const pixelCount = segment.pictures.length * stream.width * stream.height;
    let made = await encodeAt(showsDamage ? shownFactor(pixelCount, spareBytes) : HEVC_CRF);
    if (showsDamage && made.sizeBytes > spareBytes) {
      doneCount = made.before;
      made = await encodeAt(HEVC_CRF);
    }
    if (showsDamage) spareBytes = Math.max(0, spareBytes - made.sizeBytes);
    const { coded } = made;
    heldFrames.push(...made.held.map((held) => held - order.firstShown));
    encoded.push(coded);
  }
  await writeResult({
    source,
    sampleEntry: withNewSets(source, encoded, alone.pps),
    order,
    timing,
    segments: plan.segments,
    encoded,
    standIns: { samples: alone.samples, coded: alone },
    moved: new Map([...raised, ...moved]),
    shiftTotal: plan.shiftTotal,
    outputPath: input.outputPath,
    signal: input.signal,
  });
  const replaced = plan.segments.reduce((sum, segment) => sum + segment.endPlace - segment.firstPlace, 0);
  const spans = changedSpans(plan.segments, moved, order);
  const own = new Set(alone.samples);
  const isCoded = (sample: number) =>
    own.has(sample) || moved.has(sample) || plan.segments.some((segment) => isReplaced(segment, sample));
  const recounted = [...raised.keys()].filter((sample) => !isCoded(sample));
  const result = inOwnNumbers(vacated, {
    done: true,
    framesKept: samples.length - replaced - moved.size - alone.samples.length - recounted.length,
    framesTotal: samples.length,
    ...(recounted.length > 0 && {
      recounted: recounted.map((sample) => (order.placeOf[sample] ?? 0) - order.firstShown),
    }),
    reencodedSpans: [
      ...spans,
      ...[...alone.samples, ...alone.staying].map((sample) => {
        const frame = (order.placeOf[sample] ?? 0) - order.firstShown;
        return { firstFrame: frame, endFrame: frame + 1 };
      }),
    ].sort((a, b) => a.firstFrame - b.firstFrame),
    heldFrames,
    altered: alone.samples.length > 0 ? null : new Set(spans.flatMap(framesOf)),
    seen: [],
    ...(isFilled && { concealedLost: vacated.besideDamage }),
  });
  return { result };
}

const isReplaced = ({ firstSample, endSample, leaning }: Segment, sample: number): boolean =>
  (sample >= firstSample && sample < endSample) || leaning.includes(sample);

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

/** Rewrites the sample after a stretch to begin a new sequence, if it only continues the one before it (CRA). */
async function openSequence(source: HevcSource, sample: number, leads: boolean): Promise<Buffer | null> {
  if (sample >= source.samples.length) return null;
  const units = await source.units(sample);
  if (!units.some((unit) => hevcNalType(unit) === HEVC_NAL.cra)) return null;
  const bla = units.map((unit) => (hevcNalType(unit) === HEVC_NAL.cra ? craToBla(unit, leads) : unit));
  return joinSample(bla, source.lengthSize);
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
