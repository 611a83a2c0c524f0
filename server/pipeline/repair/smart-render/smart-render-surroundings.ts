import type { DisplayOrder } from '#server/media/mp4/display-order.ts';
import type { GapInput, TimedPicture } from '../conceal-picture/conceal-picture-guess.ts';
import { isSameShot, type RawFormat } from '../rebuild-pictures/rebuild-pictures-raw.ts';
import type { Part } from './smart-render-part.ts';

/** Places of the pictures that a damaged one is concealed from. */
export interface PlacesAround {
  /** One more before `earlier`, if there is one. */
  readonly earliest?: number;
  /** Two that are decoded and shown before it; the second one is nearer. */
  readonly earlier: number;
  readonly before: number;
  readonly own: number;
  /** The one shown next. */
  readonly after: number;
  /**
   * Set if pictures decoded later are shown before it: the last of them, and one as far after it as `before` is before
   * it.
   */
  readonly beside?: number;
  readonly later?: number;
}

/**
 * The places around a sample; null if a part lacks one of them.
 * @param reference place of the picture to conceal it from; the nearest one before it by default
 */
export function placesAround(
  order: DisplayOrder,
  part: Part,
  sample: number,
  reference?: number,
): PlacesAround | null {
  const own = order.placeOf[sample] ?? 0;
  const isIn = (place: number) => {
    const other = order.samples[place] ?? -1;
    return other >= part.from && other < part.end && part.omitted?.has(other) !== true;
  };
  const inFront: number[] = [];
  for (let place = reference ?? own - 1; place >= 0 && inFront.length < 3; place -= 1) {
    if (isIn(place) && (order.samples[place] ?? 0) < sample) inFront.push(place);
  }
  const [before, earlier, earliest] = inFront;
  if (before === undefined || earlier === undefined || !isIn(own + 1)) return null;
  if (reference !== undefined && before !== reference) return null;
  const places = { ...(earliest !== undefined && { earliest }), earlier, before, own, after: own + 1 };
  const later = 2 * own - before;
  return before < own - 1 && isIn(own - 1) && isIn(later) ? { ...places, beside: own - 1, later } : places;
}

/**
 * The decoded pictures at those places.
 * @param pictures by place
 * @returns null if one is missing, their times do not rise, or they are not of one shot
 */
export function picturesAround(
  pictures: ReadonlyMap<number, TimedPicture>,
  places: PlacesAround,
  format: RawFormat,
): Omit<GapInput, 'lost' | 'isProvenLater'> | null {
  const shown = (place: number | undefined) => (place === undefined ? undefined : pictures.get(place));
  const [earlier, before] = [shown(places.earlier), shown(places.before)];
  const [damaged, after] = [shown(places.own), shown(places.after)];
  if (!earlier || !before || !damaged || !after) return null;
  const isOneShot = [earlier, after].every(({ pixels }) => isSameShot(before.pixels, pixels, format));
  const isRising =
    earlier.ticks < before.ticks && before.ticks < damaged.ticks && damaged.ticks < after.ticks;
  if (!isOneShot || !isRising) return null;
  const [beside, later] = [shown(places.beside), shown(places.later)];
  const first = shown(places.earliest);
  const earliest = first && first.ticks < earlier.ticks ? first : null;
  const pyramid = beside && later ? { beside, later } : null;
  return { earliest, earlier, before, damaged, after, pyramid };
}
