import type { FrameSeries } from '#server/media/grey/grey-series.ts';
import type { JumpMeasure } from '#server/media/grey/grey-jumps.ts';
import type { JumpVotes } from '#server/media/grey/grey-jump-votes.ts';

/** Fewer windows decide nothing. */
const MIN_VOTERS = 3;
/** ...and fewer than this decide nothing against most windows. */
const FEW_VOTERS = 5;
/** Share of the windows that must agree on how much farther they go, and the same when many vote. */
const MIN_SHARE = 0.4;
const MANY_VOTERS = 8;
const SHARE_OF_MANY = 0.33;
/** Least factor of agreement: a step over one lost picture goes twice as far, minus the error of a window. */
const MIN_FACTOR = 1.3;
/**
 * When this many windows vote and nearly all agree, they are trusted for one more picture, and whatever motion farther
 * away does.
 */
const SURE_VOTES = { voters: 6, share: 0.8 };
/** A smaller factor is closer to one step than to the two that one lost picture leaves (geometric mean). */
const MOST_OF_ONE_STEP = Math.SQRT2;
/**
 * Least votes of windows searched where their motion leads; fewer agree by chance, because most places look alike
 * nowhere.
 */
const AT_PLACES = { voters: 6, share: 0.5 };

/** Minimum for steady motion that only goes farther: slope, steadiness, excess over any step around. */
export const MIN_SLOPE = 1.6;
export const MIN_STEADINESS = 0.55;
export const MIN_EXCESS = 1.45;
/** Fewer windows give no direction of the whole. */
export const MIN_WINDOWS = 6;
/** Agreement from which the windows leave no doubt that it is the same motion. */
const SURE_AGREEMENT = 0.9;
/** ...and the same where fewer windows move, for example a ball over black; also required of the steadiness. */
const SURE_ALONE = 0.97;
/**
 * Largest difference between the motion before and after (logarithm of the mean change): a jump cut in a pan continues
 * at another speed.
 */
const MAX_UNEVEN = 0.4;
/** Windows, agreement and slope of motion that goes on; over more steps the windows lose what they followed. */
const GOES_ON = { windows: 3, agreement: 0.7, mostSlope: 9 };
/**
 * A step over lost pictures goes at least this many times as far along the motion beside it. Of 15 claims in 148 intact
 * public clips this removes six (flashes, zooms, jump cuts); of 50 planted losses that are found without sound it
 * removes one.
 */
const FARTHER = 1.2;
/**
 * ...unless the odds are at least this high, because windows lose what moved too far for them. Of 90 losses above the
 * noise in 22 clips without sound this finds two more; of 65 jump cuts with odds of at least 3.5 in 64 clips it claims
 * none.
 */
const BEYOND_DOUBT = 6;

/**
 * The windows' verdict on a step. `goesOn`: the motion continues across it, only farther, as over lost pictures. `far`:
 * it goes so far that an editor cut there. `elsewhere`: the windows do not agree on a longer step, as between two
 * takes. Null when too few windows move evenly beside it.
 */
export type JumpVerdict = 'goesOn' | 'far' | 'elsewhere' | null;

/**
 * Derives the verdict from votes. Of 127 losses with likely odds, planted into 96 clips of small pictures, 84 go on, 14
 * do not and 29 are undecided; of 134 jump cuts 6, 61 and 67 (docs/benchmarks/repeats-and-losses.md).
 * @param edited least number of pictures that an editor removes
 */
export function verdictOf(votes: JumpVotes, edited: number): JumpVerdict {
  if (votes.voters < MIN_VOTERS) return null;
  if (!agrees(votes)) return 'elsewhere';
  return votes.factor < edited + (isUnanimous(votes) ? 2 : 1) ? 'goesOn' : 'far';
}

/**
 * The verdict on a step. A few voters that partly lost their motion decide nothing if most moving windows, even or not,
 * agree that the motion goes on farther: of seven steps with three or four voters and clear odds four are losses that
 * are kept by this, and three are edits.
 */
export function verdictOn(jump: JumpMeasure | undefined, edited: number): JumpVerdict {
  if (!jump) return null;
  const votes = votesOf(jump);
  const verdict = verdictOf(votes, edited);
  return verdict === 'elsewhere' && votes.voters < FEW_VOTERS && goesOnLonger(jump) ? null : verdict;
}

/** True if enough windows agree on a longer step, whose factor then gives the number of missing pictures. */
export function agrees({ voters, share, factor }: JumpVotes): boolean {
  const least = voters >= MANY_VOTERS ? SHARE_OF_MANY : MIN_SHARE;
  return voters >= MIN_VOTERS && share >= least && factor >= MIN_FACTOR;
}

/** True if nearly all of many windows agree. */
export function isUnanimous({ voters, share }: JumpVotes): boolean {
  return voters >= SURE_VOTES.voters && share >= SURE_VOTES.share;
}

/**
 * True if nearly all of many windows agree that they go no farther than one step. Then no picture is missing, however
 * much the whole picture changes and however much longer the sound is.
 */
export function goesOneStep(jump: JumpMeasure | undefined): boolean {
  if (!jump) return false;
  const votes = votesOf(jump);
  return isUnanimous(votes) && votes.factor < MOST_OF_ONE_STEP;
}

/**
 * The votes to use: those at the windows' best places; or, if these disagree because windows went far or changed, those
 * at the places where their motion leads.
 */
export function votesOf({ votes, atPlaces }: Pick<JumpMeasure, 'votes' | 'atPlaces'>): JumpVotes {
  const isFound = atPlaces.voters >= AT_PLACES.voters && atPlaces.share >= AT_PLACES.share;
  return isFound && !agrees(votes) && agrees(atPlaces) ? atPlaces : votes;
}

/**
 * True for a step that leads elsewhere: a jump cut to another take, a flash, a zoom that begins. The verdict of the
 * windows decides. If too few vote, the trackable windows decide: a loss goes farther along the motion beside it,
 * forwards or, if it turned within the hole, backwards. Losses of four and five pictures may look like this too, so it
 * counts only when the sound does not say that pictures are missing.
 * @param score logarithmic odds of the step
 */
export function leadsAstray(jump: JumpMeasure | undefined, verdict: JumpVerdict, score: number): boolean {
  if (verdict) return verdict !== 'goesOn';
  const isFollowed = jump !== undefined && jump.windows >= MIN_WINDOWS;
  return isFollowed && Math.abs(jump.slope) < FARTHER && score < BEYOND_DOUBT;
}

/**
 * True if, by most moving windows, the motion beside a step continues across it, but farther than in any step around.
 */
function goesOnLonger(jump: JumpMeasure | undefined): jump is JumpMeasure {
  if (!jump || jump.windows === 0 || jump.excess < MIN_EXCESS) return false;
  const { windows, agreement, steadiness, slope } = jump;
  if (windows < GOES_ON.windows && Math.min(agreement, steadiness) < SURE_ALONE) return false;
  return agreement >= GOES_ON.agreement && slope >= MIN_SLOPE && slope < GOES_ON.mostSlope;
}

/** True for such a step in steady motion. It is evidence for a loss beyond the odds, which ignore direction. */
export function isSupportive(jump: JumpMeasure | undefined): boolean {
  return goesOnLonger(jump) && jump.steadiness >= MIN_STEADINESS;
}

/** True if the motion after such a step is as fast as before it. */
export function goesOnEvenly({ jumps, meanDiff }: FrameSeries, at: number): boolean {
  const level = (step: number) => Math.log(Math.max(0.05, meanDiff[step] ?? 0));
  return goesOnLonger(jumps.get(at)) && Math.abs(level(at - 1) - level(at + 1)) <= MAX_UNEVEN;
}

/** True if nearly all windows agree on it: nobody cuts a fifth of a second out of such motion. */
export function goesOnSurely(series: FrameSeries, at: number): boolean {
  const jump = series.jumps.get(at);
  if (!jump || !goesOnEvenly(series, at)) return false;
  const { windows, agreement, steadiness } = jump;
  if (windows >= MIN_WINDOWS) return agreement >= SURE_AGREEMENT && steadiness >= MIN_STEADINESS;
  return agreement >= SURE_ALONE && steadiness >= SURE_ALONE;
}
