import { median, quantile } from '#server/media/statistics.ts';

/** Pictures on each side that a run is compared with. */
const FLANK = 8;
/** A side with fewer pictures (before a cut, at the end of the clip) cannot be judged... */
const MIN_SIDE = 3;
/** ...and the other side then needs this many. */
const MIN_LONE_SIDE = 6;
/** Every picture on the sides must change by this much (block difference, grey levels)... */
const MIN_FLOOR = 0.15;
/** ...or by this much if only one side can be judged: encoders rest for some pictures after a cut. */
const MIN_LONE_FLOOR = 0.8;
/** Limits for the run itself shrink to this share there. */
const LONE_SHARE = 0.7;
/** Smaller changes are rounding, grey levels. */
const LEAST = 0.03;
/**
 * Of runs that overlap, how still each is counts down to this only, grey levels: the first copies change by some
 * hundredths that the encoder refines, and the last by nothing.
 */
const AS_STILL = 0.1;
/** A picture that changes more than this share of all those before a run is a quality step, or ends the run. */
const LIVELY_SHARE = 0.36;
/** Most change that encoders leave of a repeat, grey levels. */
const HELD_MAX = 2.6;
/** The first picture of a run changes by at most this share of the one before it. */
const DROP_SHARE = 0.45;
/** Limits for the liveliest picture of a run over the stillest of its sides. Short runs are more likely by chance. */
const LOUD_LIMITS = [
  { frames: 2, limit: 0.15 },
  { frames: 3, limit: 0.3 },
  { frames: 5, limit: 0.33 },
] as const;
/**
 * Limits for the usual picture of a run over the usual one of its sides. A long run that is not completely still is
 * somebody at rest.
 */
const QUIET_LIMITS = [
  { frames: 2, limit: 0.3 },
  { frames: 9, limit: 0.2 },
  { frames: 13, limit: 0.12 },
  { frames: 21, limit: 0.07 },
  { frames: 31, limit: 0.05 },
] as const;
/** From this many pictures on, one picture, or this share of them, may be quality steps of the encoder... */
const POP_FRAMES = 4;
const POP_COUNT = 0.15;
/** ...that stay below this share of the usual picture of the sides. */
const POP_SHARE = 0.8;
/**
 * Unless the last picture of the run leads to the next one by less than this: motion that starts slowly, such as a
 * title that fades in, and no quality step.
 */
const SET_OUT_RATIO = 2;
/**
 * A step this many times livelier than everything around proves lost pictures; chance dips on the sides are then
 * allowed.
 */
const JUMP_RATIO = 1.6;
/** Share of the side pictures that may be such dips. */
const DIP_SHARE = 0.2;

/** A run of pictures that are far stiller than every picture around it. */
export interface CalmRun {
  readonly first: number;
  readonly last: number;
  /** Median change inside over the median of the quieter side. */
  readonly quietness: number;
}

/**
 * Finds repeats in little motion. What matters is not how much the shot moves, but that a run is far stiller than the
 * stillest picture near it, unlike natural motion and sensor noise. If any picture on the sides is still as well
 * (screens, slides, animation on twos), nothing is found. Limits measured on runs of 2 to 30 pictures added to 24 clips
 * in four codings, and on the same clips unchanged.
 * @param moves block difference of each picture to the one before, grey levels
 * @param longest most pictures of a run
 * @returns runs that do not touch each other, ascending
 */
export function findCalmRuns(
  moves: readonly number[],
  cuts: ReadonlySet<number>,
  longest: number,
): CalmRun[] {
  const found: Weighed[] = [];
  for (let first = 2; first < moves.length; first += 1) {
    if (cuts.has(first) || (moves[first] ?? 0) > DROP_SHARE * (moves[first - 1] ?? 0)) continue;
    const before = sideOf(moves, cuts, first - 1, -1);
    const lively = before.length < MIN_SIDE ? Infinity : LIVELY_SHARE * Math.max(...before);
    let pops = 0;
    let isWhole = false;
    for (let last = first + 1; last < moves.length - 1 && last - first < longest; last += 1) {
      const isPop = (moves[last] ?? 0) > lively;
      if (isPop) pops += 1;
      if (cuts.has(last) || pops > popsIn(longest)) break;
      const run = weigh(moves, [first, last], before, sideOf(moves, cuts, last + 1, 1));
      // Behind a run that is one without it, a livelier picture moves.
      if (run && !(isPop && isWhole)) found.push(run);
      isWhole = run !== null;
    }
  }
  const kept: CalmRun[] = [];
  for (const run of found.sort((a, b) => b.contrast - a.contrast)) {
    if (kept.every((other) => run.first > other.last + 1 || run.last < other.first - 1)) kept.push(run);
  }
  return kept.sort((a, b) => a.first - b.first);
}

interface Weighed extends CalmRun {
  readonly contrast: number;
}

function sideOf(
  moves: readonly number[],
  cuts: ReadonlySet<number>,
  start: number,
  direction: -1 | 1,
): number[] {
  const values: number[] = [];
  for (let at = start; at > 0 && at < moves.length && values.length < FLANK; at += direction) {
    if (cuts.has(at)) break;
    values.push(moves[at] ?? 0);
  }
  return values;
}

function weigh(
  moves: readonly number[],
  [first, last]: readonly [number, number],
  before: readonly number[],
  after: readonly number[],
): Weighed | null {
  const telling = [before, after].filter((side) => side.length >= MIN_SIDE);
  const isLone = telling.length === 1;
  if (telling.length === 0 || (isLone && (telling[0]?.length ?? 0) < MIN_LONE_SIDE)) return null;
  const levels = telling.map((side) => median(side));
  const quieter = Math.min(...levels);
  // A side that rests is no motion, even where a jump allows for dips in it.
  if (quieter < MIN_FLOOR) return null;
  const nearest = [...before.slice(0, 3), ...after.slice(1, 4), ...levels];
  const jumps = before.length >= MIN_SIDE && (after[0] ?? 0) >= JUMP_RATIO * Math.max(...nearest);
  const sides = [...before, ...after];
  const floor = jumps ? quantile(sides, DIP_SHARE) : Math.min(...sides);
  if (floor < (isLone && !jumps ? MIN_LONE_FLOOR : MIN_FLOOR)) return null;
  const values = moves.slice(first, last + 1);
  const setsOut = (after[0] ?? 0) < SET_OUT_RATIO * (values.at(-1) ?? 0);
  const pop = isLone ? 0 : POP_SHARE * quieter;
  const loudest = setsOut ? Math.max(...values) : loudestBut(values, pop);
  const inside = median(values);
  if (loudest > HELD_MAX || inside > limitFor(QUIET_LIMITS, values.length) * quieter) return null;
  const loudness = Math.max(LEAST, loudest) / floor;
  if (loudness > limitFor(LOUD_LIMITS, values.length) * (isLone ? LONE_SHARE : 1)) return null;
  const contrast = (Math.sqrt(values.length) * floor) / Math.max(AS_STILL, loudest);
  return { first, last, quietness: inside / quieter, contrast };
}

/** The liveliest picture of a run, without quality steps of the encoder below `pop`. */
function loudestBut(values: readonly number[], pop: number): number {
  const sorted = [...values].sort((a, b) => b - a);
  const pops = popsIn(values.length);
  return sorted.slice(0, pops).every((value) => value < pop) ? (sorted[pops] ?? 0) : (sorted[0] ?? 0);
}

function popsIn(frames: number): number {
  return frames >= POP_FRAMES ? Math.max(1, Math.floor(POP_COUNT * frames)) : 0;
}

function limitFor(
  limits: readonly { readonly frames: number; readonly limit: number }[],
  frames: number,
): number {
  return limits.findLast((step) => frames >= step.frames)?.limit ?? 0;
}
