import type { DisplayOrder } from '#server/media/mp4/display-order.ts';
import type { SliceHeader } from '#server/media/h264/slice-header.ts';
import { createHeadPlacer, type HeadPlacer } from './exchange/smart-render-exchange-heads.ts';
import type { ChangedSpan, PictureEdit, PixelSource } from '../picture-edit.ts';
import type { Segment } from './smart-render-plan.ts';
import type { SmartSource } from './smart-render-source.ts';

/** One coded picture that is exchanged alone; everything around it stays unchanged. */
export interface StandIn {
  readonly sample: number;
  /** `original` numbers are places in display order, counting hidden pictures. */
  readonly pixels: PixelSource;
  readonly frameNum: number;
  readonly pocLsb: number | null;
}

interface Candidate {
  readonly span: ChangedSpan;
  readonly standIns: readonly StandIn[];
}

export interface SplitEdit {
  /** Spans whose pictures are exchanged one by one. */
  readonly candidates: readonly Candidate[];
  /** Spans whose group of pictures must be encoded again. */
  readonly rest: PictureEdit;
}

/** With more pictures in one span, an encoded stretch is cheaper and smaller. */
const MAX_STAND_INS = 12;

/**
 * Finds spans that only exchange pictures that no other refers to (`nal_ref_idc` 0, as most B pictures). The rest of
 * their group then keeps its bytes, however long it is.
 */
export async function splitEdit(
  source: SmartSource,
  order: DisplayOrder,
  edit: PictureEdit,
): Promise<SplitEdit> {
  const candidates: Candidate[] = [];
  const rest: ChangedSpan[] = [];
  let shift = 0;
  const placer = createHeadPlacer(source, order, changedSamples(order, edit));
  for (const span of edit) {
    const standIns = await toStandIns(source, order, { span, shift, placer });
    if (standIns) candidates.push({ span, standIns });
    else rest.push(span);
    shift += span.shiftAfterTicks;
  }
  return { candidates, rest };
}

/** Samples of pictures that change. */
function changedSamples(order: DisplayOrder, edit: PictureEdit): Set<number> {
  const changed = new Set<number>();
  for (const { firstFrame, endFrame } of edit) {
    for (let frame = firstFrame; frame < endFrame; frame += 1) {
      const sample = order.samples[frame + order.firstShown];
      if (sample !== undefined) changed.add(sample);
    }
  }
  return changed;
}

interface SpanInput {
  readonly span: ChangedSpan;
  readonly shift: number;
  readonly placer: HeadPlacer;
}

async function toStandIns(
  source: SmartSource,
  order: DisplayOrder,
  { span, shift, placer }: SpanInput,
): Promise<StandIn[] | null> {
  const count = span.endFrame - span.firstFrame;
  if (count === 0 || count > MAX_STAND_INS) return null;
  if (span.pictures.length !== count || span.shiftAfterTicks !== 0) return null;
  const standIns: StandIn[] = [];
  for (const [index, { ptsTicks, pixels }] of span.pictures.entries()) {
    const sample = order.samples[span.firstFrame + index + order.firstShown];
    const old = sample === undefined ? undefined : source.samples[sample];
    if (sample === undefined || !old || old.sync) return null;
    if (ptsTicks - source.shownEdit.offsetTicks !== old.pts + shift) return null;
    const head = await plainHead(source, order, { sample, placer });
    if (!head) return null;
    standIns.push({
      sample,
      pixels:
        pixels.kind === 'original' ? { kind: 'original', frame: pixels.frame + order.firstShown } : pixels,
      frameNum: head.frameNum,
      pocLsb: head.pocLsb,
    });
  }
  return standIns;
}

/**
 * The header of a picture that no other refers to, from itself or from its neighbours; null for others and if unknown.
 */
async function plainHead(
  source: SmartSource,
  order: DisplayOrder,
  { sample, placer }: { readonly sample: number; readonly placer: HeadPlacer },
): Promise<SliceHeader | null> {
  const own = await ownHead(source, order, sample);
  const placed = await placer.place(sample);
  if (!placed?.isCertain) return own?.refIdc === 0 ? own : null;
  if (placed.head.refIdc !== 0) return null;
  return own?.frameNum === placed.head.frameNum ? own : placed.head;
}

/** The header of a picture as stated by itself; null if it may be damaged. */
async function ownHead(
  source: SmartSource,
  order: DisplayOrder,
  sample: number,
): Promise<SliceHeader | null> {
  const head = await source.head(sample);
  if (!head || head.idr || !source.pps.some(({ id }) => id === head.ppsId)) return null;
  return (await fitsNeighbours(source, order, sample, head)) ? head : null;
}

/**
 * Whether the numbers in a possibly damaged header fit the picture's place. The frame number follows from the picture
 * decoded before (ITU-T H.264, 7.4.3), and the order count lies between those of the pictures shown before and after.
 */
async function fitsNeighbours(
  source: SmartSource,
  order: DisplayOrder,
  sample: number,
  head: SliceHeader,
): Promise<boolean> {
  const before = await source.head(sample - 1);
  if (!before) return false;
  const following = (before.frameNum + (before.refIdc > 0 ? 1 : 0)) % 2 ** source.sps.frameNumBits;
  if (head.frameNum !== following) return false;
  if (source.sps.pocType !== 0) return true;
  const place = order.placeOf[sample] ?? 0;
  const [left, right] = [order.samples[place - 1], order.samples[place + 1]];
  const earlier = left === undefined ? null : await source.head(left);
  const later = right === undefined ? null : await source.head(right);
  if (!earlier || earlier.pocLsb === null || head.pocLsb === null) return false;
  const range = 2 ** source.sps.pocBits;
  const step = (head.pocLsb - earlier.pocLsb + range) % range;
  // A new count may begin after the picture; then one side must suffice.
  const scale = source.countStep ?? 1;
  if (!later || later.idr || later.pocLsb === null) return step === 1 || step === 2 || step === 2 * scale;
  return step > 0 && step === (later.pocLsb - head.pocLsb + range) % range;
}

/** Moves spans back to the rest if their pictures lie in a stretch that is encoded anyway. */
export function withoutCovered(split: SplitEdit, segments: readonly Segment[]): SplitEdit {
  const isCovered = ({ standIns }: Candidate) => {
    return standIns.some(({ sample }) => {
      return segments.some((segment) => sample >= segment.firstSample && sample < segment.endSample);
    });
  };
  const covered = split.candidates.filter(isCovered).map(({ span }) => span);
  return {
    candidates: split.candidates.filter((candidate) => !isCovered(candidate)),
    rest: [...split.rest, ...covered].sort((a, b) => a.firstFrame - b.firstFrame || a.endFrame - b.endFrame),
  };
}
