import { H264Error } from '#server/media/h264/h264-error.ts';
import { isSlice } from '#server/media/h264/nal.ts';
import { verbatimLevel } from '#server/media/h264/levels.ts';
import { pcmMacroblockBytes } from '#server/media/h264/pcm-picture.ts';
import type { PcmHead } from '#server/media/h264/slice-data/stand-in-head.ts';
import { readMarking, SLIDING_WINDOW, type ReferenceMarking } from '#server/media/h264/reference-marking.ts';
import type { SliceHeader } from '#server/media/h264/slice-header.ts';
import type { Sps } from '#server/media/h264/sps.ts';
import type { DisplayOrder } from '#server/media/mp4/display-order.ts';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';
import { median } from '#server/media/statistics.ts';
import type { ChangedSpan, PictureEdit } from '../../picture-edit.ts';
import { createHeadPlacer, isNewStart } from './smart-render-exchange-heads.ts';
import { inferMarkings } from './smart-render-exchange-markings.ts';
import type { Cut } from '../smart-render-plan.ts';
import type { SmartSource } from '../smart-render-source.ts';

/** A damaged coded picture, and the header numbers that its place in the stream requires. */
export interface DamagedSample {
  readonly sample: number;
  readonly head: PcmHead;
}

/**
 * Damaged stretches that are kept as the decoder conceals them. Only pictures whose own data are damaged are exchanged,
 * for exactly the samples that the decoder makes of them; all others are carried over as they are.
 */
export interface ExchangeCandidate {
  readonly spans: readonly ChangedSpan[];
  readonly damaged: readonly DamagedSample[];
  /** One past the last sample of the stretch, decode order. */
  readonly endSample: number;
}

/**
 * Limits for verbatim pictures, which cost a byte a sample: together they may double the pictures of a clip, and a
 * little more.
 */
export const SPARE_BYTES = 4 << 20;
const MOST_BYTES = 64 << 20;

/** Bytes of one verbatim picture. */
export function verbatimBytes(sps: Sps): number {
  return sps.widthMbs * sps.heightMbs * pcmMacroblockBytes(sps);
}

/** A span whose pictures all keep their places. */
interface KeptSpan {
  readonly span: ChangedSpan;
  /**
   * Its samples, and those whose own data are damaged, decode order; none of these if only references of it are
   * damaged.
   */
  readonly all: readonly number[];
  readonly damaged: readonly number[];
}

/** Each list has those first that keep most. */
export interface ExchangeCandidates {
  /**
   * All spans between the same two cuts together, because they suffer from each other's damage; no two of them share a
   * picture.
   */
  readonly together: readonly ExchangeCandidate[];
  /** Each of several such spans alone, in case that fails. */
  readonly alone: readonly ExchangeCandidate[];
}

/** The spans of an edit whose damaged pictures can be exchanged alone. */
export async function planExchanges(
  source: SmartSource,
  order: DisplayOrder,
  edit: PictureEdit,
  cuts: readonly Cut[],
): Promise<ExchangeCandidates> {
  if (source.sps.bitDepthLuma !== 8) return { together: [], alone: [] };
  const groups = new Map<Cut | undefined, KeptSpan[]>();
  let shift = 0;
  for (const span of edit) {
    const kept = keptSamples(source, order, span, shift);
    if (kept) {
      const first = Math.min(...kept.all);
      const cut = cuts.findLast(({ sample }) => sample <= first);
      groups.set(cut, [...(groups.get(cut) ?? []), kept]);
    }
    shift += span.shiftAfterTicks;
  }
  const between = [...groups.values()];
  const each = between.flatMap((spans) => (spans.length > 1 ? spans.map((kept) => [kept]) : []));
  const share = ({ spans, damaged }: ExchangeCandidate) =>
    damaged.length / spans.reduce((sum, { pictures }) => sum + pictures.length, 0);
  const candidates = async (list: readonly (readonly KeptSpan[])[]) => {
    const made = await Promise.all(list.map((spans) => toCandidate(source, order, spans)));
    return made.flatMap((one) => one ?? []).sort((a, b) => share(a) - share(b));
  };
  return { together: await candidates(between), alone: await candidates(each) };
}

async function toCandidate(
  source: SmartSource,
  order: DisplayOrder,
  kept: readonly KeptSpan[],
): Promise<ExchangeCandidate | null> {
  const samples = kept.flatMap(({ damaged }) => damaged).sort((a, b) => a - b);
  if (samples.length === 0) return null;
  const damaged = await damagedSamples(source, order, samples);
  const endSample = 1 + Math.max(...kept.flatMap(({ all }) => all));
  return damaged && { spans: kept.map(({ span }) => span), damaged, endSample };
}

/** Bytes that all verbatim pictures of a clip may take; 0 if no level allows their size. */
export function verbatimBudget(source: Pick<SmartSource, 'samples' | 'sps' | 'track'>): number {
  if (levelWithVerbatim(source) === null) return 0;
  return Math.min(
    MOST_BYTES,
    SPARE_BYTES + source.samples.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
  );
}

/** Level of the clip with verbatim pictures; null if none allows them. */
export function levelWithVerbatim({
  samples,
  sps,
  track,
}: Pick<SmartSource, 'samples' | 'sps' | 'track'>): number | null {
  const interval = median(samples.map(({ durationTicks }) => durationTicks));
  return verbatimLevel(sps, interval / track.timescale);
}

/** The numbers of intact pictures by their own headers; null if one cannot be read. */
export async function readNumbers(
  source: SmartSource,
  samples: readonly number[],
): Promise<DamagedSample[] | null> {
  const found: DamagedSample[] = [];
  for (const sample of samples) {
    const head = await source.head(sample);
    if (!head || head.idr) return null;
    found.push({
      sample,
      head: { ...head, marking: (await markingOf(source, sample, head, head)) ?? SLIDING_WINDOW },
    });
  }
  return found;
}

/** Samples of a span whose pictures all keep their places; null if it changes more than that. */
function keptSamples(
  source: SmartSource,
  order: DisplayOrder,
  span: ChangedSpan,
  shift: number,
): KeptSpan | null {
  const count = span.endFrame - span.firstFrame;
  if (count === 0 || span.pictures.length !== count || span.shiftAfterTicks !== 0) return null;
  const hidden = hiddenSamples(order, span);
  const all = [...hidden];
  const damaged = [...hidden];
  for (const [index, { ptsTicks, pixels }] of span.pictures.entries()) {
    if (pixels.kind !== 'original' || pixels.frame !== span.firstFrame + index) return null;
    const sample = order.samples[pixels.frame + order.firstShown];
    const old = sample === undefined ? undefined : source.samples[sample];
    if (sample === undefined || !old || ptsTicks - source.shownEdit.offsetTicks !== old.pts + shift)
      return null;
    all.push(sample);
    if (pixels.intact !== true) damaged.push(sample);
  }
  return { span, all, damaged };
}

/**
 * Damaged samples that an edit list hides in the group of a span; a decoder that reaches the span complains about them.
 */
export function hiddenSamples(order: DisplayOrder, { hiddenFrames = [] }: ChangedSpan): number[] {
  return hiddenFrames.flatMap((frame) => order.samples[frame + order.firstShown] ?? []);
}

/** Numbers of damaged pictures in decode order; null if the stream does not tell them. */
export async function damagedSamples(
  source: SmartSource,
  order: DisplayOrder,
  samples: readonly number[],
): Promise<DamagedSample[] | null> {
  const placer = createHeadPlacer(source, order, new Set(samples));
  const damaged: DamagedSample[] = [];
  const lost = new Set<number>();
  for (const sample of samples) {
    const read = await placer.headOf(sample);
    const head = (await isNewStart(source, order, sample))
      ? keyHead(source.sps, read)
      : (await placer.place(sample))?.head;
    if (!head) return null;
    const marking = await markingOf(source, sample, head, read);
    if (!marking && head.refIdc > 0) lost.add(sample);
    damaged.push({ sample, head: { ...head, marking: marking ?? SLIDING_WINDOW } });
  }
  return inferMarkings(source, order, damaged, lost);
}

/** The numbers restart at an IDR picture and are 0. Only its id matters, which must differ from its neighbours'. */
function keyHead(sps: Sps, read: SliceHeader | null): SliceHeader | null {
  if (!read?.idr || read.frameNum !== 0 || read.refIdc === 0 || (read.idrPicId ?? 0) > 65_535) return null;
  return { ...read, pocLsb: sps.pocType === 0 ? (read.pocLsb ?? 0) : null };
}

/** The reference marking in a picture's header; null if it cannot be read, or no picture refers to it. */
async function markingOf(
  source: SmartSource,
  sample: number,
  head: SliceHeader,
  read: SliceHeader | null,
): Promise<ReferenceMarking | null> {
  const pps = source.pps.find(({ id }) => id === read?.ppsId);
  if (!pps || head.refIdc === 0 || !read || read.frameNum !== head.frameNum) return null;
  try {
    const slice = (await source.units(sample)).find(isSlice);
    return slice ? readMarking(slice, { sps: source.sps, pps }) : null;
  } catch (error) {
    if (error instanceof H264Error || error instanceof Mp4Error) return null;
    throw error;
  }
}

/** Number of damaged samples whose header cannot be read, so that no decoder shows anything of them. */
export async function countUnreadable(
  source: Pick<SmartSource, 'head'>,
  damaged: readonly DamagedSample[],
): Promise<number> {
  const heads = await Promise.all(damaged.map(({ sample }) => source.head(sample)));
  return heads.filter((head) => head === null).length;
}

/**
 * The first sample that may look different. After samples that were replaced before, this may be any of the spans;
 * otherwise only what refers to damage.
 */
export function firstAltered(
  source: Pick<SmartSource, 'replaced'>,
  order: DisplayOrder,
  { damaged, spans }: ExchangeCandidate,
): number {
  const [first] = damaged;
  return Math.min(first?.sample ?? 0, ...(source.replaced ? samplesOfSpans(order, spans) : []));
}

/** Samples of the pictures in some spans. */
export function samplesOfSpans(order: DisplayOrder, spans: readonly ChangedSpan[]): ReadonlySet<number> {
  return new Set(
    spans.flatMap(({ firstFrame, endFrame }) =>
      order.samples.slice(firstFrame + order.firstShown, endFrame + order.firstShown),
    ),
  );
}
