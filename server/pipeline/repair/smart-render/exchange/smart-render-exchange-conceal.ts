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

/** A stretch that decodes without a complaint, with verbatim pictures in place of damaged ones. */
export interface ConcealedStretch {
  readonly part: Part;
  /** In decode order. */
  readonly damaged: readonly DamagedSample[];
  /** By sample of the original. */
  readonly coded: ReadonlyMap<number, EncodedPicture>;
  /** Damaged samples of which a decoder shows nothing. */
  readonly missing: ReadonlySet<number>;
  /** Whether those are coded as moved blocks instead of sample by sample. */
  readonly areMoved: boolean;
  /** Damaged pictures with a readable part that keeps its data (`tornSample`), by sample. */
  readonly torn: ReadonlyMap<number, TornPicture>;
  /** What the decode of the unchanged part showed around the first damaged picture. */
  readonly around: ShownBefore | null;
  /** Small pictures of the samples that may look different from what the analysis saw. */
  readonly seen: SeenPictures;
}

/**
 * Conceals damaged pictures closer to the truth than the decoder does (`concealPicture`), and with them everything that
 * refers to them, because the data of those pictures are intact.
 * @param stretch with the decoder's pictures in place of the damaged ones
 * @returns null if none could be concealed, or the result fails its check (`prove`)
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
    // After a better picture, the decoder shows a better one too.
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

/** The picture shown before a damaged one, from which it is concealed, if it is a reference. */
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

/** A lost picture as blocks moved from a reference; null if there is none. */
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

/** Most change of pictures that refer to the concealed ones, as a multiple of those ones' change. */
const MOST_GROWTH = 3;
/** Noise of the measure by which the last picture may fit the next key picture worse. */
const SEAM_NOISE = 1.02;

/**
 * Checks a stretch with the strictest decoding. There must be no complaint. Pictures must not change much more than the
 * concealed ones, which would mean that they now refer to others. The last one must fit the next intact key picture at
 * least as well.
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
