import { open, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { smallSize } from '#server/media/grey/grey-frame.ts';
import { readUpTo } from '#server/media/mp4/file-bytes.ts';
import { rawFormat } from '../../rebuild-pictures/rebuild-pictures-raw.ts';
import type { EncodedPicture } from '../smart-render-encoder.ts';
import { presentSamples, type Part } from '../smart-render-part.ts';
import type { SeenPictures } from '../smart-render-seen.ts';
import type { TornPicture } from '#server/media/h264/slice-data/torn-picture.ts';
import { tornSample, type MovedFrom } from '../smart-render-torn.ts';
import { movedSample, verbatimSample } from '../smart-render-verbatim.ts';
import {
  concealFirst,
  keyBehind,
  MOST_CONCEALED,
  type Concealed,
  type ConcealStep,
  type ShownBefore,
} from './smart-render-exchange-around.ts';
import { decodePart, isComplaint } from './smart-render-exchange-decode.ts';
import { HARDLY_CHANGED, squareError } from './smart-render-exchange-likeness.ts';
import type { DamagedSample } from './smart-render-exchange-plan.ts';

/** A stretch that decodes without a complaint, with verbatim pictures in the places of damaged ones. */
export interface ConcealedStretch {
  readonly part: Part;
  /** Decode order. */
  readonly damaged: readonly DamagedSample[];
  /** By sample of the original. */
  readonly coded: ReadonlyMap<number, EncodedPicture>;
  /** Damaged samples of which a decoder shows nothing. */
  readonly missing: ReadonlySet<number>;
  /** Whether those are coded as blocks that are moved, and not sample by sample. */
  readonly areMoved: boolean;
  /** Damaged pictures of which a part can be read and keeps its data (`tornSample`), by sample. */
  readonly torn: ReadonlyMap<number, TornPicture>;
  /** What the decode of the part as it is showed around the first damaged picture. */
  readonly around: ShownBefore | null;
  /** Small pictures of the samples that may look different from what the analysis saw. */
  readonly seen: SeenPictures;
}

/**
 * Conceals damaged pictures nearer to the truth than the decoder does (`concealPicture`), and with them all that decodes from them:
 * the data of those are whole.
 * @param stretch with what the decoder shows in the places of the damaged pictures
 * @returns null where none could be concealed, or where it does not prove itself (`prove`)
 * @throws MediaToolError when ffmpeg fails or the run is cancelled
 */
export async function concealAnew(
  step: ConcealStep,
  stretch: ConcealedStretch,
): Promise<ConcealedStretch | null> {
  const { sps } = step.source;
  const format = rawFormat(step.pixelFormat, 16 * sps.widthMbs, 16 * sps.heightMbs);
  if (format?.bytesPerSample !== 1 || stretch.damaged.length > MOST_CONCEALED) return null;
  const coded = new Map(stretch.coded);
  let isBetter = false;
  for (const [at, item] of stretch.damaged.entries()) {
    const left = stretch.damaged.slice(at).map(({ sample }) => sample);
    const { missing, areMoved } = stretch;
    const shown = at === 0 ? stretch.around : null;
    const state = { coded, open: left, missing, areMoved, format, shown };
    const made = await concealFirst(step, stretch.part, state);
    const bytesMoved = made?.moved && (await movedBytes(step, stretch.damaged, item, made.moved));
    isBetter ||= Boolean(made?.concealed ?? bytesMoved);
    if (bytesMoved) coded.set(item.sample, await step.store(item.sample, bytesMoved));
    if (areMoved && missing.has(item.sample)) continue;
    // Behind a better picture the decoder shows a better one too.
    const pixels = isBetter ? (made?.concealed ?? made?.decoded) : undefined;
    if (!pixels) continue;
    const torn = stretch.torn.get(item.sample);
    const readable =
      torn && made
        ? tornSample(step.source, torn, item, {
            pixels,
            from: await movedFrom(step, stretch.damaged, item, made),
            firstLost: made.lost?.first,
          })
        : null;
    const bytes = readable ?? (await verbatimSample(step.source, item, pixels, step.pps));
    coded.set(item.sample, await step.store(item.sample, bytes));
  }
  return isBetter ? prove(step, { ...stretch, coded }) : null;
}

/** The picture shown in front that a damaged one is concealed from, where that is a reference. */
async function movedFrom(
  { source }: ConcealStep,
  damaged: readonly DamagedSample[],
  { sample }: DamagedSample,
  { before }: Concealed,
): Promise<MovedFrom | null> {
  if (!before) return null;
  const head =
    damaged.find((one) => one.sample === before.sample)?.head ?? (await source.head(before.sample));
  return head && head.refIdc > 0 && before.sample < sample
    ? { pixels: before.pixels, frameNum: head.frameNum }
    : null;
}

/** A lost picture as blocks that are moved from a reference; null where that is none. */
async function movedBytes(
  { source, pps }: ConcealStep,
  damaged: readonly DamagedSample[],
  item: DamagedSample,
  { motion, from }: NonNullable<Concealed['moved']>,
): Promise<Buffer | null> {
  const head = damaged.find(({ sample }) => sample === from)?.head ?? (await source.head(from));
  if (!head || head.refIdc === 0) return null;
  return movedSample(source, item, { motion, fromFrameNum: head.frameNum }, pps);
}

/** How many times as much as the concealed pictures those made of them may change. */
const MOST_GROWTH = 3;
/** How much worse the last picture may go with the key picture behind it, as noise of the measure. */
const SEAM_NOISE = 1.02;

/**
 * Decodes a stretch as strictly as the decoder can. It must not complain, pictures must not change by much more than the concealed
 * ones, which would mean that they refer to others now, and the last one must go with the whole key picture behind at least as well.
 */
async function prove(step: ConcealStep, stretch: ConcealedStretch): Promise<ConcealedStretch | null> {
  const { part, coded, damaged, seen: old } = stretch;
  const key = keyBehind(step.source, part);
  const whole = key === null ? part : { ...part, end: part.end + 1 };
  const all = presentSamples(step.source, whole, coded);
  const wanted = {
    path: path.join(step.workDir, `${step.name}-concealed.small`),
    samples: all.filter((sample) => sample >= (damaged[0]?.sample ?? 0)),
  };
  let complaints = 0;
  const onLine = (line: string) => {
    if (isComplaint(line)) complaints += 1;
  };
  const replaced = { coded, pps: step.pps.unit, onLine };
  const { places, seen } = await decodePart({ ...step, onShare: undefined }, whole, {
    replaced,
    small: wanted,
  });
  if (!seen || complaints > 0 || places.length !== all.length) return null;
  const [was, is] = [await openSmall(step, old), await openSmall(step, seen)];
  try {
    let [mostConcealed, mostChanged] = [0, 0];
    for (const sample of old.samples) {
      const change = difference(await was.read(sample), await is.read(sample));
      if (change === null) return null;
      if (damaged.some((one) => one.sample === sample)) mostConcealed = Math.max(mostConcealed, change);
      mostChanged = Math.max(mostChanged, change);
    }
    if (mostChanged > MOST_GROWTH * mostConcealed + HARDLY_CHANGED) return null;
    const { order } = step;
    const last = key === null ? undefined : order.samples[(order.placeOf[key] ?? 0) - 1];
    if (key !== null && last !== undefined) {
      const next = await is.read(key);
      const [seam, seamBefore] = [
        difference(await is.read(last), next),
        difference(await was.read(last), next),
      ];
      if (seam !== null && seamBefore !== null && seam > SEAM_NOISE * seamBefore) return null;
    }
  } finally {
    await was.file.close();
    await is.file.close();
  }
  return { ...stretch, seen: { ...seen, samples: seen.samples.filter((sample) => sample !== key) } };
}

interface SmallPictures {
  readonly file: FileHandle;
  /** Null for a sample that is not among them. */
  readonly read: (sample: number) => Promise<Uint8Array | null>;
}

async function openSmall(
  { shown }: ConcealStep,
  { path: from, samples }: SeenPictures,
): Promise<SmallPictures> {
  const file = await open(from);
  const { width, height } = smallSize(shown.width, shown.height);
  const sizeBytes = width * height;
  const read = async (sample: number) => {
    const at = samples.indexOf(sample);
    return at < 0 ? null : readUpTo(file, at * sizeBytes, sizeBytes);
  };
  return { file, read };
}

const difference = (a: Uint8Array | null, b: Uint8Array | null): number | null =>
  a && b && a.length === b.length ? squareError(a, b) : null;
