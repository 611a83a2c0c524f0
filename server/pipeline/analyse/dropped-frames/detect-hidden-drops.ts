import { LAGS, type FrameSeries } from '#server/media/grey/grey-series.ts';
import type { JumpVotes } from '#server/media/grey/grey-jump-votes.ts';
import type { JumpMeasure } from '#server/media/grey/grey-jumps.ts';
import type { StepRise } from '#server/media/grey/grey-rises.ts';
import { clamp, median } from '#server/media/statistics.ts';
import { fitCounts } from './detect-hidden-drops-count.ts';
import { countMissing, isCounted } from './detect-hidden-drops-growth.ts';
import {
  goesOnEvenly,
  goesOnSurely,
  isSupportive,
  leadsAstray,
  MIN_EXCESS,
  MIN_SLOPE,
  MIN_STEADINESS,
  MIN_WINDOWS,
  verdictOf,
  type JumpVerdict,
} from './detect-hidden-drops-direction.ts';
import {
  addLikely,
  leastEdited,
  readLengths,
  withoutEdits,
  type Scored,
} from './detect-hidden-drops-lengths.ts';
import { readForest, type Forest } from './detect-hidden-drops-forest.ts';
import { scoreJumps, type Flanks } from './detect-hidden-drops-score.ts';
import { LOSS_FOREST } from './detect-hidden-drops-weights.ts';

/** Pictures lost without a trace in the times; numbers count decoded pictures. */
export interface HiddenDrop {
  /** First picture behind the hole. */
  readonly after: number;
  readonly missing: number;
  /** Step into `after` over the steps around it. */
  readonly ratio: number;
  readonly confidence: number;
}

/** Pictures on each side that a jump is held against. */
const FLANK = 6;
/** Between a cut and a jump there may be as few. */
const SHORT_FLANK = 3;
/** Block difference around (grey levels) below which motion drowns in noise. */
const MIN_MOTION = 2;
/** Steps of so little motion still show what is usual in the clip. */
const MIN_JUDGED_MOTION = 1;
/** ...agreement of steady motion that is only longer, and the least step around it. */
const MIN_AGREEMENT = 0.8;
const MIN_LEAST = 0.25;
const MIN_SPEED = 0.15;
/** The whole picture jumps: mean and block difference over the liveliest picture of both flanks. */
const PLAIN_MEAN_RATIO = 1.45;
const PLAIN_BLOCK_RATIO = 1.2;
const PLAIN_MOTION = 3;
/** Everything lively changes more than before and after, and the whole is the liveliest around. */
const COMMON = { blocks: 12, rise: 1.4, meanRatio: 1.15, blockRatio: 1.1 };
/** Motion that goes on as before refutes a jump: something appeared (measured: at most 1.08 when a digit changes). */
const REFUTED_RISE = 1.15;
const REFUTING_BLOCKS = 8;
const EVEN_SLOPE = 1.3;
/** Both kinds of evidence, each a little weaker. */
const MIXED = { slope: 1.7, agreement: 0.6, excess: 1.4, meanRatio: 1.25, blockRatio: 1.1 };
/** A change of the histogram beyond this is a flash or a cut, no jump. */
export const MAX_HISTOGRAM = 0.05;
/** ...unless half of all that moves goes so much farther (logarithm): then up to this. */
const MAX_HISTOGRAM_JUMP = 0.085;
const JUMP_RISE = 0.6;
/** So many jumps within this time make them the way the clip was made (24 from 30, speed-ups). */
const CADENCE_JUMPS = 3;
const CADENCE_REACH_S = 1.5;
/** A clip with so many crowded jumps, most of all, was converted throughout: a jump must then stand alone. */
const CROWDED = 8;

/** Odds that are enough where the sound says that pictures are missing; the best come first. */
const LIKELY = 1.4;
/** A step as long as others around it is a jerk among jerks: its mean change over the liveliest of both flanks. */
const MIN_MEAN_RATIO = 0.9;
/** The same where the step and its direction together shall speak for a loss at lesser odds; where its windows voted for it. */
const SUPPORTED_RATIO = 1.3;
const VOTED_RATIO = 1.15;
/** ...and no step around stands still against the two beside it: motion that stops and goes tells nothing (three jump cuts of ten, one loss of 155). */
const LEAST_AROUND = 0.05;
/**
 * What the votes add to the odds, or take from them, where the sound says that pictures are missing: of 36 natural steps and 130 losses with likely odds
 * 11 and 83 are voted for, 6 and 15 against.
 */
const VOTES_WORTH = 0.5;
/** Odds of a jump that shows how a clip was edited where its windows go elsewhere or too far. */
const EDIT_ODDS = 2.5;
/**
 * A step as far as sixteen pictures is a cut between like scenes when the histogram changes by more than this or the step is so
 * many times the larger one beside it.
 */
const FAR_MISSING = 15;
const FAR_HISTOGRAM = 0.045;
const FAR_RATIO = 8;
/** A picture beside a step that changes by less than this share of the motion around is a repeat. */
const RETIMED_SHARE = 0.25;

/**
 * Losses hidden in a constant rate. Learnt trees say how likely a step is a loss, from how much farther all that moves
 * goes in it than beside it and than such steps usually do in this clip (`scoreJumps`). Where too little moves
 * for that, a step counts that is much longer than all steps around it and of the same motion (the vectors of
 * many windows point the same way, only longer), without a cut or a flash. Where windows move evenly beside a step, their votes decide: a
 * cut inside a shot is none, however clear the odds, unless the sound says that pictures are missing. Clips whose rate was converted by dropping
 * every n-th picture jump all the time and are left alone. Where the motion is small nothing is claimed. Lost
 * pictures make the picture shorter than the sound: where it is, likely losses are taken up to the deficit; where both
 * are equally long, more is asked for than without sound. Limits measured on losses of 1 to 5 pictures in
 * real clips and on the clips untouched (docs/benchmarks/repeats-and-losses.md).
 * @param cuts first pictures of new shots
 * @param taken decoded pictures that other findings explain
 * @param pictureSurplus pictures by which the picture outlasts the sound, null without sound
 * @param forest the trees; others than the shipped ones to measure and to test
 */
export function detectHiddenDrops(
  series: FrameSeries,
  cuts: readonly number[],
  fps: number,
  taken: ReadonlySet<number>,
  pictureSurplus: number | null = null,
  forest: Forest = readForest(LOSS_FOREST),
): HiddenDrop[] {
  const steps = Array.from({ length: series.count }, (_, i) => measureStep(series, cuts, i));
  const jumping = steps.flatMap((step, i) => (step && isLoose(step) ? [i] : []));
  const reach = CADENCE_REACH_S * fps;
  const crowded = jumping.filter(
    (i) => jumping.filter((other) => Math.abs(other - i) <= reach).length > CADENCE_JUMPS,
  );
  const allowed = crowded.length >= CROWDED && crowded.length > jumping.length / 2 ? 1 : CADENCE_JUMPS;
  const isFree = (i: number) => !taken.has(i) && !taken.has(i - 1);
  const edited = leastEdited(fps);
  const verdictAt = (i: number): JumpVerdict => {
    const jump = series.jumps.get(i);
    return jump ? verdictOf(jump.votes, edited) : null;
  };
  const countAt = (i: number) => countMissing(series.blockDiff, i, series.jumps.get(i));
  const lengths = readLengths(pictureSurplus, fps);
  const { deficit, speaks } = lengths;
  const scores = scoreJumps(series, (i) => judgeable(steps[i], series.rises[i]), fps, forest);
  const plain = steps.flatMap((step, i) => {
    if (!step || !isFree(i) || !isJump(step) || isRetimed(series, step, i)) return [];
    const score = scores[i] ?? null;
    if (score !== null) return [];
    // Near an end of the clip the window moves inwards, so that it always spans as many pictures.
    const from = clamp(i - reach, 0, Math.max(0, series.count - 2 * reach));
    const others = jumping.filter((other) => other !== i && other >= from && other <= from + 2 * reach);
    const drop = toDrop(series, step, i);
    return others.length >= allowed || isLikeCut(step, drop) ? [] : [drop];
  });
  const likely = scores.flatMap((odds, i): Scored[] => {
    const step = steps[i];
    const verdict = verdictAt(i);
    const isVotedFor =
      verdict === 'goesOn' &&
      (series.jumps.get(i)?.leastAround ?? 0) >= LEAST_AROUND &&
      (step?.meanRatio ?? 0) >= VOTED_RATIO;
    const worth = isVotedFor ? VOTES_WORTH : verdict && verdict !== 'goesOn' ? -VOTES_WORTH : 0;
    const score = odds === null ? null : odds + (speaks ? worth : 0);
    if (score === null || score < LIKELY || !step || step.motion < MIN_MOTION || !isFree(i)) return [];
    if (isRetimed(series, step, i)) return [];
    const drop = { ...toDrop(series, step, i), confidence: oddsConfidence(score) };
    const isSupported = verdict ? isVotedFor : step.meanRatio >= SUPPORTED_RATIO && isSupportive(step.jump);
    return step.meanRatio < MIN_MEAN_RATIO || isLikeCut(step, drop) ? [] : [{ drop, score, isSupported }];
  });
  const says = (
    holds: (series: FrameSeries, at: number) => boolean,
    isHeard: (votes?: JumpVotes) => boolean,
  ) => {
    return ({ after }: HiddenDrop) => {
      const verdict = verdictAt(after);
      return verdict ? verdict === 'goesOn' && isHeard(series.jumps.get(after)?.votes) : holds(series, after);
    };
  };
  const isEdit = (i: number) => (verdictAt(i) ? verdictAt(i) !== 'goesOn' : countAt(i) >= edited);
  const edits = scores.filter(
    (score, i) => (score ?? 0) >= EDIT_ODDS && steps[i] && isFree(i) && isEdit(i),
  ).length;
  const counted = addLikely(plain, likely, lengths).map((drop) => ({
    ...drop,
    missing: countAt(drop.after),
  }));
  const goesOn = {
    near: says(goesOnEvenly, () => true),
    far: says(goesOnSurely, (votes) => votes !== undefined && isCounted(votes)),
  };
  const drops = withoutEdits(counted, lengths, { goesOn, fps, edits }).filter(
    ({ after }) => speaks || !leadsAstray(series.jumps.get(after), verdictAt(after), scores[after] ?? 0),
  );
  return speaks ? fitCounts(drops, deficit) : drops;
}

/** True for a step that leads to another scene, alike but far away: a cut that is too mild for `detectCuts`. */
function isLikeCut({ flash, nextRatio }: Step, { missing }: HiddenDrop): boolean {
  return missing >= FAR_MISSING && (flash > FAR_HISTOGRAM || nextRatio >= FAR_RATIO);
}

/**
 * True for a step beside a repeat in its own shot: a rate shown as another holds one picture where it leaves one out, and no
 * time is missing there. Repeats over lost pictures are the stutter's.
 */
function isRetimed(series: FrameSeries, { motion }: Step, i: number): boolean {
  const moves = series.blockDiff.get(1) ?? [];
  return Math.min(moves[i - 1] ?? motion, moves[i + 1] ?? motion) < RETIMED_SHARE * motion;
}

/** Confidence from odds, inside what a claim by motion alone may have. */
function oddsConfidence(score: number): number {
  return clamp(0.6 + 0.06 * score, 0.6, 0.95);
}

interface Step {
  readonly flanks: Flanks;
  readonly jump: JumpMeasure | undefined;
  /** Over the liveliest picture of both flanks. */
  readonly meanRatio: number;
  readonly blockRatio: number;
  /** Mean difference over the larger one of the two steps next to it. */
  readonly nextRatio: number;
  /** Block difference over the livelier of the two next to it. */
  readonly nearRatio: number;
  /** Median block difference of the quieter flank. */
  readonly motion: number;
  /** Change of the histogram. */
  readonly flash: number;
  /** True when both flanks are whole: no cut and no end of the clip is near. */
  readonly inside: boolean;
}

function measureStep(series: FrameSeries, cuts: readonly number[], i: number): Step | null {
  const moves = series.blockDiff.get(1) ?? [];
  // The flanks end where the shot ends: the step into a cut is none of its motion.
  const shotStart = cuts.findLast((cut) => cut <= i) ?? 0;
  const shotEnd = cuts.find((cut) => cut > i) ?? series.count;
  const from = Math.max(1, i - FLANK, shotStart + 1);
  const to = Math.min(series.count, i + 1 + FLANK, shotEnd);
  if (i - from < SHORT_FLANK || to - i <= SHORT_FLANK) return null;
  const left = moves.slice(from, i);
  const right = moves.slice(i + 1, to);
  const means = [...series.meanDiff.slice(from, i), ...series.meanDiff.slice(i + 1, to)];
  const here = moves[i] ?? 0;
  return {
    flanks: { from, to },
    jump: series.jumps.get(i),
    meanRatio: (series.meanDiff[i] ?? 0) / Math.max(0.05, ...means),
    blockRatio: here / Math.max(0.3, ...left, ...right),
    nextRatio:
      (series.meanDiff[i] ?? 0) / Math.max(0.05, series.meanDiff[i - 1] ?? 0, series.meanDiff[i + 1] ?? 0),
    nearRatio: here / Math.max(0.3, moves[i - 1] ?? 0, moves[i + 1] ?? 0),
    motion: Math.min(median(left), median(right)),
    flash: series.histogramDiff[i] ?? 0,
    inside: left.length >= FLANK && right.length >= FLANK,
  };
}

/** Flanks of the steps that may be judged: away from cuts, flashes and stillness. */
export function judgeableSteps(series: FrameSeries, cuts: readonly number[]): (at: number) => Flanks | null {
  return (i) => judgeable(measureStep(series, cuts, i), series.rises[i]);
}

function judgeable(step: Step | null | undefined, rise: StepRise | null | undefined): Flanks | null {
  return step && step.motion >= MIN_JUDGED_MOTION && isNoFlash(step, rise) ? step.flanks : null;
}

/** True for a step whose brightness changes no more than a jump of the motion explains. */
function isNoFlash({ flash }: Step, rise: StepRise | null | undefined): boolean {
  return flash <= MAX_HISTOGRAM || (flash <= MAX_HISTOGRAM_JUMP && (rise?.overMax ?? 0) >= JUMP_RISE);
}

function isJump(step: Step): boolean {
  const { jump, meanRatio, blockRatio, motion } = step;
  if (motion < MIN_MOTION || !step.inside || step.flash > MAX_HISTOGRAM || isRefuted(jump)) return false;
  const plain = motion >= PLAIN_MOTION && meanRatio >= PLAIN_MEAN_RATIO && blockRatio >= PLAIN_BLOCK_RATIO;
  return plain || (jump !== undefined && (isCommonRise(jump, step) || isLongerStep(jump, step)));
}

/** True when the lively parts move on as before: something appeared elsewhere. */
function isRefuted(jump: JumpMeasure | undefined): boolean {
  if (!jump) return false;
  if (jump.livelyBlocks >= REFUTING_BLOCKS && jump.commonRise < REFUTED_RISE) return true;
  const { windows, agreement, slope } = jump;
  return windows >= MIN_WINDOWS && agreement >= MIN_AGREEMENT && slope < EVEN_SLOPE;
}

function isCommonRise(jump: JumpMeasure, { meanRatio, blockRatio }: Step): boolean {
  return (
    jump.livelyBlocks >= COMMON.blocks &&
    jump.commonRise >= COMMON.rise &&
    meanRatio >= COMMON.meanRatio &&
    blockRatio >= COMMON.blockRatio
  );
}

function isLongerStep(jump: JumpMeasure, { meanRatio, blockRatio }: Step): boolean {
  if (jump.windows < MIN_WINDOWS || jump.leastAround < MIN_LEAST || jump.speed < MIN_SPEED) return false;
  const steady =
    jump.slope >= MIN_SLOPE &&
    jump.agreement >= MIN_AGREEMENT &&
    jump.steadiness >= MIN_STEADINESS &&
    jump.excess >= MIN_EXCESS;
  const mixed =
    jump.slope >= MIXED.slope &&
    jump.agreement >= MIXED.agreement &&
    jump.excess >= MIXED.excess &&
    meanRatio >= MIXED.meanRatio &&
    blockRatio >= MIXED.blockRatio;
  return steady || mixed;
}

/** A jump by looser limits, for the question how usual jumps are in this clip. */
function isLoose({ jump, blockRatio, nearRatio, motion, flash, inside }: Step): boolean {
  if (!inside || flash > MAX_HISTOGRAM) return false;
  if (motion < MIN_MOTION || nearRatio < 1.3) return false;
  return blockRatio >= 1.2 || (jump !== undefined && jump.slope >= 1.5 && jump.agreement >= 0.75);
}

function toDrop(series: FrameSeries, step: Step, i: number): HiddenDrop {
  const { jump } = step;
  const trusted = jump !== undefined && jump.agreement >= MIN_AGREEMENT && jump.slope < 6;
  const missing = trusted ? Math.round(jump.slope) - 1 : missingByGrowth(series, i);
  const ratio = trusted ? jump.slope : step.blockRatio;
  const margin = trusted ? jump.agreement * Math.min(1, jump.excess - 1) : Math.min(1, step.meanRatio - 1);
  return {
    after: i,
    missing: Math.max(1, missing),
    ratio,
    confidence: clamp(0.55 + 0.4 * margin, 0.6, 0.95),
  };
}

/** Missing pictures at first sight, by the measured distance with the nearest difference: what the limits above were chosen with. */
function missingByGrowth(series: FrameSeries, i: number): number {
  const here = series.blockDiff.get(1)?.[i] ?? 0;
  let best = 1;
  let bestError = Infinity;
  for (const lag of LAGS.slice(1)) {
    const values = series.blockDiff.get(lag) ?? [];
    const around = [...values.slice(Math.max(lag, i - FLANK), i), ...values.slice(i + lag, i + lag + FLANK)];
    const error = Math.abs(Math.log(Math.max(0.1, here) / Math.max(0.1, median(around))));
    if (error < bestError) [best, bestError] = [lag - 1, error];
  }
  return best;
}
