import { median, quantile } from '#server/media/statistics.ts';
import { leapsInClockwork } from './stutter-clockwork.ts';

/** A hold is sharp if the pictures next to it change this many times more than its liveliest picture. */
const SHARP_RATIO = 2;
/** This many other sharp holds within this time of a run, each close to another hold, form a cadence. */
const CADENCE_RUNS = 3;
const CADENCE_REACH_S = 1.5;
/** Most moving pictures between the holds of a cadence: 5 when 25 pictures are shown as 30, fewer in all others. */
const CADENCE_GAP = 6;
/** A shorter shot (pictures) does not show by itself how its pictures are held. */
const MIN_SHOT = 24;
/** Longest time between runs of one length that recur, as when one rate is shown as another, seconds. */
const RECUR_REACH_S = 1.5;
/** They must be as still as the run: at most this many times livelier, or below this (grey levels). */
const RECUR_RATIO = 3;
const RECUR_STILL = 0.1;
/**
 * Other holds count as repeats of the same kind if they are at most this many times livelier, or below this (grey
 * levels).
 */
const ALIKE_RATIO = 4;
const ALIKE_STILL = 0.1;
/** Quantile of the lengths of the holds that gives the usual length. */
const USUAL_SHARE = 0.6;
/**
 * A run of two is not natural between repeats that are usually single (a quantile between one and two) and this far
 * apart (24 shown as 25 or 30)...
 */
const MAX_SINGLE = 1.5;
const WIDE_GAP = 2;
/** ...if a step over lost pictures follows, or if the run is still to this share of the motion next to it. */
const MAX_LOUD_CADENCE = 0.12;
/**
 * A picture this many times livelier than the usual repeat of a cadence, and by at least this (grey levels), is slow
 * motion between two holds.
 */
const SLOW_RATIO = 10;
const SLOW_LEAST = 0.5;
/** If holds are this many times as far apart as usual, another one is due between them. */
const DUE_SHARE = 1.5;

/**
 * Screens and slides rest by nature: this is the share of resting pictures around a run, from which rests are usual.
 */
const MAX_REST_SHARE = 0.25;
const REST_REACH_S = 5;
/** Change below which a picture rests, grey levels... */
const RESTING = 0.3;
/** ...and, for a long run, this many times the usual change inside it; a long run is most likely a rest. */
const RESTING_RATIO = 1.5;
const LONG_RUN = 9;
/** A rest has at least this many pictures; one still counts for at most this many seconds. */
const MIN_REST = 3;
const MAX_REST_S = 0.5;

type Stretches = readonly (readonly [number, number])[];

/** A step this many times the lively ones next to a run proves lost pictures even among rests... */
const JUMP_RATIO = 3;
/**
 * ...as long as no more than this share rests. Above it, the clip is a screen whose pages change at once (0.56 around a
 * page shown for a second).
 */
const MOST_RESTING = 0.5;
const FLANK = 6;
const LIVELY_SHARE = 0.9;

/** A run, and the other holds of its clip in ascending order. */
export interface RunPlace {
  readonly first: number;
  readonly last: number;
  readonly moves: readonly number[];
  /** All stretches of held pictures. */
  readonly holds: Stretches;
  /** The same, with quality steps of the encoder inside them joined. */
  readonly runs: Stretches;
  /** First pictures of new shots. */
  readonly cutSet: ReadonlySet<number>;
  readonly fps: number;
}

/** How a clip holds pictures by nature (12.5 in 25, pulldown, animation on twos, low-rate sources). */
export interface Cadence {
  /** Usual number of repeats. */
  readonly usual: number;
  /** Whether the run itself recurs at equal distances: one rate is shown as another. */
  readonly recurs: boolean;
  /** Usual number of moving pictures between two holds. */
  readonly gap: number;
  /** Whether a hold is due where the run stands. */
  readonly isDue: boolean;
  /** Usual change of its repeats, grey levels. */
  readonly level: number;
  /**
   * Longest row of pictures in the run that are like these repeats. When motion reverses, slow pictures between two
   * holds join them.
   */
  readonly repeats: number;
}

/**
 * The cadence around a run, once by the single holds and once by the joined ones. None if holds are rare or far apart,
 * as defects are.
 */
export function cadencesAround(run: RunPlace): Cadence[] {
  return [run.holds, run.runs].flatMap((stretches) => cadenceOf(stretches, run) ?? []);
}

/** True if two other runs as long and as still lie at equal distances from it. */
function recurs({ first, last, moves, fps }: RunPlace, stretches: Stretches): boolean {
  const insideOf = (from: number, to: number) => median(moves.slice(from, to + 1));
  const still = Math.max(RECUR_STILL, RECUR_RATIO * insideOf(first, last));
  const reach = RECUR_REACH_S * fps;
  const places = stretches.flatMap(([from, to]) => {
    const isNear = Math.abs(from - first) <= 2 * reach && to - from >= last - first;
    return isNear && isSharp(moves, from, to) && insideOf(from, to) <= still ? [from] : [];
  });
  const isPlace = (at: number) => places.some((place) => Math.abs(place - at) <= 1);
  return places.some((place) => {
    const step = place - first;
    if (step === 0 || Math.abs(step) > reach) return false;
    // The first and the last of a loop have both others on one side.
    return isPlace(first - step) || isPlace(first + 2 * step);
  });
}

/**
 * First and last picture, within a time of a run, that show how its shot holds pictures; other shots may have other
 * sources.
 */
export function reachOf(
  { first, last, moves, cutSet, fps }: RunPlace,
  reachS: number,
): readonly [number, number] {
  const reach = reachS * fps;
  let from = first;
  while (from > Math.max(0, first - reach) && !cutSet.has(from)) from -= 1;
  let to = last;
  while (to < Math.min(moves.length - 1, last + reach) && !cutSet.has(to + 1)) to += 1;
  return to - from < MIN_SHOT ? [first - reach, last + reach] : [from, to];
}

function cadenceOf(stretches: Stretches, run: RunPlace): Cadence | null {
  const { first, last, moves } = run;
  const [start, end] = reachOf(run, CADENCE_REACH_S);
  const alike = Math.max(ALIKE_STILL, ALIKE_RATIO * Math.max(...moves.slice(first, last + 1)));
  const sharp = stretches.flatMap(([from, to], k) => {
    const isNear = (to < first || from > last) && to >= start && from <= end;
    if (!isNear || !isSharp(moves, from, to)) return [];
    const level = median(moves.slice(from, to + 1));
    const before = from - (stretches[k - 1]?.[1] ?? -Infinity) - 1;
    const after = (stretches[k + 1]?.[0] ?? Infinity) - to - 1;
    const gap = Math.min(before, after);
    return gap <= CADENCE_GAP ? [{ from, length: to - from + 1, gap, level }] : [];
  });
  const others = sharp.filter(({ level }) => level <= alike);
  if (others.length < CADENCE_RUNS) return null;
  const level = median(others.map((other) => other.level));
  return {
    recurs: recurs(run, stretches),
    usual: quantile(
      others.map(({ length }) => length),
      USUAL_SHARE,
    ),
    gap: median(others.map(({ gap }) => gap)),
    level,
    repeats: repeatsIn(run, Math.max(SLOW_LEAST, SLOW_RATIO * level)),
    isDue: isDue(run, stretches, sharp),
  };
}

/**
 * True if the holds next to a run are so far apart that one is due between them. The usual distance is that of all
 * sharp holds, whatever the encoder left of them; without some of them the others seem twice as far apart.
 */
function isDue(
  { first, last }: RunPlace,
  stretches: Stretches,
  others: readonly { readonly from: number }[],
): boolean {
  const before = stretches.findLast(([, to]) => to < first);
  const after = stretches.find(([from]) => from > last);
  if (!before || !after) return true;
  const steps = others.flatMap(({ from }, k) => {
    const next = others[k + 1]?.from ?? first;
    return from < first === next < first && next !== first ? [next - from] : [];
  });
  return after[0] - before[0] >= DUE_SHARE * median(steps);
}

/** Longest row of pictures in a run that change by no more than `most`. */
function repeatsIn({ first, last, moves }: RunPlace, most: number): number {
  let longest = 0;
  let length = 0;
  for (let at = first; at <= last; at += 1) {
    length = (moves[at] ?? 0) <= most ? length + 1 : 0;
    longest = Math.max(longest, length);
  }
  return longest;
}

/** What `standsOut` needs to know about a run. */
export interface Hold {
  /** Change of its liveliest picture over the motion next to it. */
  readonly loudness: number;
  /** Whether the step after it leads over lost pictures. */
  readonly isStep: boolean;
  /** Whether that step is far larger than any next to it. */
  readonly isFarStep: boolean;
}

/**
 * True for a run that no cadence around it explains. One extra repeat where a hold is due may be a picture that the
 * source has twice, as in converted clips (six such runs in 4 of 19 public clips). Without a step over lost pictures
 * after it, such a run does not count.
 */
export function standsOut(cadences: readonly Cadence[], { loudness, isStep, isFarStep }: Hold): boolean {
  return cadences.every(({ usual, gap, recurs, isDue, repeats }) => {
    if (recurs) return false;
    // If every second picture is held, one that the source has twice is held twice.
    if (repeats > 2 * usual + (usual > 1 || gap < WIDE_GAP ? 1 : 0)) return true;
    if (isFarStep && repeats > usual) return true;
    if (isDue && !isStep) return false;
    return usual < MAX_SINGLE && repeats > 1 && gap >= WIDE_GAP && (isStep || loudness <= MAX_LOUD_CADENCE);
  });
}

/**
 * True if pictures rest so often around a run that it is one rest of many: screen recordings, slide shows, motion
 * graphics. The share was measured on eleven such clips in four codings (0.28 and more) and on clips with up to six
 * added runs (below 0.23 in 98 of 100).
 */
export function restsByNature(run: RunPlace): boolean {
  const { first, last, moves, fps } = run;
  if (leapsInClockwork(run)) return false;
  const reach = Math.round(REST_REACH_S * fps);
  const isLong = last - first + 1 >= LONG_RUN;
  // A page that changes looks like a cut, so a long rest is compared with those of the whole screen.
  const [from, to] = !isLong && isInside(run) ? reachOf(run, REST_REACH_S) : [first - reach, last + reach];
  const end = Math.min(moves.length, to + 1);
  const still = isLong ? Math.max(RESTING, RESTING_RATIO * median(moves.slice(first, last + 1))) : RESTING;
  let resting = 0;
  let total = 0;
  for (let at = Math.max(1, from); at < end;) {
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
  const sides = [
    ...moves.slice(Math.max(1, first - FLANK), first),
    ...moves.slice(last + 2, last + 2 + FLANK),
  ];
  const jumps = (moves[last + 1] ?? 0) >= JUMP_RATIO * quantile(sides, LIVELY_SHARE);
  if (jumps && resting <= MOST_RESTING * total) return false;
  return resting > MAX_REST_SHARE * total;
}

/**
 * True for a run within its shot, away from both cuts. Rests in other shots only show how those are made, such as
 * stills between films.
 */
function isInside({ first, last, cutSet }: RunPlace): boolean {
  for (let far = 0; far <= FLANK; far += 1)
    if (cutSet.has(first - far) || cutSet.has(last + far)) return false;
  return true;
}

/** True for a hold whose neighbours are far livelier than anything in it. */
export function isSharp(moves: readonly number[], from: number, to: number): boolean {
  const loudest = Math.max(...moves.slice(from, to + 1));
  return Math.min(moves[from - 1] ?? 0, moves[to + 1] ?? 0) >= SHARP_RATIO * Math.max(0.2, loudest);
}
