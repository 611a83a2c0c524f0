import type { FrameSeries } from '#server/media/grey/grey-series.ts';
import type { JumpMeasure } from '#server/media/grey/grey-jumps.ts';
import { isUnanimous } from './detect-hidden-drops-direction.ts';

/** The windows must say so by every measure that they have. */
const CLEAR = {
  voters: 3,
  share: 0.65,
  factor: 1.6,
  windows: 3,
  agreement: 0.8,
  steadiness: 0.6,
  excess: 1.3,
  leastAround: 0.2,
};
/**
 * Least odds of such a step. With 0 instead seven more of 266 losses above the noise are found, and three cuts inside shots are claimed in 29 minutes of
 * unharmed clips and clips that were cut for it.
 */
export const CLEAR_ODDS = 1.4;
/** ...and where the sound says that pictures are missing. */
const SPOKEN_ODDS = 0;
/** Steps that look so with odds below this are told from the clip's own rhythm by their number. */
const WEAK_ODDS = 2.5;
/** So many of these within this reach are how the clip was made or shown (seconds, to each side)... */
const RHYTHM = { steps: 4, reachS: 5 };
/** ...and so many this near to each other, as a rate shown as a lower one leaves every fourth or fifth picture out. */
const CROWD = { steps: 3, reachS: 1 };
/** Nearer steps than this share of one are not of its kind: the rhythm leaves out one picture at a time. */
const ALIKE_FACTOR = 0.75;

/**
 * Steps over which all motion that windows can follow goes on in its direction, only farther by one factor, in motion that is even beside it: losses
 * though the odds, which know no direction, are small. A recording or a conversion that leaves pictures out in its own rhythm makes the same
 * steps, but many of them.
 * @param odds logarithmic odds of each step, as `scoreJumps` answers them
 * @param speaks whether the sound says that pictures are missing
 */
export function clearSteps(
  { jumps }: Pick<FrameSeries, 'jumps'>,
  odds: readonly (number | null)[],
  fps: number,
  speaks: boolean,
): ReadonlySet<number> {
  const leastOdds = speaks ? SPOKEN_ODDS : CLEAR_ODDS;
  const clear = [...jumps].flatMap(([at, jump]) => (isClear(jump) ? [at] : []));
  const weak = clear.filter((at) => (odds[at] ?? -Infinity) < WEAK_ODDS);
  const factorOf = (at: number) => jumps.get(at)?.votes.factor ?? 1;
  const weakWithin = (at: number, reachS: number) =>
    weak.filter(
      (other) => Math.abs(other - at) <= reachS * fps && factorOf(other) >= ALIKE_FACTOR * factorOf(at),
    ).length;
  const isRhythm = (at: number) =>
    weakWithin(at, RHYTHM.reachS) >= RHYTHM.steps || weakWithin(at, CROWD.reachS) >= CROWD.steps;
  return new Set(clear.filter((at) => (odds[at] ?? -Infinity) >= leastOdds && !isRhythm(at)));
}

function isClear(jump: JumpMeasure): boolean {
  const { votes } = jump;
  return (
    votes.voters >= CLEAR.voters &&
    votes.share >= CLEAR.share &&
    votes.factor >= CLEAR.factor &&
    jump.windows >= CLEAR.windows &&
    jump.agreement >= CLEAR.agreement &&
    jump.steadiness >= CLEAR.steadiness &&
    jump.excess >= CLEAR.excess &&
    jump.leastAround >= CLEAR.leastAround
  );
}

/** A single lost picture as nearly all of many windows tell it (`isUnanimous`): about twice as far... */
const BEAT = { least: 1.6, most: 2.6 };
/** ...between steps that are shorter, as single pictures were left out. */
const BEAT_RATIO = 1.3;
/** A step that changes so much more than the others is none of them: a loss in such a stretch. */
const ALIKE_LEVEL = 0.75;

/**
 * Steps that are as long as others close by, three in a second and more: each looks like a single lost picture beyond doubt, but a stretch that runs faster, or was shown at
 * another rate, leaves out its second, third or fourth pictures so. Nothing is missing there that its maker wanted.
 */
export function beatenSteps(
  { jumps, meanDiff }: Pick<FrameSeries, 'jumps' | 'meanDiff'>,
  fps: number,
): ReadonlySet<number> {
  const level = (at: number) => meanDiff[at] ?? 0;
  const isLonger = (at: number) => level(at) >= BEAT_RATIO * Math.max(level(at - 1), level(at + 1));
  const longer = meanDiff.flatMap((_, at) => (isLonger(at) ? [at] : []));
  const isVoted = ({ votes }: JumpMeasure) =>
    isUnanimous(votes) && votes.factor >= BEAT.least && votes.factor < BEAT.most;
  const alike = (at: number) =>
    longer.filter(
      (other) => Math.abs(other - at) <= CROWD.reachS * fps && level(other) >= ALIKE_LEVEL * level(at),
    );
  const beats = longer.filter((at) => {
    const jump = jumps.get(at);
    return jump !== undefined && isVoted(jump) && alike(at).length >= CROWD.steps;
  });
  return new Set(beats);
}
