import type { FrameSeries } from '#server/media/grey/grey-series.ts';
import { clamp, median } from '#server/media/statistics.ts';
import { showsNothing } from '../detect-cuts.ts';
import { cadencesAround, restsByNature, standsOut, type Cadence, type RunPlace } from './stutter-cadence.ts';
import { findCalmRuns, type CalmRun } from './stutter-calm.ts';
import { isDrawn, repeatsByNature } from './stutter-drawn.ts';
import { drifts } from './stutter-drift.ts';
import { withEarlyNext } from './stutter-early.ts';
import { comesToRest, creeps, easesOut, glidesToRest, isTurn, movesOn, swells } from './stutter-easing.ts';
import { endAtJump, findHeld, joinHolds, toHolds, touches, trimSlow } from './stutter-holds.ts';
import { evidenceBehind, NOTHING_BEHIND } from './stutter-evidence.ts';
import { decideHistories, putIn, repeatsOf, type Judged, type StutterRun } from './stutter-history.ts';
import { leavesMotion } from './stutter-leap.ts';
import { isOverlay } from './stutter-overlay.ts';
import { findFilled, judgeFilled, withFilled } from './stutter-filled.ts';
import { isBetweenFades } from './stutter-fade.ts';
import { explainsLengths, findFreezes } from './stutter-freeze.ts';
import { keepsTime, leadsElsewhere } from './stutter-single.ts';
import { withoutPops } from './stutter-pops.ts';
import { isBetweenPulses } from './stutter-pulses.ts';
import { isRestless } from './stutter-restless.ts';
import { FLANK, judgeSides, SHORTEST_FRAMES, type Candidate, type Sides } from './stutter-sides.ts';
import { isSlide } from './stutter-slides.ts';
import { isEmptyStage } from './stutter-stage.ts';

export type { StutterRun } from './stutter-history.ts';

/**
 * Longest hold that is still a stutter, seconds. A longer one looks like a still, unless the lengths prove otherwise
 * (`findFreezes`).
 */
const LONGEST_S = 1.2;
/**
 * Limits by the length of a run, for the median change inside it over that of the quieter side. Encoders need a few
 * pictures to settle on a repeat, so short runs may change more. A long run that is not completely still is somebody at
 * rest.
 */
const QUIET_LIMITS: readonly { readonly frames: number; readonly limit: number }[] = [
  { frames: 1, limit: 0.42 },
  { frames: 3, limit: 0.24 },
  { frames: 5, limit: 0.2 },
  { frames: 9, limit: 0.06 },
  { frames: 13, limit: 0.03 },
];
export const MAX_QUIET = 0.42;
/** The limit for short runs in little motion, where natural rests are nearly as still. */
const MAX_QUIET_WEAK = 0.2;
const WEAK_LEVEL = 4;
/** The limit before a far step (`isFarStep`), where what the encoder leaves of the repeats matters less. */
const MAX_QUIET_STEP = 0.42;
/** The limit for short runs in even motion (`isPlain`). */
const MAX_QUIET_EVEN = 0.36;
/** The limit in a clip that holds pictures by nature: only a completely still run stands out. */
const MAX_QUIET_CADENCE = 0.06;
/** The limit for a single repeat before a jump. */
const MAX_QUIET_SINGLE = 0.12;
/** Motion of the sides (block difference, grey levels) below which only `findCalmRuns` can tell a run from a rest. */
const MIN_LEVEL = 1.2;
/**
 * The picture next to the run must move at least this share of its side's level: motion that fades out is a shot coming
 * to rest...
 */
const EDGE_SHARE = 0.4;
/** ...or it must exceed the run by this factor, in a run so still that any motion stands out... */
const EDGE_CONTRAST = 12;
/** ...or by this one, if a jump after the run shows that pictures were lost under it. */
const EDGE_CONTRAST_JUMP = 6;
/** In any case it moves this many times more than the liveliest picture of the run... */
const EDGE_RATIO = 1.6;
/** ...and this many times more if only one side can be judged. */
const LONE_EDGE_RATIO = 2.5;
/** If the sides' motion differs by more than this factor, a shot comes to rest or starts to move... */
const MAX_SIDE_RATIO = 8;
/** ...unless the run is shorter than `LONG_RUN` and still compared with the quieter side; figures rest for longer. */
const FROZEN_SHARE = 0.1;
const LONG_RUN = 9;
/** A run without a jump after it that changes more than this may be a pause of hands... */
const FROZEN_QUIET = 0.15;
/** ...when its liveliest picture changes by this share of the quieter side (two of 1951 found runs do). */
const MAX_LOUD_REST = 0.36;
const LONG_ENOUGH = 5;
/** Most change that encoders leave of the usual copy in a run of `LONG_ENOUGH`, grey levels. */
const MAX_SETTLED = 0.8;
/** What a run changes is at least this when its edges are compared with it, grey levels; less is rounding. */
const LEAST_LOUDNESS = 0.2;
/** The first step of other motion is at most this many times its usual one; 0.9 before two dissolves. */
const FIRST_STEP = 1.3;
/**
 * Runs between livelier motion than this are no calm ones, grey levels: what `judge` leaves out there is a game or a film
 * that waits. Of 92 runs planted there it finds each that is found.
 */
const MOST_CALM = 8;
/** Confidence of a completely still run in little motion, or with a far step or even motion around it. */
const CALM_CONFIDENCE = 0.9;
/** Confidence lost for each share of the motion beside it that a run in motion still changes by... */
const LOUD_DOUBT = 1.6;
/** ...and for having two pictures only. */
const PAIR_DOUBT = 0.05;
const MOST_CONFIDENCE = 0.99;

/** What else is known about a clip whose repeats are searched. */
export interface StutterContext {
  /** First pictures of new shots, as returned by `detectCuts`. */
  readonly cuts: readonly number[];
  /** Pictures per second. */
  readonly fps: number;
  /**
   * How many pictures the picture is longer than the sound, as inserted copies make it; null without sound. Only used
   * when the motion does not tell.
   */
  readonly pictureSurplus?: number | null;
  /**
   * True for decoded pictures whose own data are damaged: a step into or out of one says nothing about lost pictures.
   */
  readonly isTorn?: (decoded: number) => boolean;
}

/**
 * Finds repeated pictures within motion. Not reported are still shots, slide shows and screen recordings, which have no
 * motion on both sides or rest again and again, and sources that hold pictures all the time: low rates, stop motion,
 * animation on twos or threes. Constants measured on runs of 2 to 11 pictures added to 19 real clips and on the same
 * clips unchanged. Runs in little motion are found by `findCalmRuns`.
 */
export function detectStutter(
  measured: FrameSeries,
  { cuts, fps, pictureSurplus = null, isTorn = () => false }: StutterContext,
): StutterRun[] {
  const cutSet = new Set(cuts);
  const series = withoutPops(measured, cutSet);
  const moves = series.blockDiff.get(1) ?? [];
  const held = findHeld(moves, cutSet, fps);
  const holes = findFilled({ moves, cutSet, isTorn });
  // The repeat behind a filled hole belongs to its run: as a hold of its own it would make a cadence of two of them.
  const late = new Set(holes.map(({ early }) => early + 1));
  const holds = toHolds(held).filter(([from, to]) => from < to || !late.has(from));
  const runs = joinHolds(holds, moves, cutSet).map((run) => trimSlow(run, moves));
  const clip = { moves, cutSet, held, holds, runs, series, fps, isTorn };
  const judged = runs.flatMap(([first, last]) => judge({ ...clip, first, last }) ?? []);
  const calm = findCalmRuns(moves, cutSet, LONGEST_S * fps).flatMap((run) =>
    judged.some((other) => touches(run, other)) ? [] : (judgeCalm(run, clip) ?? []),
  );
  const known = [...judged, ...calm];
  const filled = holes
    .flatMap((hole) => judgeFilled(hole, clip) ?? [])
    .filter((run) => !known.some((other) => touches(run, other)));
  const all = [...known, ...filled].sort((a, b) => a.first - b.first);
  const faults = all.filter(({ first, last, evidence, motionEvidence }) => {
    const run = { ...clip, first, last };
    const isNature =
      restsByNature(run) ||
      isSlide(run) ||
      isRestless(run, { evidence, motionEvidence }) ||
      isDrawn(run, { evidence, pictureSurplus }) ||
      isEmptyStage(series, run) ||
      leavesMotion(series, run, evidence) ||
      isBetweenPulses(run);
    return (
      !isNature &&
      !isOverlay(run, evidence) &&
      // What repeats still change in front of a filled hole is no motion.
      (late.has(last + 2) || !drifts(series, run)) &&
      !isBetweenFades(series, run)
    );
  });
  const found = faults.map((run) => withoutOwn(run, repeatsByNature({ ...clip, ...run })));
  const withEarly = (run: StutterRun) => {
    if (filled.some(({ first }) => first === run.first)) return withFilled(run);
    return cadencesAround({ ...clip, ...run }).length > 0 ? run : withEarlyNext(run, moves, cutSet, isTorn);
  };
  const freezes = findFreezes(clip, LONGEST_S * fps);
  const decided =
    withFreezes(found, freezes, { pictureSurplus, fps, moves }) ??
    decideHistories(found, pictureSurplus, moves);
  return decided.map((run) => (freezes.includes(run) ? run : withEarly(run)));
}

/** A run without the repeats at its start that its clip shows of every picture. */
const withoutOwn = (run: Judged, repeats: number): Judged =>
  repeats === 0 ? run : { ...run, first: run.first + repeats, startsAtCut: false };

/**
 * Adds freezes that are longer than any stutter. They count only if they and the other inserted copies together explain
 * how much longer the picture is than the sound; otherwise null.
 */
function withFreezes(
  found: readonly Judged[],
  freezes: readonly StutterRun[],
  {
    pictureSurplus,
    fps,
    moves,
  }: Pick<Candidate, 'fps' | 'moves'> & { readonly pictureSurplus: number | null },
): StutterRun[] | null {
  if (freezes.length === 0 || pictureSurplus === null) return null;
  const others = found.filter((run) => !freezes.some((freeze) => touches(run, freeze)));
  const frozen = repeatsOf(freezes);
  const runs = decideHistories(others, pictureSurplus - frozen, moves);
  if (!explainsLengths(pictureSurplus, frozen + putIn(runs), fps)) return null;
  return [...runs, ...freezes].sort((a, b) => a.first - b.first);
}

/** A run with the changes of its pictures, grey levels. */
interface MeasuredRun extends Candidate {
  readonly length: number;
  readonly values: readonly number[];
  /** Usual and largest change. */
  readonly inside: number;
  readonly loudest: number;
}

function measureRun(run: Candidate): MeasuredRun {
  const values = run.moves.slice(run.first, run.last + 1);
  return { ...run, length: values.length, values, inside: median(values), loudest: Math.max(...values) };
}

/** Judges a run by the motion on its sides; null if it is no repeat. */
function judge(candidate: Candidate): Judged | null {
  if (showsNothing(candidate.series, middleOf(candidate))) return null;
  const run = measureRun(candidate);
  const sides = run.length > LONGEST_S * run.fps ? null : judgeSides(run);
  if (!sides || !isStill(run, sides)) return null;
  const cadences = cadencesAround(run);
  if (!endsSharply(run, sides, cadences.length > 0) || rests(run, sides)) return null;
  if (!exceedsCadences(run, sides, cadences)) return null;
  const { startsAtCut, endsAtCut, before, after, judged } = sides;
  const end = endAtJump(run, run.moves, run.cutSet);
  const levelBefore = judged.includes(before) ? before.level : null;
  const quietness = run.inside / sides.quieter;
  return {
    first: run.first,
    last: end,
    ...(endsAtCut ? NOTHING_BEHIND : evidenceBehind({ ...run, last: end }, levelBefore, after.level)),
    startsAtCut,
    endsAtCut,
    quietness,
    confidence: confidenceOf(run.length, quietness, sides.isPlain),
  };
}

function confidenceOf(length: number, quietness: number, isPlain: boolean): number {
  const plain = isPlain ? CALM_CONFIDENCE - quietness : 0;
  const doubt = length === SHORTEST_FRAMES ? PAIR_DOUBT : 0;
  return clamp(Math.max(1 - LOUD_DOUBT * quietness, plain) - doubt, 0, MOST_CONFIDENCE);
}

/** Whether a run is far stiller than the motion on its sides. */
function isStill(run: MeasuredRun, sides: Sides): boolean {
  const { length, inside } = run;
  const { quieter, livelier, jumps, isFarStep, isPlain } = sides;
  if (length < SHORTEST_FRAMES && !isSingleRepeat(run, sides)) return false;
  const plainLimit = isPlain ? (isFarStep ? MAX_QUIET_STEP : MAX_QUIET_EVEN) : 0;
  const limit = Math.max(quietLimit(length, quieter, jumps), plainLimit);
  if (quieter < MIN_LEVEL || inside > limit * quieter) return false;
  const isFrozen = length < LONG_RUN && inside <= FROZEN_SHARE * quieter;
  return livelier <= MAX_SIDE_RATIO * quieter || isFrozen;
}

/** Whether a single still picture stands over a lost one: only the jump after it can say so. */
function isSingleRepeat(run: MeasuredRun, { jumps, quieter, livelier }: Sides): boolean {
  if (!jumps || quieter < WEAK_LEVEL || run.inside > MAX_QUIET_SINGLE * quieter) return false;
  return !leadsElsewhere(run.series, run.last, livelier) && !keepsTime(run);
}

/** Whether the motion stops and starts at once on each judged side. */
function endsSharply(
  { length, loudest }: MeasuredRun,
  { judged, jumps }: Sides,
  isCadence: boolean,
): boolean {
  const contrast = jumps ? EDGE_CONTRAST_JUMP : EDGE_CONTRAST;
  const ratio = judged.length === 1 ? LONE_EDGE_RATIO : EDGE_RATIO;
  return judged.every(({ edge, next, level }) => {
    // Where pictures are repeated all the time, another repeat may stand right next to the run.
    const motion = isCadence && length >= SHORTEST_FRAMES ? Math.max(edge, next) : edge;
    if (motion < ratio * loudest) return false;
    return motion >= EDGE_SHARE * level || motion >= contrast * Math.max(LEAST_LOUDNESS, loudest);
  });
}

/** Whether a run looks like something that comes to rest, turns or pauses. */
function rests(run: MeasuredRun, { judged, before, startsAtCut, jumps, quieter }: Sides): boolean {
  const { length, values, inside, loudest } = run;
  if (isTurn(run)) return true;
  const isUnsettled = movesOn(values, quieter) || (!jumps && inside > MAX_SETTLED);
  if ((length >= LONG_ENOUGH && isUnsettled) || creeps(values)) return true;
  if (length >= SHORTEST_FRAMES && !startsAtCut && glidesToRest(run)) return true;
  if (judged.length === 1 && easesOut(run, judged[0] === before ? -1 : 1, quieter)) return true;
  return !jumps && inside / quieter > FROZEN_QUIET && loudest > MAX_LOUD_REST * quieter;
}

/** Whether a run is more than the clip's way of holding pictures. */
function exceedsCadences(run: MeasuredRun, sides: Sides, cadences: readonly Cadence[]): boolean {
  const { inside, loudest } = run;
  const { quieter, jumps, isStep, isFarStep } = sides;
  if (!standsOut(cadences, { loudness: loudest / quieter, isStep, isFarStep })) return false;
  const isAlike = cadences.every(({ level }) => inside <= level);
  return isAlike || inside / quieter <= (jumps ? MAX_QUIET_WEAK : MAX_QUIET_CADENCE);
}

/** Judges a run in little motion found by `findCalmRuns`; null if the clip holds pictures by nature. */
function judgeCalm(
  { first, last, quietness }: CalmRun,
  clip: Omit<Candidate, 'first' | 'last'>,
): Judged | null {
  const { moves, cutSet, series } = clip;
  const run = { ...clip, first, last };
  const length = last - first + 1;
  const place = { loudness: quietness, isStep: false, isFarStep: false };
  if (showsNothing(series, middleOf(run)) || !standsOut(cadencesAround(run), place)) return null;
  if (length >= LONG_RUN ? comesToRest(run) : glidesToRest(run) || isTurn(run)) return null;
  const endsAtCut = cutSet.has(last + 1);
  const before = median(moves.slice(Math.max(1, first - FLANK), first));
  if (endsAtCut && easesOut(run, -1, before)) return null;
  const after = median(moves.slice(last + 1, last + 1 + FLANK));
  if (length >= LONG_ENOUGH && swells(moves.slice(first, last + 1), Math.min(before, after))) return null;
  const startsAtCut = cutSet.has(first - 1);
  // Behind copies of the first picture of a shot the motion is there at once.
  if (startsAtCut && easesOut(run, 1, after)) return null;
  if (Math.min(before, after) > MOST_CALM) return null;
  const isUneven = Math.max(before, after) > MAX_SIDE_RATIO * Math.min(before, after);
  const end = endAtJump(run, moves, cutSet);
  const evidence = endsAtCut ? NOTHING_BEHIND : evidenceBehind({ ...run, last: end }, before, after);
  if (isUneven && length >= LONG_RUN && evidence.evidence <= 0 && !endsAtCut) return null;
  if (isUneven && after > before && !endsAtCut && startsAnew(run, end, after)) return null;
  return {
    first,
    last: end,
    ...evidence,
    startsAtCut,
    endsAtCut,
    quietness,
    confidence: clamp(CALM_CONFIDENCE - quietness, 0, MOST_CONFIDENCE),
  };
}

/**
 * Whether other, livelier motion starts behind a run, by a step as long as its own: a shot rested, and something else
 * begins, such as a dissolve. Lost pictures make the step longer.
 * @param end last picture of the run
 * @param after usual change behind it
 */
const startsAnew = ({ moves }: RunPlace, end: number, after: number): boolean =>
  (moves[end + 1] ?? 0) <= FIRST_STEP * after;

const middleOf = ({ first, last }: Pick<RunPlace, 'first' | 'last'>) => Math.floor((first + last) / 2);

function quietLimit(length: number, quieter: number, jumps: boolean): number {
  const limit = QUIET_LIMITS.findLast((step) => length >= step.frames)?.limit ?? 0;
  return quieter < WEAK_LEVEL && !jumps ? Math.min(limit, MAX_QUIET_WEAK) : limit;
}
