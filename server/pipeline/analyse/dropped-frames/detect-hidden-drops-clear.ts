import type { FrameSeries } from '#server/media/grey/grey-series.ts';
import type { JumpMeasure } from '#server/media/grey/grey-jumps.ts';
import { isUnanimous } from './detect-hidden-drops-direction.ts';

/** Minimum of every measure that the windows must reach. */
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
 * Least odds of such a step. With 0 instead, seven more of 266 losses above the noise are found, but three cuts inside
 * shots are claimed in 29 minutes of intact clips and clips that were cut for it.
 */
const CLEAR_ODDS = 1.4;
/** ...and the least odds when the sound says that pictures are missing. */
const SPOKEN_ODDS = 0;
/** Clear steps with lower odds are distinguished from the clip's own rhythm by their number. */
const WEAK_ODDS = 2.5;
/** This many of them within this reach are how the clip was made or shown (seconds, to each side)... */
const RHYTHM = { steps: 4, reachS: 5 };
/** ...and this many so close together, because a rate shown as a lower one omits every fourth or fifth picture. */
const CROWD = { steps: 3, reachS: 1 };
/** Nearby steps with a smaller share of its factor are of another kind: the rhythm omits one picture at a time. */
const ALIKE_FACTOR = 0.75;

/**
 * Steps across which all motion that windows can follow continues in its direction by one larger factor, while the
 * motion beside it is even, and singular steps. These are losses although their odds are small. A recording or
 * conversion that omits pictures in its own rhythm makes the same steps, but many of them.
 * @param odds logarithmic odds of each step, as returned by `scoreJumps`
 * @param speaks whether the sound says that pictures are missing
 * @param isAlone whether a step is singular (`isSingular`) and its windows go on
 * @returns the odds that suffice for each; any for a singular step
 */
export function clearSteps(
  { jumps }: Pick<FrameSeries, 'jumps'>,
  odds: readonly (number | null)[],
  fps: number,
  speaks: boolean,
  isAlone: (at: number) => boolean = () => false,
): ReadonlyMap<number, number> {
  const leastOdds = speaks ? SPOKEN_ODDS : CLEAR_ODDS;
  const alone = new Set([...jumps.keys()].filter(isAlone));
  const clear = [...jumps].flatMap(([at, jump]) => (isClear(jump) || alone.has(at) ? [at] : []));
  const weak = clear.filter((at) => (odds[at] ?? -Infinity) < WEAK_ODDS);
  const factorOf = (at: number) => jumps.get(at)?.votes.factor ?? 1;
  const weakWithin = (at: number, reachS: number) =>
    weak.filter(
      (other) => Math.abs(other - at) <= reachS * fps && factorOf(other) >= ALIKE_FACTOR * factorOf(at),
    ).length;
  const isRhythm = (at: number) =>
    weakWithin(at, RHYTHM.reachS) >= RHYTHM.steps || weakWithin(at, CROWD.reachS) >= CROWD.steps;
  const possible = clear.filter((at) => (odds[at] ?? -Infinity) > -Infinity && !isRhythm(at));
  return new Map(
    possible.flatMap((at) => {
      if (alone.has(at)) return [[at, -Infinity] as const];
      return (odds[at] ?? -Infinity) >= leastOdds ? [[at, CLEAR_ODDS] as const] : [];
    }),
  );
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

/** Factors of a single lost picture when nearly all of many windows agree (`isUnanimous`): about twice as far... */
const BEAT = { least: 1.6, most: 2.6 };
/** ...and it must be this many times as long as the steps beside it, as when single pictures were omitted. */
const BEAT_RATIO = 1.3;
/** A smaller change is none, grey levels. */
const LEAST_LEVEL = 0.05;
/**
 * Steps with less than this share of its change are of another kind, so a much larger step is a loss in such a stretch.
 */
const ALIKE_LEVEL = 0.75;

/**
 * Pictures from one omitted picture to the next, where 30 a second are shown as 24 to 27. A rate that is no whole
 * number omits them now after more, now after fewer; where between the two a step lies is its phase.
 */
const PERIODS = Array.from({ length: 16 }, (_, third) => 4 + third / 3);
const PHASES = [0, 1 / 3, 2 / 3];
/** Of such steps on both sides this many must be there: fewer are by chance, where motion is uneven. */
const PERIODS_AROUND = [
  { reach: 3, least: 4 },
  { reach: 5, least: 6 },
].map(({ reach, least }) => ({
  least,
  times: Array.from({ length: reach }, (_, at) => at + 1).flatMap((time) => [-time, time]),
}));
/**
 * They rise above those beside them by at least this share of its rise (0.7 in a converted clip); two lost pictures
 * rise by far more than one.
 */
const ALIKE_RISE = 2 / 3;

/**
 * Steps that recur with similar length: at least three within a second to each side, or in even time. Each looks like a
 * single lost picture beyond doubt. But a stretch that runs faster, or was shown at another rate, omits every second,
 * third or sixth picture in this way, and nothing that its maker wanted is missing.
 */
export function beatenSteps(
  { jumps, meanDiff }: Pick<FrameSeries, 'jumps' | 'meanDiff'>,
  fps: number,
): ReadonlySet<number> {
  const level = (at: number) => meanDiff[at] ?? 0;
  const riseOf = (at: number) => level(at) / Math.max(LEAST_LEVEL, level(at - 1), level(at + 1));
  const longer = meanDiff.flatMap((_, at) => (riseOf(at) >= BEAT_RATIO ? [at] : []));
  const isVoted = ({ votes }: JumpMeasure) =>
    isUnanimous(votes) && votes.factor >= BEAT.least && votes.factor < BEAT.most;
  const beats = longer.filter((at) => {
    const least = Math.max(BEAT_RATIO, ALIKE_RISE * riseOf(at));
    if (isInTime(at, (other) => riseOf(other) >= least)) return true;
    const jump = jumps.get(at);
    if (!jump || !isVoted(jump)) return false;
    const alike = longer.filter(
      (other) => Math.abs(other - at) <= CROWD.reachS * fps && level(other) >= ALIKE_LEVEL * level(at),
    );
    return alike.length >= CROWD.steps;
  });
  return new Set(beats);
}

/** Whether steps that rise alike follow each other around one in even time. */
function isInTime(at: number, isAlike: (other: number) => boolean): boolean {
  const areInTime = (period: number, phase: number) => (time: number) =>
    isAlike(at + Math.floor(phase + time * period));
  return PERIODS.some((period) =>
    PHASES.some((phase) =>
      PERIODS_AROUND.some(({ times, least }) => times.filter(areInTime(period, phase)).length >= least),
    ),
  );
}
