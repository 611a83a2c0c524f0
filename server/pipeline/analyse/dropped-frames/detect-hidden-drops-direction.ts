import type { FrameSeries } from '#server/media/grey/grey-series.ts';
import type { JumpMeasure } from '#server/media/grey/grey-jumps.ts';
import type { JumpVotes } from '#server/media/grey/grey-jump-votes.ts';

/** Fewer windows than this decide nothing. */
const MIN_VOTERS = 3;
/** ...and fewer than this nothing against most windows. */
const FEW_VOTERS = 5;
/** Share of the windows that must agree on how much farther they go, and where many vote. */
const MIN_SHARE = 0.4;
const MANY_VOTERS = 8;
const SHARE_OF_MANY = 0.33;
/** The least they may go farther: twice as far over one lost picture, less what a window is missed by. */
const MIN_FACTOR = 1.3;
/** So many windows of which nearly all agree are believed a picture more, and whatever the motion farther off does. */
const SURE_VOTES = { voters: 6, share: 0.8 };
/** A factor below this is nearer to one step than to the two that one lost picture leaves (logarithm). */
const MOST_OF_ONE_STEP = Math.SQRT2;
/** Windows asked at the places where their motion leads: fewer agree by chance, as most places look alike nowhere. */
const AT_PLACES = { voters: 6, share: 0.5 };

/** Steady motion, only longer: slope, steadiness, excess over any step around. */
export const MIN_SLOPE = 1.6;
export const MIN_STEADINESS = 0.55;
export const MIN_EXCESS = 1.45;
/** Fewer windows than this tell no direction of the whole. */
export const MIN_WINDOWS = 6;
/** Agreement from which the windows leave no doubt that it is the same motion. */
const SURE_AGREEMENT = 0.9;
/** ...where fewer windows move, as of a ball over black, and for the steadiness too. */
const SURE_ALONE = 0.97;
/** The motion in front and behind differs by no more than this (logarithm of the mean change): a jump cut in a pan comes out at another speed. */
const MAX_UNEVEN = 0.4;
/** Windows, agreement and slope of motion that goes on: over more steps the windows lose what they followed. */
const GOES_ON = { windows: 3, agreement: 0.7, mostSlope: 9 };
/**
 * Along the motion beside it a step over lost pictures goes farther by this. Of 15 claims in 148 unharmed public clips six go (flashes, zooms, jump
 * cuts), of 50 planted losses that are found without sound one.
 */
const FARTHER = 1.2;
/**
 * ...unless the odds are as high as this: windows lose what moved too far for them. Of 90 losses above the noise in 22 clips without sound
 * this finds two more; of 65 jump cuts with odds of 3.5 and more in 64 clips none is claimed for it.
 */
const BEYOND_DOUBT = 6;

/**
 * What the windows decide of a step: the motion goes on over it, only longer, as over lost pictures; so far that an editor cut there;
 * or no two windows go alike, as between two takes. Null where too few move evenly beside it.
 */
export type JumpVerdict = 'goesOn' | 'far' | 'elsewhere' | null;

/**
 * The verdict. Of 127 losses with likely odds, planted into 96 clips of small pictures, 84 go on, 14 do not and 29 are undecided; of 134 jump cuts
 * 6, 61 and 67 (docs/benchmarks/repeats-and-losses.md).
 * @param edited pictures that an editor takes out at least
 */
export function verdictOf(votes: JumpVotes, edited: number): JumpVerdict {
  if (votes.voters < MIN_VOTERS) return null;
  if (!agrees(votes)) return 'elsewhere';
  return votes.factor < edited + (isUnanimous(votes) ? 2 : 1) ? 'goesOn' : 'far';
}

/**
 * The verdict on a step. Few voters of which some are lost decide nothing where most windows that move, evenly or not, say together that the motion goes on longer: of
 * seven steps with three or four voters and clear odds four are losses, of which that is so, and three edits.
 */
export function verdictOn(jump: JumpMeasure | undefined, edited: number): JumpVerdict {
  if (!jump) return null;
  const votes = votesOf(jump);
  const verdict = verdictOf(votes, edited);
  return verdict === 'elsewhere' && votes.voters < FEW_VOTERS && goesOnLonger(jump) ? null : verdict;
}

/** True where enough windows agree on a longer step: its factor counts what is missing. */
export function agrees({ voters, share, factor }: JumpVotes): boolean {
  const least = voters >= MANY_VOTERS ? SHARE_OF_MANY : MIN_SHARE;
  return voters >= MIN_VOTERS && share >= least && factor >= MIN_FACTOR;
}

/** True where nearly all of many windows agree. */
export function isUnanimous({ voters, share }: JumpVotes): boolean {
  return voters >= SURE_VOTES.voters && share >= SURE_VOTES.share;
}

/**
 * True where nearly all of many windows agree that they go no farther than in one step: none of them is lost, and no picture is missing, whatever
 * the whole changes by and however much longer the sound is.
 */
export function goesOneStep(jump: JumpMeasure | undefined): boolean {
  if (!jump) return false;
  const votes = votesOf(jump);
  return isUnanimous(votes) && votes.factor < MOST_OF_ONE_STEP;
}

/** What the windows vote for: by their best places, or where these do not agree, as of windows that went far or changed, by the places where their motion leads. */
export function votesOf({ votes, atPlaces }: Pick<JumpMeasure, 'votes' | 'atPlaces'>): JumpVotes {
  const isFound = atPlaces.voters >= AT_PLACES.voters && atPlaces.share >= AT_PLACES.share;
  return isFound && !agrees(votes) && agrees(atPlaces) ? atPlaces : votes;
}

/**
 * True for a step that leads elsewhere: by the verdict of its windows, or, where too few decide, as those that can be followed do not go farther along the
 * motion beside it, forth or, where it turned within the hole, back: a jump cut to another take, a flash, a zoom that begins. Losses of four and five
 * pictures may look so too: it counts only where the sound does not say that pictures are missing.
 * @param score logarithmic odds of the step
 */
export function leadsAstray(jump: JumpMeasure | undefined, verdict: JumpVerdict, score: number): boolean {
  if (verdict) return verdict !== 'goesOn';
  const isFollowed = jump !== undefined && jump.windows >= MIN_WINDOWS;
  return isFollowed && Math.abs(jump.slope) < FARTHER && score < BEYOND_DOUBT;
}

/** True for a step over which the motion beside it goes on, only farther than in any step around, as most windows that move say. */
function goesOnLonger(jump: JumpMeasure | undefined): jump is JumpMeasure {
  if (!jump || jump.windows === 0 || jump.excess < MIN_EXCESS) return false;
  const { windows, agreement, steadiness, slope } = jump;
  if (windows < GOES_ON.windows && Math.min(agreement, steadiness) < SURE_ALONE) return false;
  return agreement >= GOES_ON.agreement && slope >= MIN_SLOPE && slope < GOES_ON.mostSlope;
}

/** True for such a step in steady motion: it speaks for a loss besides all that the odds were made of, which know no direction. */
export function isSupportive(jump: JumpMeasure | undefined): boolean {
  return goesOnLonger(jump) && jump.steadiness >= MIN_STEADINESS;
}

/** True where the motion behind such a step is as fast as that in front of it. */
export function goesOnEvenly({ jumps, meanDiff }: FrameSeries, at: number): boolean {
  const level = (step: number) => Math.log(Math.max(0.05, meanDiff[step] ?? 0));
  return goesOnLonger(jumps.get(at)) && Math.abs(level(at - 1) - level(at + 1)) <= MAX_UNEVEN;
}

/** True where nearly all windows say so: nobody cuts a fifth of a second out of that. */
export function goesOnSurely(series: FrameSeries, at: number): boolean {
  const jump = series.jumps.get(at);
  if (!jump || !goesOnEvenly(series, at)) return false;
  const { windows, agreement, steadiness } = jump;
  if (windows >= MIN_WINDOWS) return agreement >= SURE_AGREEMENT && steadiness >= MIN_STEADINESS;
  return agreement >= SURE_ALONE && steadiness >= SURE_ALONE;
}
