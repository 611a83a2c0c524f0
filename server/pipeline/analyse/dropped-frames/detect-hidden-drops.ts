import type { FrameSeries } from '#server/media/grey/grey-series.ts';
import { NO_VOTES, type JumpVotes } from '#server/media/grey/grey-jump-votes.ts';
import { clamp } from '#server/media/statistics.ts';
import { EXCESS_MS } from '../packets/sound-end.ts';
import { fitCounts } from './detect-hidden-drops-count.ts';
import { oddsConfidence, toDrop } from './detect-hidden-drops-claim.ts';
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
  type JumpVerdict,
} from './detect-hidden-drops-direction.ts';
import {
  addLikely,
  enoughFor,
  leastEdited,
  readLengths,
  SURE,
  SURE_THOUGH_EVEN,
  withoutEdits,
  type Lengths,
  type Scored,
} from './detect-hidden-drops-lengths.ts';
import { fillFreed } from './freed-time.ts';
import { readForest, type Forest } from './detect-hidden-drops-forest.ts';
import { scoreJumps } from './detect-hidden-drops-score.ts';
import { isSingular } from './detect-hidden-drops-singular.ts';
import {
  isJump,
  isLoose,
  isRefreshed,
  judgeable,
  measureStep,
  MIN_MOTION,
  type Step,
} from './detect-hidden-drops-step.ts';
import { LOSS_FOREST } from './detect-hidden-drops-weights.ts';

/** Pictures lost without a trace in the times; numbers count decoded pictures. */
export interface HiddenDrop {
  /** First picture after the hole. */
  readonly after: number;
  readonly missing: number;
  /** Step into `after` relative to the steps around it. */
  readonly ratio: number;
  /** What the ratio was compared with, if not the limit of a plain jump. */
  readonly threshold?: number;
  /** Odds of a loss, against none, by how all parts move, and those that sufficed; absent where too little moves. */
  readonly odds?: { readonly value: number; readonly least: number };
  readonly confidence: number;
}

/** More jumps than this around a jump are how the clip was made (24 from 30, speed-ups). */
const CADENCE_JUMPS = 3;
const CADENCE_REACH_S = 1.5;
/**
 * A clip in which this many jumps are crowded, and more than half of all, was converted throughout; a jump must then be
 * isolated.
 */
const CROWDED = 8;

/** Odds that suffice when the sound says that pictures are missing; the highest come first. */
const LIKELY = 1.4;
/**
 * A step no longer than others around it is one jerk among many: its least mean change relative to the liveliest of
 * both flanks.
 */
const MIN_MEAN_RATIO = 0.9;
/** The same limit when step and direction together support a loss at lower odds... */
const SUPPORTED_RATIO = 1.3;
/** ...and if its windows voted for it. */
const VOTED_RATIO = 1.15;
/**
 * Likely odds below this need a second witness: windows that go on, or a change larger than all around. A sound that is
 * missing pictures says that there is a loss, not where, and a loss at a cut or in a flash is visible nowhere. This
 * rejects one of 264 losses found in 96 clips with sound, and five of 57 wrong claims beside them.
 */
const UNWITNESSED = 3.5;
/**
 * Votes count only if no step around is nearly still compared with the two beside it: motion that stops and starts
 * says nothing (rejects three of ten jump cuts, one loss of 155).
 */
const LEAST_AROUND = 0.05;
/**
 * Added to the odds, or subtracted, by the windows' votes when the sound says that pictures are missing. Of 36 natural
 * steps and 130 losses with likely odds, 11 and 83 are voted for, 6 and 15 against.
 */
const VOTES_WORTH = 0.5;
/** Confidence of a step whose direction leaves no doubt, whatever its odds. */
const CLEAR_CONFIDENCE = 0.75;
/** Odds from which a jump shows that a clip was edited, if its windows go elsewhere or too far. */
const EDIT_ODDS = 2.5;
/**
 * A step of at least sixteen pictures is a cut between similar scenes if the histogram changes by more than
 * `FAR_HISTOGRAM` or the step is `FAR_RATIO` times the larger one beside it.
 */
const FAR_MISSING = 15;
const FAR_HISTOGRAM = 0.045;
const FAR_RATIO = 8;
/** A picture beside a step is a repeat if it changes by less than this share of the motion around. */
const RETIMED_SHARE = 0.25;

/** What else is known about a clip whose losses are searched. */
export interface DropContext {
  /** First pictures of new shots. */
  readonly cuts: readonly number[];
  /** Pictures per second. */
  readonly fps: number;
  /** Decoded pictures that other findings explain. */
  readonly taken: ReadonlySet<number>;
  /** Decoded key pictures on the encoder's clock (`clockedKeys`), where only odds of `SURE` count. */
  readonly clocked?: ReadonlySet<number>;
  /** Pictures by which the picture outlasts the sound; null without sound. */
  readonly pictureSurplus?: number | null;
  /** By how much such a sound naturally outlasts its picture (`excessByNatureMs`), ms. */
  readonly excessMs?: number | undefined;
  /** Pictures that are removed as copies and no longer in `pictureSurplus`. */
  readonly putIn?: number;
  /** The trees; others than the shipped ones for measuring and testing. */
  readonly forest?: Forest;
}

/**
 * Finds losses hidden in a constant rate. Trained trees estimate how likely a step is a loss: from how much farther
 * everything that moves goes in it than beside it, and than such steps usually go in this clip (`scoreJumps`). Where
 * too little moves for that, a step counts that is much longer than all around it and of the same motion (the vectors
 * of many windows have the same direction but are longer), without a cut or a flash.
 *
 * Where windows move evenly beside a step, their votes decide. A cut inside a shot is not a loss, however clear the
 * odds, unless the sound says that pictures are missing. Where all windows continue across a step, small odds are
 * enough (`clearSteps`). Clips whose rate was converted by dropping every n-th picture jump all the time and are
 * ignored, and nothing is claimed where the motion is small.
 *
 * Lost pictures make the picture shorter than the sound. If it is shorter, likely losses are accepted up to the
 * deficit; if both are equally long, the requirements are higher than without sound. Limits were measured on losses of
 * 1 to 5 pictures in real clips and on the same clips untouched (docs/benchmarks/repeats-and-losses.md).
 */
export function detectHiddenDrops(series: FrameSeries, context: DropContext): HiddenDrop[] {
  const clip = measureClip(series, context);
  const { lengths, edited } = clip;
  const counted = addLikely(plainDrops(clip), likelyDrops(clip), lengths).map((drop) => ({
    ...drop,
    missing: countMissing(series.blockDiff, drop.after, series.jumps.get(drop.after)),
  }));
  const isHeard = (at: number) => !clip.verdictAt(at) || isCounted(series.blockDiff, at, clip.votesAt(at));
  const goesOnBy = (holds: (series: FrameSeries, at: number) => boolean, at: number) => {
    const verdict = clip.verdictAt(at);
    return verdict ? verdict === 'goesOn' : holds(series, at);
  };
  const goesOn = {
    near: ({ after }: HiddenDrop) => goesOnBy(goesOnEvenly, after),
    far: ({ after }: HiddenDrop) => goesOnBy(goesOnSurely, after) && isHeard(after),
  };
  const drops = withoutEdits(counted, lengths, {
    goesOn,
    fps: clip.fps,
    edits: countEdits(clip, edited),
  }).filter(
    ({ after }) =>
      lengths.speaks || !leadsAstray(series.jumps.get(after), clip.verdictAt(after), clip.scores[after] ?? 0),
  );
  if (lengths.freed > 0)
    return fillFreed(
      drops.filter((drop) => isSure(clip, drop)),
      lengths.freed,
    );
  return lengths.speaks ? fitCounts(drops, lengths.deficit) : drops;
}

/** All that is measured of a clip before its steps are judged. */
interface MeasuredClip {
  readonly series: FrameSeries;
  readonly fps: number;
  /** By picture; null at the ends of shots. */
  readonly steps: readonly (Step | null)[];
  /** Logarithmic odds of a loss, by picture; null where nothing could be measured. */
  readonly scores: readonly (number | null)[];
  readonly lengths: Lengths;
  /** Steps that are losses by low odds, with the odds that suffice, and those that recur as a slower rate makes them. */
  readonly clear: ReadonlyMap<number, number>;
  readonly beaten: ReadonlySet<number>;
  /** Number of missing pictures from which a jump counts as an edit. */
  readonly edited: number;
  /** Whether nothing else explains a step. */
  isFree(at: number): boolean;
  votesAt(at: number): JumpVotes;
  verdictAt(at: number): JumpVerdict;
}

function measureClip(series: FrameSeries, context: DropContext): MeasuredClip {
  const { cuts, fps, taken, pictureSurplus = null, excessMs = EXCESS_MS, putIn = 0 } = context;
  const steps = Array.from({ length: series.count }, (_, i) => measureStep(series, cuts, i));
  const lengths = readLengths(pictureSurplus, fps, excessMs, putIn);
  const edited = leastEdited(fps);
  const forest = context.forest ?? readForest(LOSS_FOREST);
  const usable = (i: number) => judgeable(steps[i], series.rises[i], lengths.speaks);
  const odds = scoreJumps(series, usable, fps, forest);
  const isRefresh = (i: number) => context.clocked?.has(i) && (odds[i] ?? 0) < SURE;
  const scores = odds.map((one, i) => (isRefresh(i) ? -Infinity : one));
  const verdictAt = (at: number) => verdictOn(series.jumps.get(at), edited);
  const isAlone = (at: number) => {
    const step = steps[at];
    return verdictAt(at) === 'goesOn' && !!step && isSingular(series, cuts, step, at);
  };
  return {
    series,
    fps,
    steps,
    scores,
    lengths,
    clear: clearSteps(series, scores, fps, lengths.speaks, isAlone),
    beaten: lengths.speaks ? new Set() : beatenSteps(series, fps),
    edited,
    isFree: (at) => !taken.has(at) && !taken.has(at - 1),
    votesAt: (at) => {
      const jump = series.jumps.get(at);
      return jump ? votesOf(jump) : NO_VOTES;
    },
    verdictAt,
  };
}

/** Losses by a jump of the whole picture, where too little moves for odds. */
function plainDrops({ series, fps, steps, scores, beaten, isFree }: MeasuredClip): HiddenDrop[] {
  const jumping = steps.flatMap((step, i) => (step && isLoose(step) ? [i] : []));
  const reach = CADENCE_REACH_S * fps;
  const crowded = jumping.filter(
    (i) => jumping.filter((other) => Math.abs(other - i) <= reach).length > CADENCE_JUMPS,
  );
  const allowed = crowded.length >= CROWDED && crowded.length > jumping.length / 2 ? 1 : CADENCE_JUMPS;
  return steps.flatMap((step, i) => {
    if (!step || !isFree(i) || !isJump(step) || isRetimed(series, step, i) || beaten.has(i)) return [];
    if ((scores[i] ?? null) !== null || isRefreshed(series, step, i)) return [];
    // Near an end of the clip the window shifts inwards, so that it always spans the same number of pictures.
    const from = clamp(i - reach, 0, Math.max(0, series.count - 2 * reach));
    const others = jumping.filter((other) => other !== i && other >= from && other <= from + 2 * reach);
    const drop = toDrop(series, step, i);
    return others.length >= allowed || isLikeCut(step, drop) ? [] : [drop];
  });
}

/** Steps whose odds, with what their windows say, may be a loss. */
function likelyDrops(clip: MeasuredClip): Scored[] {
  const { series, scores, lengths, clear, beaten } = clip;
  return scores.flatMap((odds, i): Scored[] => {
    const step = clip.steps[i];
    if (odds === null || !step || step.motion < MIN_MOTION || !clip.isFree(i)) return [];
    const verdict = clip.verdictAt(i);
    const isVotedFor = verdict === 'goesOn' && isVoted(clip, step, i);
    const worth = isVotedFor ? VOTES_WORTH : verdict && verdict !== 'goesOn' ? -VOTES_WORTH : 0;
    const score = odds + (lengths.speaks ? worth : 0);
    const clearOdds = verdict === 'goesOn' ? clear.get(i) : undefined;
    const isClear = clearOdds !== undefined;
    const isWitnessed = score >= UNWITNESSED || isSupportive(step.jump);
    const leastRatio = isWitnessed ? MIN_MEAN_RATIO : SUPPORTED_RATIO;
    if (!isClear && (score < LIKELY || (!isVotedFor && step.meanRatio < leastRatio))) return [];
    if (beaten.has(i) || isRetimed(series, step, i) || goesOneStep(series.jumps.get(i))) return [];
    if (verdict !== 'goesOn' && isRefreshed(series, step, i)) return [];
    const confidence = Math.max(oddsConfidence(score), isClear ? CLEAR_CONFIDENCE : 0);
    const drop = { ...toDrop(series, step, i), confidence };
    const isSupported = verdict ? isVotedFor : step.meanRatio >= SUPPORTED_RATIO && isSupportive(step.jump);
    // A cut takes the sound along. If pictures are missing from beside it, a far step is a loss that is hard to count.
    const isMissed = lengths.speaks && (verdict === 'goesOn' || score >= UNWITNESSED);
    if (!isMissed && isLikeCut(step, drop)) return [];
    const enough = enoughFor({ isSupported, clearOdds }, lengths);
    const claimed = { value: Math.exp(score), least: Math.exp(score >= enough ? enough : LIKELY) };
    return [{ drop: { ...drop, odds: claimed }, score, enough }];
  });
}

/** Whether a step whose windows go on is also longer than those around it, in motion that does not pause. */
function isVoted({ series, votesAt }: MeasuredClip, { nextRatio, meanRatio }: Step, at: number): boolean {
  const leastAround = series.jumps.get(at)?.leastAround ?? 0;
  const ratio = isUnanimous(votesAt(at)) ? nextRatio : meanRatio;
  return leastAround >= LEAST_AROUND && ratio >= VOTED_RATIO;
}

/** Number of jumps that show that a clip was edited: their windows go elsewhere, or too far. */
function countEdits({ series, scores, steps, isFree, verdictAt }: MeasuredClip, edited: number): number {
  const isEdit = (at: number) => {
    const verdict = verdictAt(at);
    return verdict
      ? verdict !== 'goesOn'
      : countMissing(series.blockDiff, at, series.jumps.get(at)) >= edited;
  };
  return scores.filter((score, at) => (score ?? 0) >= EDIT_ODDS && steps[at] && isFree(at) && isEdit(at))
    .length;
}

/** Whether a loss is certain enough to fill time that only the removal of copies freed. */
function isSure({ steps, scores, verdictAt }: MeasuredClip, { after }: HiddenDrop): boolean {
  const isGoing = verdictAt(after) === 'goesOn' || isSupportive(steps[after]?.jump);
  return isGoing || (scores[after] ?? 0) >= SURE_THOUGH_EVEN;
}

/** True for a step to another, similar scene: a cut that is too weak for `detectCuts`. */
function isLikeCut({ flash, nextRatio }: Step, { missing }: HiddenDrop): boolean {
  return missing >= FAR_MISSING && (flash > FAR_HISTOGRAM || nextRatio >= FAR_RATIO);
}

/**
 * True for a step beside a repeat in its own shot: when one rate is shown as another, one picture is held where one is
 * omitted, and no time is missing. Repeats over lost pictures are handled by the stutter detector.
 */
function isRetimed(series: FrameSeries, { motion }: Step, i: number): boolean {
  const moves = series.blockDiff.get(1) ?? [];
  return Math.min(moves[i - 1] ?? motion, moves[i + 1] ?? motion) < RETIMED_SHARE * motion;
}
