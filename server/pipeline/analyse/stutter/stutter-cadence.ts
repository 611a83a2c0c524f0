import { median, quantile } from '#server/media/statistics.ts';
import { leapsInClockwork } from './stutter-clockwork.ts';

/** A hold is sharp when the pictures beside it change this many times more than its liveliest. */
const SHARP_RATIO = 2;
/** So many other sharp holds within this time of a run, each close to another hold, make holding the cadence. */
const CADENCE_RUNS = 3;
const CADENCE_REACH_S = 1.5;
/** Living pictures between the holds of a cadence: 5 where 25 pictures are shown as 30, fewer in all others. */
const CADENCE_GAP = 6;
/** A shorter shot, pictures, does not show by itself how its pictures are held. */
const MIN_SHOT = 24;
/** How far apart runs of one length may come again where one rate is shown as another. */
const RECUR_REACH_S = 1.5;
/** They are as still as the run: this many times livelier at most, or below this (grey levels). */
const RECUR_RATIO = 3;
const RECUR_STILL = 0.1;
/** Other holds are repeats like those of a run when they are so many times livelier at most, or below this (grey levels). */
const ALIKE_RATIO = 4;
const ALIKE_STILL = 0.1;
/** The length that this share of the holds stays within is the usual one. */
const USUAL_SHARE = 0.6;
/** Between repeats that are usually single (a quantile between one and two) and this far apart (24 shown as 25 or 30) no run of two is natural... */
const MAX_SINGLE = 1.5;
const WIDE_GAP = 2;
/** ...when a step over lost pictures follows or it is frozen to this share of the motion beside it. */
const MAX_LOUD_CADENCE = 0.12;
/** A picture this many times livelier than the usual repeat of a cadence, and by this (grey levels), is slow motion between two of its holds. */
const SLOW_RATIO = 10;
const SLOW_LEAST = 0.5;
/** Holds this many times as far apart as usual have room for one between them. */
const DUE_SHARE = 1.5;

/** Screens and slides rest; a share of resting pictures around a run from which on rests are how the clip is. */
const MAX_REST_SHARE = 0.25;
const REST_REACH_S = 5;
/** Change below which a picture rests, grey levels... */
const RESTING = 0.3;
/** ...and for a long run, which a rest explains best, this many times the usual change inside it. */
const RESTING_RATIO = 1.5;
const LONG_RUN = 9;
/** A rest is at least so many pictures long; what exceeds this time of one still shot counts no further. */
const MIN_REST = 3;
const MAX_REST_S = 0.5;

type Stretches = readonly (readonly [number, number])[];

/** A step this many times the lively ones beside a run proves lost pictures, whatever else rests... */
const JUMP_RATIO = 3;
/** ...up to this share: what rests most of the time is a screen, whose pages turn at once (0.56 around a rest of a page, of a second, that was taken for a freeze). */
const MOST_RESTING = 0.5;
const FLANK = 6;
const LIVELY_SHARE = 0.9;

/** Where a run stands, and what else is held in the clip, ascending. */
export interface RunPlace {
  readonly first: number;
  readonly last: number;
  readonly moves: readonly number[];
  /** All stretches of held pictures. */
  readonly holds: Stretches;
  /** The same with quality steps of the encoder inside them joined. */
  readonly runs: Stretches;
  /** First pictures of new shots. */
  readonly cutSet: ReadonlySet<number>;
  readonly fps: number;
}

/** How a clip holds pictures by nature (12.5 in 25, pulldown, animation on twos, low-rate sources). */
export interface Cadence {
  /** Usual number of repeats. */
  readonly usual: number;
  /** Whether the run itself comes again at equal distances: one rate shown as another. */
  readonly recurs: boolean;
  /** Usual number of living pictures between two holds. */
  readonly gap: number;
  /** Whether the run stands where one of the holds is due. */
  readonly isDue: boolean;
  /** Usual change of its repeats, grey levels. */
  readonly level: number;
  /** Repeats of the run in a row that are like these: where motion turns, slow pictures between two holds join them. */
  readonly repeats: number;
}

/**
 * The cadence around a run as the single holds show it, and as the joined ones do; none where holds are rare
 * or stand apart, as faults do.
 */
export function cadencesAround(run: RunPlace): Cadence[] {
  return [run.holds, run.runs].flatMap((stretches) => cadenceOf(stretches, run) ?? []);
}

/** True for a run as long as two others, as still, that stand as far from it, or from each other, as it does from one. */
function recurs({ first, last, moves, fps }: RunPlace, stretches: Stretches): boolean {
  const insideOf = (from: number, to: number) => median(moves.slice(from, to + 1));
  const still = Math.max(RECUR_STILL, RECUR_RATIO * insideOf(first, last));
  const places = stretches.flatMap(([from, to]) => {
    const isNear = Math.abs(from - first) <= RECUR_REACH_S * fps && to - from >= last - first;
    return isNear && isSharp(moves, from, to) && insideOf(from, to) <= still ? [from] : [];
  });
  const isPlace = (at: number) => places.some((place) => Math.abs(place - at) <= 1);
  return places.some((place) => {
    const step = place - first;
    return step !== 0 && (isPlace(first - step) || isPlace(first + 2 * step));
  });
}

/** First and last picture within a time of a run that may show how its shot holds pictures: other shots may come from elsewhere. */
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
 * True where the holds beside a run stand so far apart that one is due between them. All sharp holds tell how far apart that is, however
 * much encoders left of them: without some of them the others seem twice as far apart.
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

/** Most pictures of a run in a row that change by no more than `most`. */
function repeatsIn({ first, last, moves }: RunPlace, most: number): number {
  let longest = 0;
  let length = 0;
  for (let at = first; at <= last; at += 1) {
    length = (moves[at] ?? 0) <= most ? length + 1 : 0;
    longest = Math.max(longest, length);
  }
  return longest;
}

/** What is asked of a cadence about a run. */
export interface Hold {
  /** Its liveliest picture over the motion beside it. */
  readonly loudness: number;
  /** Whether the step behind it goes over lost pictures. */
  readonly isStep: boolean;
  /** Whether that step is far longer than any beside it. */
  readonly isFarStep: boolean;
}

/**
 * True for a run that no cadence around it explains. One repeat more where one is due is a picture that the source
 * has twice, which happens in converted clips (six such runs in 4 of 19 public clips); without a step over lost
 * pictures behind it nothing is told.
 */
export function standsOut(cadences: readonly Cadence[], { loudness, isStep, isFarStep }: Hold): boolean {
  return cadences.every(({ usual, gap, recurs, isDue, repeats }) => {
    if (recurs) return false;
    // A picture that the source has twice is held twice where one in two is held.
    if (repeats > 2 * usual + (usual > 1 || gap < WIDE_GAP ? 1 : 0)) return true;
    if (isFarStep && repeats > usual) return true;
    if (isDue && !isStep) return false;
    return usual < MAX_SINGLE && repeats > 1 && gap >= WIDE_GAP && (isStep || loudness <= MAX_LOUD_CADENCE);
  });
}

/**
 * True where pictures rest so often around a run that the run is one rest of many: screen recordings, slide
 * shows, motion graphics. The share was measured on eleven such clips in four codings (0.28 and more) against
 * clips with up to six planted runs (below 0.23 in 98 of 100).
 */
export function restsByNature(run: RunPlace): boolean {
  const { first, last, moves, fps } = run;
  if (leapsInClockwork(run)) return false;
  const reach = Math.round(REST_REACH_S * fps);
  const isLong = last - first + 1 >= LONG_RUN;
  // A page that jumps looks like a cut: a long rest is held against those of the whole screen.
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

/** True for a run within its shot, away from both of its cuts: what rests in others is how those are made, as stills between films. */
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
