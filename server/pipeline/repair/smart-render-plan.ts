import type { DisplayOrder } from '#server/media/mp4/display-order.ts';
import type { Sample } from '#server/media/mp4/sample-table.ts';
import type { PictureEdit, PixelSource } from './picture-edit.ts';

/**
 * Samples at which the stream can be cut as far as times tell: sync samples that every earlier sample
 * precedes and every later one follows in display order (so no leading pictures of an open GOP).
 */
export function cutCandidates(samples: readonly Sample[]): number[] {
  const earliestAfter: number[] = [];
  let earliest = Infinity;
  for (let index = samples.length - 1; index >= 0; index--) {
    earliestAfter[index] = earliest;
    earliest = Math.min(earliest, samples[index]?.pts ?? Infinity);
  }
  const candidates: number[] = [];
  let latest = -Infinity;
  samples.forEach((sample, index) => {
    if (sample.sync && sample.pts > latest && sample.pts < (earliestAfter[index] ?? Infinity)) {
      candidates.push(index);
    }
    latest = Math.max(latest, sample.pts);
  });
  return candidates;
}

/** A picture of the result inside a re-encoded stretch. */
export interface PlannedPicture {
  /** Media timescale ticks. */
  readonly pts: number;
  /** `original` numbers are places in display order, hidden pictures counted. */
  readonly pixels: PixelSource;
}

/** A stretch of samples that is replaced by newly encoded ones. */
export interface Segment {
  /** Sample at which decoding must start to see its pictures. */
  readonly decodeFrom: number;
  /** First replaced sample and one past the last, decode order. */
  readonly firstSample: number;
  readonly endSample: number;
  /** The same stretch as places in display order. */
  readonly firstPlace: number;
  readonly endPlace: number;
  readonly pictures: readonly PlannedPicture[];
  /** Time shift of what follows, media ticks, earlier stretches included. */
  readonly shiftAfter: number;
}

export interface PlanInput {
  readonly samples: readonly Sample[];
  readonly order: DisplayOrder;
  /** Samples where the stream may be cut, rising; the one at or before each span and the one behind it suffice. */
  readonly cuts: readonly number[];
  readonly edit: PictureEdit;
  /** Presentation time = media time + this. */
  readonly offsetTicks: number;
}

export type SegmentPlan =
  | { readonly ok: true; readonly segments: readonly Segment[]; readonly shiftTotal: number }
  | { readonly ok: false; readonly reason: string };

/**
 * Which samples must be encoded anew for an edit, and with which pictures. Each stretch ends at the next cut
 * point behind its last changed picture and starts as late as possible: the head of the first touched
 * GOP stays where its samples, in decode order, are exactly the first pictures shown.
 */
export function planSegments(input: PlanInput): SegmentPlan {
  const { samples, order, edit } = input;
  const shown = order.endShown - order.firstShown;
  let previousEnd = 0;
  for (const span of edit) {
    if (span.firstFrame < previousEnd || span.endFrame < span.firstFrame || span.endFrame > shown) {
      return { ok: false, reason: 'The planned changes do not fit the pictures of the clip.' };
    }
    previousEnd = span.endFrame;
  }
  const segments: Segment[] = [];
  let shift = 0;
  let next = 0;
  while (next < edit.length) {
    const begin = next;
    const firstChanged = (edit[begin]?.firstFrame ?? 0) + order.firstShown;
    let endPlace = 0;
    let endSample = 0;
    // Spans before the cut point that ends this stretch belong to it as well.
    do {
      const changedEnd = (edit[next]?.endFrame ?? 0) + order.firstShown;
      const cut = input.cuts.find((sample) => (order.placeOf[sample] ?? 0) >= changedEnd);
      endSample = cut ?? samples.length;
      endPlace = cut === undefined ? samples.length : (order.placeOf[cut] ?? 0);
      next++;
    } while (next < edit.length && (edit[next]?.firstFrame ?? 0) + order.firstShown < endPlace);
    const decodeFrom = input.cuts.findLast((sample) => (order.placeOf[sample] ?? 0) <= firstChanged);
    if (decodeFrom === undefined) {
      return {
        ok: false,
        reason: 'There is no key picture before the change from which decoding could start.',
      };
    }
    const firstSample = keptHeadEnd(order, decodeFrom, endSample, firstChanged);
    const firstPlace = (order.placeOf[decodeFrom] ?? 0) + (firstSample - decodeFrom);
    const built = buildPictures(input, edit.slice(begin, next), firstPlace, endPlace, shift);
    shift = built.shift;
    segments.push({
      decodeFrom,
      firstSample,
      endSample,
      firstPlace,
      endPlace,
      pictures: built.pictures,
      shiftAfter: shift,
    });
  }
  return { ok: true, segments, shiftTotal: shift };
}

/** One past the last sample of the longest head whose samples are exactly the first pictures shown. */
function keptHeadEnd(order: DisplayOrder, from: number, end: number, firstChanged: number): number {
  const firstPlace = order.placeOf[from] ?? 0;
  let kept = from;
  let latest = firstPlace - 1;
  for (let sample = from; sample < end; sample++) {
    const place = order.placeOf[sample] ?? 0;
    if (place >= firstChanged) break;
    latest = Math.max(latest, place);
    if (latest === firstPlace + (sample - from)) kept = sample + 1;
  }
  return kept;
}

function buildPictures(
  input: PlanInput,
  spans: PictureEdit,
  firstPlace: number,
  endPlace: number,
  shiftBefore: number,
): { pictures: PlannedPicture[]; shift: number } {
  const { order, samples } = input;
  const pictures: PlannedPicture[] = [];
  let shift = shiftBefore;
  let place = firstPlace;
  const keepUpTo = (end: number) => {
    for (; place < end; place++) {
      const pts = samples[order.samples[place] ?? 0]?.pts ?? 0;
      pictures.push({ pts: pts + shift, pixels: { kind: 'original', frame: place } });
    }
  };
  for (const span of spans) {
    keepUpTo(span.firstFrame + order.firstShown);
    for (const picture of span.pictures) {
      const { pixels } = picture;
      pictures.push({
        pts: picture.ptsTicks - input.offsetTicks,
        pixels:
          pixels.kind === 'original' ? { kind: 'original', frame: pixels.frame + order.firstShown } : pixels,
      });
    }
    place = span.endFrame + order.firstShown;
    shift += span.shiftAfterTicks;
  }
  keepUpTo(endPlace);
  return { pictures, shift };
}
