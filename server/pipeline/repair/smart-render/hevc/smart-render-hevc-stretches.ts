import { joinSample } from '#server/media/h264/nal.ts';
import { HevcError } from '#server/media/hevc/hevc-error.ts';
import { HEVC_NAL, hevcNalType } from '#server/media/hevc/hevc-nal.ts';
import { craToBla } from '#server/media/hevc/move-units.ts';
import { HEVC_WARM_UP } from '#server/media/hevc/restart.ts';
import type { DisplayOrder } from '#server/media/mp4/display-order.ts';
import { type ByteRange, writeFully } from '#server/media/mp4/file-bytes.ts';
import { SPARE_BYTES } from '../exchange/smart-render-exchange-plan.ts';
import { spoolFrom } from '../smart-render-encoder.ts';
import { createGroupDecoder } from '../smart-render-originals.ts';
import { openPixels } from '../smart-render-pixels.ts';
import type { Cut, Segment } from '../smart-render-plan.ts';
import type { RenderJob } from '../smart-render-raised.ts';
import {
  encodeHevc,
  HEVC_CRF,
  shownFactor,
  type EncodedHevc,
  type HevcTarget,
} from './smart-render-hevc-encode.ts';
import { keyMessages, readRiders } from './smart-render-hevc-riders.ts';
import type { HevcSource } from './smart-render-hevc-source.ts';

export interface StretchesInput extends RenderJob {
  readonly source: HevcSource;
  readonly order: DisplayOrder;
  readonly cuts: readonly Cut[];
  /** Places of damaged pictures. */
  readonly damaged: ReadonlySet<number>;
  readonly target: HevcTarget;
  readonly segments: readonly Segment[];
  /** First free byte of the spool file. */
  readonly position: number;
}

export interface EncodedStretches {
  /** One for each stretch; null if it only removes. */
  readonly encoded: readonly (EncodedHevc | null)[];
  /** Key pictures after stretches that begin a new sequence now. */
  readonly moved: ReadonlyMap<number, ByteRange>;
  /** Places of originals that could not be decoded. */
  readonly heldPlaces: readonly number[];
}

/**
 * Encodes the stretches of a plan one after the other, each as a coded video sequence of its own.
 * @throws HevcError when a stretch cannot be joined; MediaToolError when ffmpeg fails or the run is cancelled
 */
export async function encodeStretches(input: StretchesInput): Promise<EncodedStretches> {
  const { source, order, segments, spool, stream } = input;
  const take = spoolFrom(input.position);
  const toEncode = segments.reduce((sum, { pictures }) => sum + pictures.length, 0);
  const encoded: (EncodedHevc | null)[] = [];
  const heldPlaces: number[] = [];
  const moved = new Map<number, ByteRange>();
  let encodedBefore = 0;
  let spareBytes = SPARE_BYTES + source.samples.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  for (const [number, segment] of segments.entries()) {
    const leads = segment.endPlace < (order.placeOf[segment.endSample] ?? 0);
    const opener = await openSequence(source, segment.endSample, leads);
    if (opener) {
      const offset = take(opener.length);
      await writeFully(spool, opener, offset);
      moved.set(segment.endSample, { file: spool, offset, sizeBytes: opener.length });
    }
    const { length } = segment.pictures;
    if (length === 0) {
      encoded.push(null);
      continue;
    }
    const onCount = (count: number) => input.onProgress?.((encodedBefore + count) / toEncode);
    const encodeAt = (rateFactor: number) =>
      encodeStretch(input, segment, { number, rateFactor, take, onCount });
    const isShown = showsDamage(input, segment);
    const factor = isShown ? shownFactor(length * stream.width * stream.height, spareBytes) : HEVC_CRF;
    let made = await encodeAt(factor);
    if (isShown && made.sizeBytes > spareBytes) made = await encodeAt(HEVC_CRF);
    if (isShown) spareBytes = Math.max(0, spareBytes - made.sizeBytes);
    encodedBefore += length;
    heldPlaces.push(...made.heldPlaces);
    encoded.push(made.coded);
  }
  return { encoded, moved, heldPlaces };
}

/** Whether a stretch shows damaged pictures as the decoder does (`shownFactor`). */
const showsDamage = ({ damaged }: StretchesInput, { pictures }: Segment): boolean =>
  pictures.some(({ pixels }) => pixels.kind === 'original' && damaged.has(pixels.frame));

interface StretchRun {
  /** Number of the stretch, for the names of its files. */
  readonly number: number;
  readonly rateFactor: number;
  readonly take: ReturnType<typeof spoolFrom>;
  /** Called with the number of pictures of the stretch that are encoded. */
  readonly onCount: (count: number) => void;
}

async function encodeStretch(
  input: StretchesInput,
  segment: Segment,
  { number, rateFactor, take, onCount }: StretchRun,
): Promise<{ coded: EncodedHevc; heldPlaces: readonly number[]; sizeBytes: number }> {
  const { source, order, format, workDir, target, spool } = input;
  const { name: pixelFormat, pictureBytes } = format;
  const decoder = createGroupDecoder({
    ...input,
    decodeFrom: segment.decodeFrom,
    pixelFormat,
    pictureBytes,
    threads: input.limits.threads,
    warmUp: HEVC_WARM_UP,
  });
  const pixels = openPixels(
    { decoder, workDir, pictureBytes, label: `smart-render-${number}` },
    segment.pictures.map((picture) => picture.pixels),
  );
  let count = 0;
  const coded = await encodeHevc({
    ...input,
    target,
    pictures: pixels.pictures,
    rateFactor,
    messages: await keyMessages(source, segment),
    riders: await readRiders(source, order, segment),
    spool,
    take,
    onPicture: () => onCount(++count),
  });
  if (coded.pictures.length !== segment.pictures.length) {
    throw new HevcError('The encoder did not give one picture for each planned one.');
  }
  const sizeBytes = coded.pictures.reduce((sum, { bytes }) => sum + bytes.sizeBytes, 0);
  return { coded, heldPlaces: pixels.held, sizeBytes };
}

/** Rewrites the sample after a stretch to begin a new sequence, if it only continues the one before it (CRA). */
async function openSequence(source: HevcSource, sample: number, leads: boolean): Promise<Buffer | null> {
  if (sample >= source.samples.length) return null;
  const units = await source.units(sample);
  if (!units.some((unit) => hevcNalType(unit) === HEVC_NAL.cra)) return null;
  const bla = units.map((unit) => (hevcNalType(unit) === HEVC_NAL.cra ? craToBla(unit, leads) : unit));
  return joinSample(bla, source.lengthSize);
}
