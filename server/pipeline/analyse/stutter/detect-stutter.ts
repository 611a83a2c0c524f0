import type { FrameSeries } from '#server/media/grey/grey-series.ts';
import { clamp, median } from '#server/media/statistics.ts';
import { showsNothing } from '../detect-cuts.ts';
import { cadencesAround, restsByNature, standsOut, type RunPlace } from './stutter-cadence.ts';
import { findCalmRuns, type CalmRun } from './stutter-calm.ts';
import { isDrawn } from './stutter-drawn.ts';
import { drifts } from './stutter-drift.ts';
import { withEarlyNext } from './stutter-early.ts';
import { comesToRest, easesOut, glidesToRest, isRising, isTurn, isValley } from './stutter-easing.ts';
import { endAtJump, findHeld, joinHolds, toHolds, trimSlow } from './stutter-holds.ts';
import { evidenceBehind, NOTHING_BEHIND } from './stutter-evidence.ts';
import { decideHistories, putIn, repeatsOf, type Judged, type StutterRun } from './stutter-history.ts';
import { leavesMotion } from './stutter-leap.ts';
import { isOverlay } from './stutter-overlay.ts';
import { isBetweenFades } from './stutter-fade.ts';
import { explainsLengths, findFreezes } from './stutter-freeze.ts';
import { keepsTime, leadsElsewhere } from './stutter-single.ts';
import { withoutPops } from './stutter-pops.ts';
import { isRestless } from './stutter-restless.ts';
import { isSlide } from './stutter-slides.ts';
import { isEmptyStage } from './stutter-stage.ts';

export type { StutterRun } from './stutter-history.ts';

/**
 * Longest hold that is still a stutter, seconds. A longer one looks like a still, unless the lengths prove otherwise
 * (`findFreezes`).
 */
const LONGEST_S = 1.2;
/**
 * Shortest run that is reported without a jump after it; a jump proves that a picture was lost under a single repeat.
 */
const SHORTEST_FRAMES = 2;
/** Pictures on each side that must move. */
const FLANK = 6;
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
/**
 * The limit before a step this many times the livelier side. What the encoder leaves of the repeats matters less there.
 */
const MAX_QUIET_STEP = 0.42;
const FAR_STEP_RATIO = 2.5;
/**
 * The limit for runs up to this length in even motion: the stillest picture of each side changes by this share of the
 * usual one.
 */
const MAX_QUIET_EVEN = 0.36;
const EVEN_SHARE = 0.75;
const LONGEST_EVEN = 8;
/** The limit in a clip that holds pictures by nature: only a completely still run stands out. */
const MAX_QUIET_CADENCE = 0.06;
/** A step this many times the livelier side, right after the run, proves that the hold covers lost pictures. */
const JUMP_RATIO = 1.5;
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
/** A cut or the start of the clip this close to a run leaves no room for a side, pictures. */
const NEAR_CUT = 2;
/** At least this many of the six pictures on a side must move: a screen that changes now and then is not in motion. */
const MIN_LIVELY = 3;
/**
 * Least number of pictures if only one side can be judged, because a shot begins or ends on the other. Fewer lie
 * between two rests of a short shot in a montage (two montages, four runs). All of 44 runs added at cuts in 16 public
 * clips have as many.
 */
const MIN_LONE = 4;
/** A run without a jump after it that changes more than this may be a pause of hands... */
const FROZEN_QUIET = 0.15;
/** ...when its liveliest picture changes by this share of the quieter side (two of 1951 found runs do). */
const MAX_LOUD_REST = 0.36;
const LONG_ENOUGH = 5;
/** Most change that encoders leave of the usual copy in a run of `LONG_ENOUGH`, grey levels. */
const MAX_SETTLED = 0.8;
/** Confidence of a completely still run in little motion, or with a far step or even motion around it. */
const CALM_CONFIDENCE = 0.9;

/**
 * Finds repeated pictures within motion. Not reported are still shots, slide shows and screen recordings, which have no
 * motion on both sides or rest again and again, and sources that hold pictures all the time: low rates, stop motion,
 * animation on twos or threes. Constants measured on runs of 2 to 11 pictures added to 19 real clips and on the same
 * clips unchanged. Runs in little motion are found by `findCalmRuns`.
 * @param cuts first pictures of new shots, as returned by `detectCuts`
 * @param fps pictures per second
 * @param pictureSurplus how many pictures the picture is longer than the sound, as inserted copies make it; null
 * without sound. Only used when the motion does not tell
 * @param isTorn true for decoded pictures whose own data are damaged: a step into or out of one says nothing about lost
 * pictures
 */
export function detectStutter(
  measured: FrameSeries,
  cuts: readonly number[],
  fps: number,
  pictureSurplus: number | null = null,
  isTorn: (decoded: number) => boolean = () => false,
): StutterRun[] {
  const cutSet = new Set(cuts);
  const series = withoutPops(measured, cutSet);
  const moves = series.blockDiff.get(1) ?? [];
  const held = findHeld(moves, cutSet, fps);
  const holds = toHolds(held);
  const runs = joinHolds(holds, moves, cutSet).map((run) => trimSlow(run, moves));
  const clip = { moves, cutSet, held, holds, runs, series, fps, isTorn };
  const judged = runs.flatMap(([first, last]) => judge({ ...clip, first, last }) ?? []);
  const calm = findCalmRuns(moves, cutSet, LONGEST_S * fps).flatMap((run) =>
    judged.some((other) => touches(run, other)) ? [] : (judgeCalm(run, clip) ?? []),
  );
  const all = [...judged, ...calm].sort((a, b) => a.first - b.first);
  const found = all.filter(({ first, last, evidence, motionEvidence }) => {
    const run = { ...clip, first, last };
    const isNature =
      restsByNature(run) ||
      isSlide(run) ||
      isRestless(run, { evidence, motionEvidence }) ||
      isDrawn(run, { evidence, pictureSurplus }) ||
      isEmptyStage(series, run) ||
      leavesMotion(series, run, evidence);
    return !isNature && !isOverlay(run, evidence) && !drifts(series, run) && !isBetweenFades(series, run);
  });
  const withEarly = (run: StutterRun) =>
    cadencesAround({ ...clip, ...run }).length > 0 ? run : withEarlyNext(run, moves, cutSet, isTorn);
  const freezes = findFreezes(clip, LONGEST_S * fps);
  return (withFreezes(found, freezes, pictureSurplus, fps) ?? decideHistories(found, pictureSurplus)).map(
    (run) => (freezes.includes(run) ? run : withEarly(run)),
  );
}

/**
 * Adds freezes that are longer than any stutter. They count only if they and the other inserted copies together explain
 * how much longer the picture is than the sound; otherwise null.
 */
function withFreezes(
  found: readonly Judged[],
  freezes: readonly StutterRun[],
  pictureSurplus: number | null,
  fps: number,
): StutterRun[] | null {
  if (freezes.length === 0 || pictureSurplus === null) return null;
  const others = found.filter((run) => !freezes.some((freeze) => touches(run, freeze)));
  const frozen = repeatsOf(freezes);
  const runs = decideHistories(others, pictureSurplus - frozen);
  if (!explainsLengths(pictureSurplus, frozen + putIn(runs), fps)) return null;
  return [...runs, ...freezes].sort((a, b) => a.first - b.first);
}

interface Candidate extends RunPlace {
  readonly held: readonly boolean[];
  readonly series: FrameSeries;
  readonly isTorn: (decoded: number) => boolean;
}

function judge(run: Candidate): Judged | null {
  const { first, last, moves, cutSet, series } = run;
  const length = last - first + 1;
  if (length > LONGEST_S * run.fps) return null;
  const startsAtCut = cutSet.has(first - 1) || (first >= 2 && cutSet.has(first));
  const endsAtCut = cutSet.has(last + 1);
  const before = sideMotion(run, -1);
  const after = sideMotion(run, 1);
  if (showsNothing(series, middleOf(run))) return null;
  const values = moves.slice(first, last + 1);
  const inside = median(values);
  const tells = (side: Side) => length < SHORTEST_FRAMES || side.count >= 2 || !side.endsAtCut;
  const alive = [
    startsAtCut || !tells(before) ? null : before,
    endsAtCut || !tells(after) ? null : after,
  ].filter((side) => side !== null);
  if (alive.length === 0 || alive.some((side) => side.count < 2 || side.lively < MIN_LIVELY)) return null;
  if (alive.length === 1 && alive.some((side) => side.count < MIN_LONE)) return null;
  const quieter = Math.min(...alive.map((side) => side.level));
  const livelier = Math.max(...alive.map((side) => side.level));
  const jumps = !endsAtCut && after.edge >= JUMP_RATIO * livelier;
  if (length < SHORTEST_FRAMES) {
    if (!jumps || quieter < WEAK_LEVEL || inside > MAX_QUIET_SINGLE * quieter) return null;
    if (leadsElsewhere(series, last, livelier) || keepsTime(run)) return null;
  }
  const isFarStep = !endsAtCut && after.edge >= FAR_STEP_RATIO * livelier;
  const isEven = alive.length === 2 && alive.every((side) => side.least >= EVEN_SHARE * side.level);
  const isPlain = length <= LONGEST_EVEN && (isFarStep || isEven);
  const plainLimit = isPlain ? (isFarStep ? MAX_QUIET_STEP : MAX_QUIET_EVEN) : 0;
  const limit = Math.max(quietLimit(length, quieter, jumps), plainLimit);
  if (quieter < MIN_LEVEL || inside > limit * quieter) return null;
  const isFrozen = length < LONG_RUN && inside <= FROZEN_SHARE * quieter;
  if (livelier > MAX_SIDE_RATIO * quieter && !isFrozen) return null;
  const loudest = Math.max(...values);
  const cadences = cadencesAround(run);
  // Where pictures are repeated all the time, another repeat may stand right next to the run.
  const edgeOf = (side: Side) =>
    cadences.length > 0 && length >= SHORTEST_FRAMES ? Math.max(side.edge, side.next) : side.edge;
  const contrast = jumps ? EDGE_CONTRAST_JUMP : EDGE_CONTRAST;
  const edgeRatio = alive.length === 1 ? LONE_EDGE_RATIO : EDGE_RATIO;
  const sharp = (side: Side) =>
    edgeOf(side) >= edgeRatio * loudest &&
    (edgeOf(side) >= EDGE_SHARE * side.level || edgeOf(side) >= contrast * Math.max(0.2, loudest));
  if (!alive.every(sharp) || isTurn(run)) return null;
  if (length >= LONG_ENOUGH && (isValley(values) || isRising(values) || (!jumps && inside > MAX_SETTLED)))
    return null;
  if (length >= SHORTEST_FRAMES && !startsAtCut && glidesToRest(run)) return null;
  if (alive.length === 1 && easesOut(run, alive[0] === before ? -1 : 1, quieter)) return null;
  const quietness = inside / quieter;
  if (!jumps && quietness > FROZEN_QUIET && loudest > MAX_LOUD_REST * quieter) return null;
  const isStep = jumps && after.edge >= JUMP_RATIO * Math.max(before.edge, after.next);
  if (!standsOut(cadences, { loudness: loudest / quieter, isStep, isFarStep })) return null;
  const isAlike = cadences.every(({ level }) => inside <= level);
  if (!isAlike && quietness > (jumps ? MAX_QUIET_WEAK : MAX_QUIET_CADENCE)) return null;
  const end = endAtJump(run, moves, cutSet);
  const levelBefore = startsAtCut || !tells(before) ? null : before.level;
  return {
    first,
    last: end,
    ...(endsAtCut ? NOTHING_BEHIND : evidenceBehind({ ...run, last: end }, levelBefore, after.level)),
    startsAtCut,
    endsAtCut,
    quietness,
    confidence: clamp(
      Math.max(1 - 1.6 * quietness, isPlain ? CALM_CONFIDENCE - quietness : 0) - (length === 2 ? 0.05 : 0),
      0,
      0.99,
    ),
  };
}

/** Judges a run in little motion found by `findCalmRuns`; null if the clip holds pictures by nature. */
function judgeCalm(
  { first, last, quietness }: CalmRun,
  clip: Omit<Candidate, 'first' | 'last'>,
): Judged | null {
  const { moves, cutSet, series } = clip;
  const run = { ...clip, first, last };
  const place = { loudness: quietness, isStep: false, isFarStep: false };
  if (showsNothing(series, middleOf(run)) || !standsOut(cadencesAround(run), place)) return null;
  if (last - first + 1 >= LONG_RUN ? comesToRest(run) : glidesToRest(run)) return null;
  const endsAtCut = cutSet.has(last + 1);
  const before = median(moves.slice(Math.max(1, first - FLANK), first));
  if (endsAtCut && easesOut(run, -1, before)) return null;
  const after = median(moves.slice(last + 1, last + 1 + FLANK));
  const isUneven = Math.max(before, after) > MAX_SIDE_RATIO * Math.min(before, after);
  const end = endAtJump(run, moves, cutSet);
  const evidence = endsAtCut ? NOTHING_BEHIND : evidenceBehind({ ...run, last: end }, before, after);
  if (isUneven && last - first + 1 >= LONG_RUN && evidence.evidence <= 0 && !endsAtCut) return null;
  return {
    first,
    last: end,
    ...evidence,
    startsAtCut: cutSet.has(first - 1),
    endsAtCut,
    quietness,
    confidence: clamp(CALM_CONFIDENCE - quietness, 0, 0.99),
  };
}

type Span = Pick<RunPlace, 'first' | 'last'>;

const middleOf = ({ first, last }: Span) => Math.floor((first + last) / 2);

function touches(run: Span, { first, last }: Span): boolean {
  return run.first <= last + 1 && run.last >= first - 1;
}

function quietLimit(length: number, quieter: number, jumps: boolean): number {
  const limit = QUIET_LIMITS.findLast((step) => length >= step.frames)?.limit ?? 0;
  return quieter < WEAK_LEVEL && !jumps ? Math.min(limit, MAX_QUIET_WEAK) : limit;
}

interface Side {
  /** Median block difference of the moving pictures on this side. */
  readonly level: number;
  /** Least block difference of these pictures. */
  readonly least: number;
  /** The picture next to the run, and the one beyond it. */
  readonly edge: number;
  readonly next: number;
  readonly count: number;
  /** Moving pictures among the six next to the run; all of them count if a cut comes first. */
  readonly lively: number;
  readonly endsAtCut: boolean;
}

function sideMotion({ first, last, moves, cutSet, held }: Candidate, direction: -1 | 1): Side {
  const values: number[] = [];
  const start = direction < 0 ? first - 1 : last + 1;
  let lively = 0;
  let endsAtCut = false;
  for (let far = 0; far < 2 * FLANK && values.length < FLANK; far += 1) {
    const at = start + direction * far;
    const isCut = cutSet.has(at);
    if (at <= 0 || at >= moves.length || isCut) {
      endsAtCut = far <= NEAR_CUT && (isCut || (at <= 0 && far > 0));
      if (far < FLANK) lively += FLANK - far;
      break;
    }
    if (held[at]) continue;
    values.push(moves[at] ?? 0);
    if (far < FLANK) lively += 1;
  }
  return {
    level: median(values),
    least: Math.min(...values),
    edge: moves[start] ?? 0,
    next: moves[start + direction] ?? 0,
    count: values.length,
    lively,
    endsAtCut,
  };
}
