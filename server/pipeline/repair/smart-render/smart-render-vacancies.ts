import { displayOrder, type DisplayOrder } from '#server/media/mp4/display-order.ts';
import type { Sample } from '#server/media/mp4/sample-table.ts';
import { median } from '#server/media/statistics.ts';
import { ROOM_FOR_ANOTHER } from '#server/media/time-base.ts';
import { renumbered } from '../../analyse/decode/kept-pictures.ts';
import type { ChangedSpan, PictureEdit, PixelSource } from '../picture-edit.ts';
import type { DoneSmartRender } from './smart-render.ts';
import type { ClipSource } from './smart-render-source.ts';

/** The facts of a clip that tell where pictures are lost. */
export type TimedClip = Pick<ClipSource, 'samples' | 'shownEdit' | 'vacant'>;

/** A clip in which pictures that are lost from the file have places of their own. */
export interface Vacated<Source> {
  readonly source: Source;
  /** The edit with all pictures numbered, including lost ones: these are replaced, none is inserted. */
  readonly edit: PictureEdit;
  /**
   * The same edit with lost pictures next to damage left to be concealed like damaged ones, because the pictures there
   * refer to them; null if there are none.
   */
  readonly asDamage: PictureEdit | null;
  /** Pictures of the file before which those stand. */
  readonly besideDamage: readonly number[];
  /** Their samples. */
  readonly toConceal: readonly number[];
  /** Spans of the edit with pictures that were never counted, by the samples of those. */
  readonly uncounted: ReadonlyMap<number, ChangedSpan>;
  /** Number of a picture without counting lost ones; null for a lost one. */
  readonly ownFrame: (frame: number) => number | null;
}

/** A picture of the edit that the file does not have. */
interface Lost {
  /** Media ticks of the original. */
  readonly pts: number;
  /** Which span of the edit shows it. */
  readonly spanAt: number;
  /** Whether its encoder left it out, so that the coded stream has no place for it. */
  readonly isUncounted: boolean;
}

/** Spans that show more pictures than the clip's order counts have room for. */
export interface RoomlessSpans {
  /** Spans whose pictures get places anyway: right after all pictures shown before them. */
  readonly placed: ReadonlySet<ChangedSpan>;
  readonly left: ReadonlySet<ChangedSpan>;
}

const NONE: RoomlessSpans = { placed: new Set(), left: new Set() };

/**
 * Gives each picture that an edit puts into a gap in the times the place in the coded stream from which it was lost.
 * Filled there like any replaced picture, it leaves the rest of its group byte for byte. Spans for which that fails
 * stay as they are.
 * @param withVacant the clip with all samples, some of which have no bytes
 */
export function withVacancies<Source extends TimedClip>(
  source: Source,
  edit: PictureEdit,
  withVacant: (source: Source, samples: readonly Sample[], vacant: ReadonlySet<number>) => Source,
  noRoom: RoomlessSpans = NONE,
): Vacated<Source> {
  const { samples, shownEdit } = source;
  const order = displayOrder(samples, shownEdit.startTicks, shownEdit.endTicks);
  const lost = lostPictures(source, order, edit)
    .filter(({ spanAt }) => !isIn(noRoom.left, edit[spanAt]))
    .map((one): Lost => ({ ...one, isUncounted: isIn(noRoom.placed, edit[one.spanAt]) }));
  const vacant = placeVacant(samples, lost);
  if (vacant.length === 0) {
    const nothing = { besideDamage: [], toConceal: [], uncounted: new Map<number, ChangedSpan>() };
    return { source, edit, asDamage: null, ...nothing, ownFrame: (frame) => frame };
  }
  const all: Sample[] = [];
  const numbers = new Set<number>();
  const uncounted = new Map<number, ChangedSpan>();
  const put = (before: number) => {
    for (const one of vacant.filter((item) => item.before === before)) {
      const span = edit[one.lost.spanAt];
      if (span && one.lost.isUncounted) uncounted.set(all.length, span);
      numbers.add(all.length);
      all.push(one.sample);
    }
  };
  samples.forEach((sample, number) => {
    put(number);
    all.push(sample);
  });
  const placed = new Set(vacant.map(({ lost: { spanAt } }) => spanAt));
  const now = displayOrder(all, shownEdit.startTicks, shownEdit.endTicks);
  const frames = [...numbers].map((sample) => (now.placeOf[sample] ?? 0) - now.firstShown);
  const added = frames.toSorted((a, b) => a - b);
  const counted = (frame: number) => added.reduce((at, one) => (one <= at ? at + 1 : at), frame);
  const filled = edit.map((span, at) => countedSpan(span, placed.has(at), counted));
  const isDamaged = ({ firstFrame, endFrame }: ChangedSpan) =>
    edit.some((one) => one.mendsDamage && one.firstFrame <= endFrame && one.endFrame >= firstFrame);
  const isBeside = edit.map((span, at) => placed.has(at) && isDamaged(span));
  const before = (frame: number) => frame - added.filter((one) => one < frame).length;
  const lostBeside = added.filter((frame) =>
    filled.some(({ firstFrame, endFrame }, at) => isBeside[at] && frame >= firstFrame && frame < endFrame),
  );
  return {
    source: withVacant(source, all, numbers),
    edit: filled,
    asDamage:
      lostBeside.length > 0
        ? filled.map((span, at) => (isBeside[at] ? leftToConceal(span, added) : span))
        : null,
    besideDamage: lostBeside.map(before),
    toConceal: lostBeside.flatMap((frame) => now.samples[frame + now.firstShown] ?? []),
    uncounted,
    ownFrame: (frame) => (added.includes(frame) ? null : before(frame)),
  };
}

const isIn = (spans: ReadonlySet<ChangedSpan>, span: ChangedSpan | undefined) =>
  span !== undefined && spans.has(span);

/** Whether each lost picture that should be concealed was made; others may be inserted in another way. */
export function concealsAll(
  { toConceal }: Pick<Vacated<TimedClip>, 'toConceal'>,
  made: readonly { readonly samples: readonly number[] }[],
): boolean {
  const filled = new Set(made.flatMap(({ samples }) => samples));
  return toConceal.every((sample) => filled.has(sample));
}

/** The result of rendering such a clip, in the numbers of the file's own pictures. */
export function inOwnNumbers(
  { source, ownFrame }: Vacated<TimedClip>,
  result: DoneSmartRender,
): DoneSmartRender {
  const { altered, framesTotal, heldFrames, reencodedSpans, seen } = result;
  const vacantCount = source.vacant?.size ?? 0;
  if (vacantCount === 0) return result;
  const own = (frames: readonly number[]) => frames.flatMap((frame) => ownFrame(frame) ?? []);
  const numberOf = Array.from({ length: framesTotal }, (_, frame) => ownFrame(frame) ?? undefined);
  return {
    ...result,
    framesTotal: framesTotal - vacantCount,
    reencodedSpans: reencodedSpans.flatMap(({ firstFrame, endFrame }) => {
      const frames = own(Array.from({ length: endFrame - firstFrame }, (_, at) => firstFrame + at));
      const [first, last] = [frames[0], frames.at(-1)];
      return first === undefined || last === undefined ? [] : [{ firstFrame: first, endFrame: last + 1 }];
    }),
    heldFrames: own(heldFrames),
    ...(result.recounted && { recounted: own(result.recounted) }),
    altered: altered && new Set(own([...altered])),
    seen: renumbered(seen, numberOf),
  };
}

/**
 * Lost pictures of spans that keep all their pictures and times and show more in between. Not before the first picture
 * of the clip or after its last one, where nothing is lost between others.
 */
function lostPictures(
  source: TimedClip,
  order: DisplayOrder,
  edit: PictureEdit,
): Omit<Lost, 'isUncounted'>[] {
  const ptsOf = (frame: number) => source.samples[order.samples[frame + order.firstShown] ?? -1]?.pts;
  const shown = order.endShown - order.firstShown;
  const lost: Omit<Lost, 'isUncounted'>[] = [];
  let shift = 0;
  for (const [spanAt, span] of edit.entries()) {
    const { firstFrame, endFrame, pictures, shiftAfterTicks } = span;
    const count = endFrame - firstFrame;
    const toMedia = source.shownEdit.offsetTicks + shift;
    shift += shiftAfterTicks;
    const isInside = firstFrame > 0 && endFrame < shown;
    if (!isInside || shiftAfterTicks !== 0 || pictures.length <= count) continue;
    const own = Array.from({ length: count }, (_, at) => ptsOf(firstFrame + at));
    const times = pictures.map(({ ptsTicks }) => ptsTicks - toMedia);
    const [before, behind] = [ptsOf(firstFrame - 1), ptsOf(endFrame)];
    const more = times.filter((pts) => !own.includes(pts));
    const isBetween = (pts: number) => pts > (before ?? pts) && pts < (behind ?? pts);
    if (more.length === times.length - count && more.every(isBetween))
      lost.push(...more.map((pts) => ({ pts, spanAt })));
  }
  return lost;
}

/** A place for a lost picture. */
interface Vacant {
  readonly lost: Lost;
  /** Sample before which it is decoded. */
  readonly before: number;
  readonly sample: Sample;
}

/**
 * Samples on each side among which the gap of a lost one in the decode times is searched: as many as a decoder can hold
 * back.
 */
const NEAR = 16;

/**
 * Finds where lost pictures were decoded: in the nearest gap of the decode times, or right after all pictures shown
 * before. Nothing for spans with a picture that finds no place.
 */
function placeVacant(samples: readonly Sample[], lost: readonly Lost[]): Vacant[] {
  const holes = new Map<number, Lost[]>();
  const failed = new Set<number>();
  for (const one of lost) {
    const behind = 1 + samples.findLastIndex(({ pts }) => pts < one.pts);
    // B pictures delay others until they are shown; a later place could need more delay than the stream states.
    const taken = (at: number) => holes.get(at)?.length ?? 0;
    const hole = one.isUncounted ? null : nearestHole(samples, behind, nextStart(samples, one), taken);
    const before = hole ?? behind;
    holes.set(before, [...(holes.get(before) ?? []), one]);
  }
  const vacant: Vacant[] = [];
  for (const [before, inHole] of holes) {
    const [left, right] = [samples[before - 1], samples[before]];
    const ordered = inDecodeOrder(samples, before, inHole);
    for (const [at, one] of ordered.entries()) {
      if (!left || !right) {
        failed.add(one.spanAt);
        continue;
      }
      const step = (right.dts - left.dts) / (ordered.length + 1);
      const dts = left.dts + Math.round(step * (at + 1));
      if (step < 1 || dts > one.pts) failed.add(one.spanAt);
      const sample = { ...left, offset: 0, sizeBytes: 0, dts, pts: one.pts, sync: false };
      vacant.push({ lost: one, before, sample });
    }
  }
  return vacant.filter(({ lost: { spanAt } }) => !failed.has(spanAt));
}

/**
 * The key picture at which a decoder restarts after a lost one, as far as the list tells: shown after it, and nothing
 * decoded later is shown before it. What is shown before it is decoded before it.
 */
function nextStart(samples: readonly Sample[], lost: Lost): number {
  const at = samples.findIndex(
    ({ sync, pts }, number) =>
      sync &&
      pts > lost.pts &&
      samples.slice(number + 1, number + 1 + NEAR).every((behind) => behind.pts > pts),
  );
  return at < 0 ? samples.length : at;
}

/** @param end place up to which to search */
function nearestHole(
  samples: readonly Sample[],
  around: number,
  end: number,
  taken: (before: number) => number,
): number | null {
  const first = Math.max(1, around - NEAR);
  const steps = samples
    .slice(first, Math.min(around + NEAR, end + 1))
    .map(({ dts }, at) => ({ before: first + at, ticks: dts - (samples[first + at - 1]?.dts ?? dts) }));
  const usual = median(steps.map(({ ticks }) => ticks));
  const open = steps.filter(({ before, ticks }) => {
    return usual > 0 && ticks >= ROOM_FOR_ANOTHER * usual && Math.round(ticks / usual) - 1 > taken(before);
  });
  open.sort((a, b) => Math.abs(a.before - around) - Math.abs(b.before - around));
  return open[0]?.before ?? null;
}

/**
 * Sorts lost neighbours into decode order: first those shown before pictures that are already decoded. Then, if the
 * stream reorders pictures, the last one comes before those that refer to it.
 */
function inDecodeOrder(samples: readonly Sample[], before: number, lost: readonly Lost[]): Lost[] {
  const sorted = lost.toSorted((a, b) => a.pts - b.pts);
  // No picture refers to pictures that were never coded.
  if (lost.every(({ isUncounted }) => isUncounted)) return sorted;
  const latest = samples.slice(0, before).reduce((most, { pts }) => Math.max(most, pts), -Infinity);
  const behind = sorted.filter(({ pts }) => pts < latest);
  const ahead = sorted.filter(({ pts }) => pts >= latest);
  const isReordered = samples.some(({ pts }, at) => pts < (samples[at - 1]?.pts ?? pts));
  const last = isReordered ? ahead.pop() : undefined;
  return [...behind, ...(last ? [last] : []), ...ahead];
}

function countedSpan(span: ChangedSpan, isFilled: boolean, counted: (frame: number) => number): ChangedSpan {
  const { firstFrame, endFrame, pictures } = span;
  const count = isFilled ? pictures.length : endFrame - firstFrame;
  // A gap lies right after the picture before it.
  const first = isFilled || count === 0 ? counted(firstFrame - 1) + 1 : counted(firstFrame);
  const inOwn = (pixels: PixelSource): PixelSource =>
    pixels.kind === 'original' ? { ...pixels, frame: counted(pixels.frame) } : pixels;
  return {
    ...span,
    firstFrame: first,
    endFrame: isFilled ? first + count : counted(endFrame - 1) + 1,
    pictures: pictures.map((picture) => ({ ...picture, pixels: inOwn(picture.pixels) })),
    ...(isFilled && { mendsDamage: true }),
  };
}

/** A span whose lost pictures stay as a decoder conceals them. */
function leftToConceal(span: ChangedSpan, vacant: readonly number[]): ChangedSpan {
  const pictures = span.pictures.map((picture, at) => {
    const frame = span.firstFrame + at;
    return vacant.includes(frame) ? { ...picture, pixels: { kind: 'original', frame } as const } : picture;
  });
  return { ...span, pictures };
}
