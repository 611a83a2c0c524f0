import type { DisplayOrder } from '#server/media/mp4/display-order.ts';
import type { Part } from './smart-render-part.ts';

/** Larger groups keep their counts: each picture would be rewritten, and decoded for every attempt. */
export const MOST_RECOUNTED = 3000;

/** A picture of a group with its order count; null for lost and damaged ones. */
export interface CountedPlace {
  readonly sample: number;
  /** In display order. */
  readonly place: number;
  readonly count: number | null;
}

/** One or several consecutive pictures that were never counted, between others. */
export interface Hole {
  /** Place of the picture shown after it. */
  readonly behind: number;
  readonly lost: number;
  /** Difference between the order counts of the pictures before and after. */
  readonly rise: number;
}

/**
 * The holes of a group that begins with a key picture.
 * @param vacant samples that are lost
 * @returns null if the counts next to a hole are unknown or do not rise
 */
export function holesOf(
  group: readonly CountedPlace[],
  { samples }: Pick<DisplayOrder, 'samples'>,
  vacant: ReadonlySet<number>,
): Hole[] | null {
  const countOf = new Map(group.map(({ sample, count }) => [sample, count]));
  const isLost = (place: number) => vacant.has(samples[place] ?? -1);
  const holes: Hole[] = [];
  for (const [at, { sample, place }] of group.entries()) {
    // Before a key picture there is always room.
    if (at === 0 || vacant.has(sample) || !isLost(place - 1)) continue;
    let lost = 1;
    while (isLost(place - lost - 1)) lost += 1;
    const before = countOf.get(samples[place - lost - 1] ?? -1) ?? null;
    const behind = countOf.get(sample) ?? null;
    if (before === null || behind === null || behind <= before) return null;
    holes.push({ behind: place, lost, rise: behind - before });
  }
  return holes;
}

/**
 * The groups that contain some samples.
 * @param starts samples at which groups begin, ascending
 * @param end one past the last sample of the clip
 */
export function groupsAround(samples: readonly number[], starts: readonly number[], end: number): Part[] {
  const groups = new Map<number, Part>();
  for (const sample of samples) {
    const from = starts.findLast((start) => start <= sample) ?? 0;
    groups.set(from, { from, end: starts.find((start) => start > sample) ?? end });
  }
  return [...groups.values()].sort((a, b) => a.from - b.from);
}

/** Factor by which the counts of a group must be spread for all of its holes. */
export const factorFor = (holes: readonly Hole[]): number =>
  Math.max(1, ...holes.map(({ lost, rise }) => Math.ceil((lost + 1) / rise)));
