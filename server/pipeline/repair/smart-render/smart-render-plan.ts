import type { DisplayOrder } from '#server/media/mp4/display-order.ts';
import type { Sample } from '#server/media/mp4/sample-table.ts';
import type { ChangedSpan, PictureEdit, PixelSource } from '../picture-edit.ts';

/**
 * Samples at which the stream can be cut, judged by times: sync samples that all earlier samples precede and all later
 * ones follow in display order (so no leading pictures of an open GOP).
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

/**
 * A place where the stream can be cut: a key picture at which decoding can start. Exactly the samples before `sample`
 * and those in `leaning` are displayed before `place`.
 */
export interface Cut {
  readonly sample: number;
  /** First place in display order from which no picture needs anything from before `sample`. */
  readonly place: number;
  /**
   * Samples after `sample` that are shown before it and refer to pictures before it (leading pictures of an open
   * group); they belong to the stretch before. Empty in H.264, which is not cut at such places.
   */
  readonly leaning: readonly number[];
}

/** A picture of the result inside a re-encoded stretch. */
export interface PlannedPicture {
  /** Media timescale ticks. */
  readonly pts: number;
  /** `original` numbers are places in display order, counting hidden pictures. */
  readonly pixels: PixelSource;
  /** Its own place in the original, or that of the last unchanged picture before a changed one. */
  readonly place: number;
}

/** A stretch of samples that is replaced by newly encoded ones. */
export interface Segment {
  /** Where decoding must start to get its pictures. */
  readonly decodeFrom: Cut;
  /** First replaced sample and one past the last, decode order. */
  readonly firstSample: number;
  readonly endSample: number;
  /** Samples after `endSample` that belong to the stretch. */
  readonly leaning: readonly number[];
  /** The same stretch as places in display order. */
  readonly firstPlace: number;
  readonly endPlace: number;
  readonly pictures: readonly PlannedPicture[];
  /** Time of the first picture after it before any shift, media ticks; null at the end of the clip. */
  readonly nextPts: number | null;
  /** Time shift of everything after it, media ticks, including earlier stretches. */
  readonly shiftAfter: number;
}

/** Whether a sample is coded anew in a stretch. */
export const isInStretch = ({ firstSample, endSample, leaning }: Segment, sample: number): boolean =>
  (sample >= firstSample && sample < endSample) || leaning.includes(sample);

export interface PlanInput {
  readonly samples: readonly Sample[];
  readonly order: DisplayOrder;
  /** Where the stream may be cut, ascending; the places at or before each span and after it suffice. */
  readonly cuts: readonly Cut[];
  readonly edit: PictureEdit;
  /** Presentation time = media time + this. */
  readonly offsetTicks: number;
}

export type SegmentPlan =
  | { readonly ok: true; readonly segments: readonly Segment[]; readonly shiftTotal: number }
  | { readonly ok: false; readonly reason: string };

/** Decoding start if the first key picture is lost, so that all pictures until the next one are replaced. */
const BEGINNING: Cut = { sample: 0, place: 0, leaning: [] };

/**
 * Plans which samples an edit needs to encode again, and with which pictures. Each stretch ends at the first cut point
 * after its last changed picture. It starts as late as possible: at the last sample before which exactly the pictures
 * shown earlier are decoded.
 */
export function planSegments(input: PlanInput): SegmentPlan {
  const { samples, order, edit } = input;
  const shown = order.endShown - order.firstShown;
  const atEnd: Cut = { sample: samples.length, place: samples.length, leaning: [] };
  let previousEnd = 0;
  for (const span of edit) {
    if (span.firstFrame < previousEnd || span.endFrame < span.firstFrame || span.endFrame > shown) {
      return { ok: false, reason: 'The planned changes do not fit the pictures of the clip.' };
    }
    previousEnd = span.endFrame;
  }
  const starts = cleanStarts(order);
  const startOf = (span: ChangedSpan | undefined) => {
    return starts[(span?.firstFrame ?? 0) + order.firstShown] ?? 0;
  };
  const segments: Segment[] = [];
  let shift = 0;
  let next = 0;
  while (next < edit.length) {
    const begin = next;
    let end = atEnd;
    // Spans that begin before the cut point that ends this stretch belong to it as well.
    do {
      const changedEnd = (edit[next]?.endFrame ?? 0) + order.firstShown;
      end = input.cuts.find((cut) => cut.place >= changedEnd) ?? atEnd;
      next++;
    } while (next < edit.length && startOf(edit[next]) < end.place);
    // Before a clean start there are as many samples as places, so its number is both.
    const firstSample = startOf(edit[begin]);
    const keyed = input.cuts.findLast((cut) => cut.place <= firstSample);
    if (!keyed && edit[begin]?.firstFrame !== 0) {
      return {
        ok: false,
        reason: 'There is no key picture before the change from which decoding could start.',
      };
    }
    const decodeFrom = keyed ?? BEGINNING;
    const built = buildPictures(input, edit.slice(begin, next), firstSample, end.place, shift);
    shift = built.shift;
    segments.push({
      decodeFrom,
      firstSample,
      endSample: end.sample,
      leaning: end.leaning,
      firstPlace: firstSample,
      endPlace: end.place,
      pictures: keyed ? built.pictures : withoutUndecodable(built.pictures, order),
      nextPts: samples[order.samples[end.place] ?? -1]?.pts ?? null,
      shiftAfter: shift,
    });
  }
  return { ok: true, segments, shiftTotal: shift };
}

/**
 * Pictures that an edit list hides before the first key picture cannot be decoded; the first shown picture replaces
 * them.
 */
function withoutUndecodable(
  pictures: readonly PlannedPicture[],
  { firstShown }: DisplayOrder,
): PlannedPicture[] {
  const isHidden = ({ pixels }: PlannedPicture) => pixels.kind === 'original' && pixels.frame < firstShown;
  const shown = pictures.find((picture) => !isHidden(picture));
  return pictures.map((one) => (shown && isHidden(one) ? { ...one, pixels: shown.pixels } : one));
}

/** For each place, the last sample at or before it whose earlier samples are exactly those shown earlier. */
export function cleanStarts(order: DisplayOrder): number[] {
  const starts: number[] = [];
  let latest = -1;
  let start = 0;
  for (let sample = 0; sample <= order.samples.length; sample++) {
    if (latest === sample - 1) start = sample;
    starts.push(start);
    latest = Math.max(latest, order.placeOf[sample] ?? 0);
  }
  return starts;
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
  let lastUntouched = Math.max(0, firstPlace - 1);
  const keepUpTo = (end: number) => {
    for (; place < end; place++) {
      lastUntouched = place;
      const pts = samples[order.samples[place] ?? 0]?.pts ?? 0;
      pictures.push({ pts: pts + shift, pixels: { kind: 'original', frame: place }, place });
    }
  };
  for (const span of spans) {
    keepUpTo(span.firstFrame + order.firstShown);
    for (const picture of span.pictures) {
      const { pixels } = picture;
      pictures.push({
        place: lastUntouched,
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
