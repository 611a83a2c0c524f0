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

/** Longest hold that is still a stutter, seconds; beyond it people see a still, unless the lengths prove it (`findFreezes`). */
const LONGEST_S = 1.2;
/** A single repeat is reported only when a jump right after it proves that a picture was lost under it. */
const SHORTEST_FRAMES = 2;
/** Pictures on each side that must be alive. */
const FLANK = 6;
/**
 * Median change inside the run over the median change of the quieter side: the limit for a run of so many
 * pictures. Encoders need a few pictures to settle on a repeat, so short runs are livelier; a long run that
 * is not frozen solid is somebody at rest.
 */
const QUIET_LIMITS: readonly { readonly frames: number; readonly limit: number }[] = [
  { frames: 1, limit: 0.42 },
  { frames: 3, limit: 0.24 },
  { frames: 5, limit: 0.2 },
  { frames: 9, limit: 0.06 },
  { frames: 13, limit: 0.03 },
];
export const MAX_QUIET = 0.42;
/** The limit where there is little motion, for short runs: natural rests are nearly as quiet there. */
const MAX_QUIET_WEAK = 0.2;
const WEAK_LEVEL = 4;
/** The limit for a run before a step so many times the livelier side: what the encoder makes of the repeats matters less. */
const MAX_QUIET_STEP = 0.42;
const FAR_STEP_RATIO = 2.5;
/** ...and in even motion, whose stillest picture on the sides is so much of the usual one, for runs up to this long. */
const MAX_QUIET_EVEN = 0.36;
const EVEN_SHARE = 0.75;
const LONGEST_EVEN = 8;
/** The limit in a clip that holds pictures by nature: only what is frozen solid stands out. */
const MAX_QUIET_CADENCE = 0.06;
/** A step this many times the livelier side right after the run proves a hold over lost pictures. */
const JUMP_RATIO = 1.5;
/** The limit for a single repeat before a jump. */
const MAX_QUIET_SINGLE = 0.12;
/** Side motion (grey levels of the block difference) below which only `findCalmRuns` tells a run from rest. */
const MIN_LEVEL = 1.2;
/** The pictures next to the run must move like their side does: motion that fades out is a shot at rest... */
const EDGE_SHARE = 0.4;
/** ...unless the run is so still that any motion stands out by this factor. */
const EDGE_CONTRAST = 12;
/** ...or by this one, when a jump behind the run says that pictures were lost under it. */
const EDGE_CONTRAST_JUMP = 6;
/** In any case they move this many times more than the liveliest picture of the run. */
const EDGE_RATIO = 1.6;
/** ...and this many times where one side alone tells. */
const LONE_EDGE_RATIO = 2.5;
/** Sides of more different motion than this are a shot coming to rest or starting... */
const MAX_SIDE_RATIO = 8;
/** ...unless the run is frozen solid against the quieter of them and shorter than this: figures settle for longer. */
const FROZEN_SHARE = 0.1;
const LONG_RUN = 9;
/** A cut, or the start of the clip, so near beyond a run leaves no room for a side that could tell, pictures. */
const NEAR_CUT = 2;
/** So many of the six pictures on a side move: a screen that changes now and then is not in motion. */
const MIN_LIVELY = 3;
/**
 * ...and where one side alone tells, as a shot begins or ends on the other, so many: fewer between two rests of a short shot are how it was cut together
 * (seven lively pictures or less of two montages, four runs). All of 44 runs planted at cuts in 16 public clips have as many.
 */
const MIN_LONE = 4;
/** A run without a jump behind it that is livelier than this may be a pause of hands... */
const FROZEN_QUIET = 0.15;
/** ...when its liveliest picture changes this share of the quieter side (two of 1951 found runs do). */
const MAX_LOUD_REST = 0.36;
const LONG_ENOUGH = 5;
/** What encoders leave of the usual copy of so many, grey levels, at most. */
const MAX_SETTLED = 0.8;
/** Confidence of a run that is frozen solid where little moves, or where a step or even motion tells it. */
const CALM_CONFIDENCE = 0.9;

/**
 * Finds repeated pictures in living motion. Still shots, slide shows and screen recordings have no motion
 * on both sides, or rest again and again; low-rate sources, stop motion and animation on twos or threes hold pictures
 * all the time: none is reported. Constants measured on runs of 2 to 11 pictures injected into 19 real clips
 * and on the same clips untouched; runs in little motion are found by `findCalmRuns`.
 * @param cuts first pictures of new shots, as `detectCuts` answers them
 * @param fps pictures per second
 * @param pictureSurplus pictures by which the picture outlasts the sound, null without sound: inserted copies
 *   make it so; asked only where the motion does not tell
 * @param isTorn true for decoded pictures whose own data are damaged: a step that one of them makes says nothing of what was lost
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
 * The runs with freezes that are longer than any stutter, where these, and the runs that were put in beside them, are just what the
 * picture outlasts the sound by; null where they are not.
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
  // Where pictures are repeated all the time, one more may stand right beside the run.
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

/** A run in little motion as `findCalmRuns` found it; null where the clip holds pictures by nature. */
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
  /** Median block difference of the living pictures on this side. */
  readonly level: number;
  /** Change of the stillest of these. */
  readonly least: number;
  /** The picture next to the run, and the one beyond. */
  readonly edge: number;
  readonly next: number;
  readonly count: number;
  /** Living pictures among the six next to the run; all of them count when a cut comes first. */
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
