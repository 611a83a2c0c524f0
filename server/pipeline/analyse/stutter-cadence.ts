import { median, quantile } from '#server/media/statistics.ts';

/** A hold is sharp when the pictures beside it change this many times more than its liveliest. */
const SHARP_RATIO = 2;
/** So many other sharp holds within this time of a run, each close to another hold, make holding the cadence. */
const CADENCE_RUNS = 3;
const CADENCE_REACH_S = 1.5;
/** Living pictures between the holds of a cadence: 5 where 25 pictures are shown as 30, fewer in all others. */
const CADENCE_GAP = 6;
/** The length that this share of the holds stays within is the usual one. */
const USUAL_SHARE = 0.6;
/** Between single repeats this far apart (24 shown as 25 or 30) no run of two is natural... */
const WIDE_GAP = 2;
/** ...when it is frozen to this share of the motion beside it. */
const MAX_LOUD_CADENCE = 0.12;

/** Screens and slides rest; a share of resting pictures around a run from which on rests are how the clip is. */
const MAX_REST_SHARE = 0.25;
const REST_REACH_S = 5;
/** Change below which a picture rests, grey levels, or this many times the usual change inside the run. */
const RESTING = 0.12;
const RESTING_RATIO = 1.5;
/** A rest is at least so many pictures long; what exceeds this time of one still shot counts no further. */
const MIN_REST = 4;
const MAX_REST_S = 0.5;

/** Where a run stands, and all runs of held pictures of the clip, ascending. */
export interface RunPlace {
  readonly first: number;
  readonly last: number;
  readonly moves: readonly number[];
  readonly runs: readonly (readonly [number, number])[];
  readonly fps: number;
}

/** How a clip holds pictures by nature (12.5 in 25, pulldown, animation on twos, low-rate sources). */
export interface Cadence {
  /** Usual number of repeats. */
  readonly usual: number;
  /** Usual number of living pictures between two holds. */
  readonly gap: number;
}

/** The cadence around a run, or null. Runs that stand apart, as faults do, make none. */
export function cadenceAround({ first, last, moves, runs, fps }: RunPlace): Cadence | null {
  const reach = CADENCE_REACH_S * fps;
  const others = runs.flatMap(([from, to], k) => {
    const isNear = (to < first || from > last) && to >= first - reach && from <= last + reach;
    if (!isNear || !isSharp(moves, from, to)) return [];
    const before = from - (runs[k - 1]?.[1] ?? -Infinity) - 1;
    const after = (runs[k + 1]?.[0] ?? Infinity) - to - 1;
    const gap = Math.min(before, after);
    return gap <= CADENCE_GAP ? [{ length: to - from + 1, gap }] : [];
  });
  if (others.length < CADENCE_RUNS) return null;
  return {
    usual: quantile(
      others.map(({ length }) => length),
      USUAL_SHARE,
    ),
    gap: median(others.map(({ gap }) => gap)),
  };
}

/**
 * True for a run that no hold of the cadence explains.
 * @param loudness its liveliest picture over the motion beside it
 */
export function standsOut({ usual, gap }: Cadence, repeats: number, loudness: number): boolean {
  if (repeats > 2 * usual + (usual > 1 ? 1 : 0)) return true;
  return usual === 1 && repeats > 1 && gap >= WIDE_GAP && loudness <= MAX_LOUD_CADENCE;
}

/**
 * True where pictures rest so often around a run that the run is one rest of many: screen recordings, slide
 * shows, motion graphics. Measured on such clips made for it (share 0.28 and more) against clips with up to
 * six planted runs (below 0.23 in 98 of 100).
 */
export function restsByNature({ first, last, moves, fps }: RunPlace): boolean {
  const reach = Math.round(REST_REACH_S * fps);
  const end = Math.min(moves.length, last + 1 + reach);
  const still = Math.max(RESTING, RESTING_RATIO * median(moves.slice(first, last + 1)));
  let resting = 0;
  let total = 0;
  for (let at = Math.max(1, first - reach); at < end;) {
    if (at === first) {
      at = last + 1;
      continue;
    }
    let next = at;
    while (next < end && next !== first && (moves[next] ?? 0) < still) next += 1;
    const isRest = next - at >= MIN_REST;
    const counted = isRest ? Math.min(next - at, MAX_REST_S * fps) : Math.max(1, next - at);
    if (isRest) resting += counted;
    total += counted;
    at = Math.max(next, at + 1);
  }
  return resting > MAX_REST_SHARE * total;
}

function isSharp(moves: readonly number[], from: number, to: number): boolean {
  const loudest = Math.max(...moves.slice(from, to + 1));
  return Math.min(moves[from - 1] ?? 0, moves[to + 1] ?? 0) >= SHARP_RATIO * Math.max(0.2, loudest);
}
