import type { DisplayOrder } from '#server/media/mp4/display-order.ts';
import type { Part } from './smart-render-part.ts';

/** Pictures of a group above which its counts stay: each is written anew, and decoded for every way that is tried. */
export const MOST_RECOUNTED = 3000;

/** A picture of a group by its order count; those of lost and damaged ones are not known. */
export interface CountedPlace {
  readonly sample: number;
  /** In the order of display. */
  readonly place: number;
  readonly count: number | null;
}

/** A picture that was never counted, or several in a row, between others. */
export interface Hole {
  /** Place of the picture shown behind it. */
  readonly behind: number;
  readonly lost: number;
  /** From the order count of the picture before to that of the one behind. */
  readonly rise: number;
}

/**
 * The holes of a group that begins with a key picture.
 * @param vacant samples that are lost
 * @returns null where the counts beside one are not known, or do not rise
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
    // In front of a key picture there is all room that there can be.
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
 * The groups in which some samples lie.
 * @param starts samples that groups begin with, rising
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

/** How many times as far apart the counts of a group must be for all of its holes. */
export const factorFor = (holes: readonly Hole[]): number =>
  Math.max(1, ...holes.map(({ lost, rise }) => Math.ceil((lost + 1) / rise)));
