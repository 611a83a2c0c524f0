import { LAGS, type FrameSeries } from '#server/media/grey/grey-series.ts';
import { NO_VOTES, type JumpVotes } from '#server/media/grey/grey-jump-votes.ts';
import { clamp, median } from '#server/media/statistics.ts';
import { EXCESS_MS } from '../packets/sound-end.ts';
import { fitCounts } from './detect-hidden-drops-count.ts';
import { beatenSteps, clearSteps } from './detect-hidden-drops-clear.ts';
import { countMissing, isCounted } from './detect-hidden-drops-growth.ts';
import {
  goesOnEvenly,
  goesOneStep,
  goesOnSurely,
  isSupportive,
  isUnanimous,
  leadsAstray,
  verdictOn,
  votesOf,
} from './detect-hidden-drops-direction.ts';
import {
  addLikely,
  leastEdited,
  readLengths,
  SURE_THOUGH_EVEN,
  withoutEdits,
  type Scored,
} from './detect-hidden-drops-lengths.ts';
import { fillFreed } from './freed-time.ts';
import { readForest, type Forest } from './detect-hidden-drops-forest.ts';
import { scoreJumps } from './detect-hidden-drops-score.ts';
import {
  FLANK,
  isJump,
  isLoose,
  judgeable,
  measureStep,
  MIN_AGREEMENT,
  MIN_MOTION,
  type Step,
} from './detect-hidden-drops-step.ts';
import { LOSS_FOREST } from './detect-hidden-drops-weights.ts';

/** Pictures lost without a trace in the times; numbers count decoded pictures. */
export interface HiddenDrop {
  /** First picture behind the hole. */
  readonly after: number;
  readonly missing: number;
  /** Step into `after` over the steps around it. */
  readonly ratio: number;
  /** What the ratio was compared with, where that is not the limit of a plain jump. */
  readonly threshold?: number;
  readonly confidence: number;
}

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
/**
 * Likely odds below this need a second witness, windows that go on or a change that is longer than all around: a sound that misses pictures tells that there is a loss,
 * not where, and one at a cut or in a flash shows nowhere. Of 264 losses found in 96 clips with their sound one has less without one, of 57 wrong claims beside them five.
 */
const UNWITNESSED = 3.5;
const VOTED_RATIO = 1.15;
/** ...and no step around stands still against the two beside it: motion that stops and goes tells nothing (three jump cuts of ten, one loss of 155). */
const LEAST_AROUND = 0.05;
/**
 * What the votes add to the odds, or take from them, where the sound says that pictures are missing: of 36 natural steps and 130 losses with likely odds
 * 11 and 83 are voted for, 6 and 15 against.
 */
const VOTES_WORTH = 0.5;
/** Confidence of a step whose direction leaves no doubt, whatever its odds. */
const CLEAR_CONFIDENCE = 0.75;
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
 * cut inside a shot is none, however clear the odds, unless the sound says that pictures are missing, and over a step that all of them go on over
 * small odds are enough (`clearSteps`). Clips whose rate was converted by dropping
 * every n-th picture jump all the time and are left alone. Where the motion is small nothing is claimed. Lost
 * pictures make the picture shorter than the sound: where it is, likely losses are taken up to the deficit; where both
 * are equally long, more is asked for than without sound. Limits measured on losses of 1 to 5 pictures in
 * real clips and on the clips untouched (docs/benchmarks/repeats-and-losses.md).
 * @param cuts first pictures of new shots
 * @param taken decoded pictures that other findings explain
 * @param pictureSurplus pictures by which the picture outlasts the sound, null without sound
 * @param forest the trees; others than the shipped ones to measure and to test
 * @param excessMs by how much such a sound outlasts its picture by nature (`excessByNatureMs`)
 * @param putIn pictures that are taken out as copies, and are no longer in `pictureSurplus`
 */
export function detectHiddenDrops(
  series: FrameSeries,
  cuts: readonly number[],
  fps: number,
  taken: ReadonlySet<number>,
  pictureSurplus: number | null = null,
  forest: Forest = readForest(LOSS_FOREST),
  excessMs: number = EXCESS_MS,
  putIn = 0,
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
  const votesAt = (i: number): JumpVotes => {
    const jump = series.jumps.get(i);
    return jump ? votesOf(jump) : NO_VOTES;
  };
  const verdictAt = (i: number) => verdictOn(series.jumps.get(i), edited);
  const countAt = (i: number) => countMissing(series.blockDiff, i, series.jumps.get(i));
  const lengths = readLengths(pictureSurplus, fps, excessMs, putIn);
  const { deficit, speaks, freed } = lengths;
  const scores = scoreJumps(series, (i) => judgeable(steps[i], series.rises[i]), fps, forest);
  const clear = clearSteps(series, scores, fps, speaks);
  const beaten = speaks ? new Set<number>() : beatenSteps(series, fps);
  const plain = steps.flatMap((step, i) => {
    if (!step || !isFree(i) || !isJump(step) || isRetimed(series, step, i) || beaten.has(i)) return [];
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
      ((isUnanimous(votesAt(i)) ? step?.nextRatio : step?.meanRatio) ?? 0) >= VOTED_RATIO;
    const worth = isVotedFor ? VOTES_WORTH : verdict && verdict !== 'goesOn' ? -VOTES_WORTH : 0;
    const score = odds === null ? null : odds + (speaks ? worth : 0);
    const isClear = verdict === 'goesOn' && clear.has(i);
    if (score === null || !step || step.motion < MIN_MOTION || !isFree(i)) return [];
    const isWitnessed = score >= UNWITNESSED || isSupportive(step.jump);
    const leastRatio = isWitnessed ? MIN_MEAN_RATIO : SUPPORTED_RATIO;
    if (!isClear && (score < LIKELY || (!isVotedFor && step.meanRatio < leastRatio))) return [];
    if (beaten.has(i) || isRetimed(series, step, i) || goesOneStep(series.jumps.get(i))) return [];
    const confidence = Math.max(oddsConfidence(score), isClear ? CLEAR_CONFIDENCE : 0);
    const drop = { ...toDrop(series, step, i), confidence };
    const isSupported = verdict ? isVotedFor : step.meanRatio >= SUPPORTED_RATIO && isSupportive(step.jump);
    return isLikeCut(step, drop) ? [] : [{ drop, score, isSupported, isClear }];
  });
  const says = (holds: (series: FrameSeries, at: number) => boolean) => (at: number) => {
    const verdict = verdictAt(at);
    return verdict ? verdict === 'goesOn' : holds(series, at);
  };
  const isEdit = (i: number) => (verdictAt(i) ? verdictAt(i) !== 'goesOn' : countAt(i) >= edited);
  const edits = scores.filter(
    (score, i) => (score ?? 0) >= EDIT_ODDS && steps[i] && isFree(i) && isEdit(i),
  ).length;
  const counted = addLikely(plain, likely, lengths).map((drop) => ({
    ...drop,
    missing: countAt(drop.after),
  }));
  const isHeard = (at: number) => !verdictAt(at) || isCounted(series.blockDiff, at, votesAt(at));
  const goesOn = {
    near: ({ after }: HiddenDrop) => says(goesOnEvenly)(after),
    far: ({ after }: HiddenDrop) => says(goesOnSurely)(after) && isHeard(after),
  };
  const drops = withoutEdits(counted, lengths, { goesOn, fps, edits }).filter(
    ({ after }) => speaks || !leadsAstray(series.jumps.get(after), verdictAt(after), scores[after] ?? 0),
  );
  if (freed === 0) return speaks ? fitCounts(drops, deficit) : drops;
  const isSure = ({ after }: HiddenDrop) =>
    verdictAt(after) === 'goesOn' ||
    isSupportive(steps[after]?.jump) ||
    (scores[after] ?? 0) >= SURE_THOUGH_EVEN;
  return fillFreed(drops.filter(isSure), freed);
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
