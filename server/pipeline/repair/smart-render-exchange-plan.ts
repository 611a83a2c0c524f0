import { H264Error } from '#server/media/h264/h264-error.ts';
import { isSlice } from '#server/media/h264/nal.ts';
import { type PcmHead, pcmMacroblockBytes } from '#server/media/h264/pcm-picture.ts';
import { readMarking, SLIDING_WINDOW, type ReferenceMarking } from '#server/media/h264/reference-marking.ts';
import type { SliceHeader } from '#server/media/h264/slice-header.ts';
import type { Sps } from '#server/media/h264/sps.ts';
import type { DisplayOrder } from '#server/media/mp4/display-order.ts';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';
import type { ChangedSpan, PictureEdit } from './picture-edit.ts';
import type { SmartSource } from './smart-render-source.ts';

/** A damaged coded picture and the numbers that its place in the stream asks for. */
export interface DamagedSample {
  readonly sample: number;
  readonly head: PcmHead;
}

/**
 * A damaged stretch that is kept as the decoder conceals it: only the pictures whose own data are damaged are
 * exchanged, for the very samples that the decoder makes of them; all others are carried over as they are.
 */
export interface ExchangeCandidate {
  readonly span: ChangedSpan;
  readonly damaged: readonly DamagedSample[];
  /** One past the last sample of the stretch, decode order. */
  readonly endSample: number;
}

/** Verbatim pictures cost a byte a sample; together they may double the pictures of a clip, and a little more. */
const SPARE_BYTES = 4 << 20;
const MOST_BYTES = 64 << 20;

/** Bytes of one verbatim picture. */
export function verbatimBytes(sps: Sps): number {
  return sps.widthMbs * sps.heightMbs * pcmMacroblockBytes(sps);
}

/** The spans of an edit whose damaged pictures can be exchanged alone, those that keep most first. */
export async function planExchanges(
  source: SmartSource,
  order: DisplayOrder,
  edit: PictureEdit,
): Promise<ExchangeCandidate[]> {
  const { sps } = source;
  if (sps.bitDepthLuma !== 8) return [];
  const found: ExchangeCandidate[] = [];
  let shift = 0;
  for (const span of edit) {
    const samples = keptSamples(source, order, span, shift);
    if (samples) {
      const damaged = await damagedSamples(source, order, samples.damaged);
      if (damaged) found.push({ span, damaged, endSample: 1 + Math.max(...samples.all) });
    }
    shift += span.shiftAfterTicks;
  }
  const share = ({ span, damaged }: ExchangeCandidate) => damaged.length / span.pictures.length;
  return found.sort((a, b) => share(a) - share(b));
}

/** Bytes that all verbatim pictures of a clip may take. */
export function verbatimBudget({ samples }: Pick<SmartSource, 'samples'>): number {
  return Math.min(MOST_BYTES, SPARE_BYTES + samples.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0));
}

/** The numbers of whole pictures as their own headers say them; null when one cannot be read. */
export async function readNumbers(
  source: SmartSource,
  samples: readonly number[],
): Promise<DamagedSample[] | null> {
  const found: DamagedSample[] = [];
  for (const sample of samples) {
    const head = await source.head(sample);
    if (!head || head.idr) return null;
    found.push({ sample, head: { ...head, marking: await markingOf(source, sample, head, head) } });
  }
  return found;
}

/** Samples of a span whose pictures all stay in their place; null when it changes more than that. */
function keptSamples(
  source: SmartSource,
  order: DisplayOrder,
  span: ChangedSpan,
  shift: number,
): { all: number[]; damaged: number[] } | null {
  const count = span.endFrame - span.firstFrame;
  if (count === 0 || span.pictures.length !== count || span.shiftAfterTicks !== 0) return null;
  const all: number[] = [];
  const damaged: number[] = [];
  for (const [index, { ptsTicks, pixels }] of span.pictures.entries()) {
    if (pixels.kind !== 'original' || pixels.frame !== span.firstFrame + index) return null;
    const sample = order.samples[pixels.frame + order.firstShown];
    const old = sample === undefined ? undefined : source.samples[sample];
    if (sample === undefined || !old || ptsTicks - source.shownEdit.offsetTicks !== old.pts + shift)
      return null;
    all.push(sample);
    if (pixels.intact !== true) damaged.push(sample);
  }
  return damaged.length === 0 ? null : { all, damaged: damaged.sort((a, b) => a - b) };
}

/** Numbers of damaged pictures in decode order; null where the stream does not tell them. */
async function damagedSamples(
  source: SmartSource,
  order: DisplayOrder,
  samples: readonly number[],
): Promise<DamagedSample[] | null> {
  const found = new Map<number, SliceHeader>();
  const bad = new Set(samples);
  const heads = new Map<number, SliceHeader | null>();
  const headOf = async (sample: number) => {
    const known = heads.get(sample);
    if (known !== undefined) return known;
    const head = sample < 0 || sample >= source.samples.length ? null : await source.head(sample);
    heads.set(sample, head);
    return head;
  };
  const damaged: DamagedSample[] = [];
  for (const sample of samples) {
    const read = await headOf(sample);
    const isKey = source.samples[sample]?.sync === true && read?.idr !== false;
    const before = found.get(sample - 1) ?? (await headOf(sample - 1));
    const next = bad.has(sample + 1) ? null : await headOf(sample + 1);
    const head = isKey
      ? keyHead(source.sps, read)
      : await placedHead(source, order, sample, { read, before, next, bad, headOf });
    if (!head) return null;
    found.set(sample, head);
    const marking = await markingOf(source, sample, head, read);
    damaged.push({ sample, head: { ...head, marking } });
  }
  return damaged;
}

/** An IDR picture begins anew: its numbers are 0, and only its id matters, which must differ from its neighbours'. */
function keyHead(sps: Sps, read: SliceHeader | null): SliceHeader | null {
  if (!read?.idr || read.frameNum !== 0 || read.refIdc === 0 || (read.idrPicId ?? 0) > 65_535) return null;
  return { ...read, pocLsb: sps.pocType === 0 ? (read.pocLsb ?? 0) : null };
}

interface Around {
  readonly read: SliceHeader | null;
  readonly before: SliceHeader | null;
  readonly next: SliceHeader | null;
  readonly bad: ReadonlySet<number>;
  readonly headOf: (sample: number) => Promise<SliceHeader | null>;
}

/**
 * The numbers of a picture that is no key picture: the frame number follows from the picture decoded before, whether
 * it is a reference from the number behind (ITU-T H.264, 7.4.3), its order count from its neighbours in display.
 */
async function placedHead(
  { sps }: SmartSource,
  order: DisplayOrder,
  sample: number,
  { read, before, next, bad, headOf }: Around,
): Promise<SliceHeader | null> {
  if (!before) return null;
  const range = 2 ** sps.frameNumBits;
  const frameNum = (before.frameNum + (before.refIdc > 0 ? 1 : 0)) % range;
  const isTrusted = read !== null && !read.idr && read.frameNum === frameNum;
  let refIdc = isTrusted ? read.refIdc : 1;
  if (next && !next.idr) {
    const step = (next.frameNum - frameNum + range) % range;
    if (step > 1) return null;
    if (step === 0 && refIdc > 0) refIdc = 0;
    else if (step === 1 && refIdc === 0) refIdc = 1;
  }
  const pocLsb = sps.pocType === 0 ? await placedCount(sps, order, sample, bad, headOf) : null;
  if (sps.pocType === 0 && pocLsb === null) return null;
  return { idr: false, refIdc, firstMb: 0, kind: 'I', ppsId: 0, frameNum, idrPicId: null, pocLsb };
}

/** Pictures to each side among which an order count is looked for. */
const NEAR = 16;

/** The order count that lies as far between its neighbours' as the picture does in display. */
async function placedCount(
  sps: Sps,
  order: DisplayOrder,
  sample: number,
  bad: ReadonlySet<number>,
  headOf: (sample: number) => Promise<SliceHeader | null>,
): Promise<number | null> {
  const place = order.placeOf[sample] ?? 0;
  const range = 2 ** sps.pocBits;
  const look = async (side: 1 | -1) => {
    const known: { away: number; count: number }[] = [];
    for (let away = side; Math.abs(away) <= NEAR && known.length < 2; away += side) {
      const other = order.samples[place + away];
      const head = other === undefined || bad.has(other) ? null : await headOf(other);
      // A key picture behind begins a new count.
      if (other === undefined || (side > 0 && head?.idr)) break;
      if (head && head.pocLsb !== null) known.push({ away, count: head.pocLsb });
      if (head?.idr) break;
    }
    return known;
  };
  const [left, right] = [await look(-1), await look(1)];
  const [one, other] = left[0] && right[0] ? [left[0], right[0]] : left.length > 0 ? left : right;
  if (!one) return null;
  if (!other) return wrap(one.count - 2 * one.away, range);
  const away = other.away - one.away;
  const rise = wrap(Math.sign(away) * (other.count - one.count), range);
  const step = rise / Math.abs(away);
  return step === 1 || step === 2 ? wrap(one.count - step * one.away, range) : null;
}

const wrap = (value: number, range: number) => ((value % range) + range) % range;

/** How the picture marks references: as its header says where that can be read, else the usual way. */
async function markingOf(
  source: SmartSource,
  sample: number,
  head: SliceHeader,
  read: SliceHeader | null,
): Promise<ReferenceMarking> {
  const pps = source.pps.find(({ id }) => id === read?.ppsId);
  if (!pps || head.refIdc === 0 || !read || read.frameNum !== head.frameNum) return SLIDING_WINDOW;
  try {
    const slice = (await source.units(sample)).find(isSlice);
    return slice ? readMarking(slice, { sps: source.sps, pps }) : SLIDING_WINDOW;
  } catch (error) {
    if (error instanceof H264Error || error instanceof Mp4Error) return SLIDING_WINDOW;
    throw error;
  }
}
