import type { JumpVotes } from '#server/media/grey/grey-jump-votes.ts';
import type { JumpMeasure } from '#server/media/grey/grey-jumps.ts';
import { clamp, median } from '#server/media/statistics.ts';
import { agrees, votesOf } from './detect-hidden-drops-direction.ts';

/** Steps on each side whose differences over several pictures a jump is held against. */
const FLANK = 6;
/** From this agreement of the windows on, how much longer the step is than those beside it is listened to... */
const HEARD_AGREEMENT = 0.5;
/** ...between these factors: beyond them the windows have lost what they followed. */
const HEARD_SLOPE = { least: 1.5, most: 9 };
/** Nearly all windows say the same, and not too far: nothing else has to be asked. */
const CLEAR = { agreement: 0.95, slope: 6 };
/** Share of the windows that is believed whatever the pictures change by; else they change no more than a step so many times the usual one would. */
const WIDELY = 0.4;
const EXPLAINED = 1.3;
/** Differences over 16 pictures that exceed those over 8 by less than this have stopped growing: they tell no number. */
const STILL_GROWS = 1.3;
/** What is believed then: the distance up to which differences grow in most clips. */
const MOST_UNGROWN = 8;
/** Grey levels below which differences are noise. */
const NOISE = 0.1;

/** Differences between pictures `lag` apart, by the later one. */
export type LagDifferences = ReadonlyMap<number, ArrayLike<number>>;

/**
 * How many pictures are missing before picture `at`: as many as a difference like the one there takes elsewhere in the shot, less
 * the step itself. Read between the measured distances, as the differences grow ever slower; where the vectors of many windows say how much
 * longer the step is, the geometric mean of both. 115 found losses of 1 to 8 pictures in eleven clips were counted
 * wrong by 129 pictures in all, where the nearest measured distance was off by 161 (55 of them kept out: 61 and 77), both fitted to the time that is missing (docs/benchmarks/repeats-and-losses.md).
 * @returns at least 1
 */
export function countMissing(blockDiff: LagDifferences, at: number, jump: JumpMeasure | undefined): number {
  const votes = jump ? votesOf(jump) : null;
  if (votes && isCounted(blockDiff, at, votes)) return Math.max(1, Math.round(votes.factor) - 1);
  const { slope, agreement } = jump ?? { slope: 0, agreement: 0 };
  const heard =
    agreement >= HEARD_AGREEMENT && slope > HEARD_SLOPE.least && slope < HEARD_SLOPE.most ? slope - 1 : null;
  if (heard !== null && agreement >= CLEAR.agreement && slope < CLEAR.slope)
    return Math.max(1, Math.round(heard));
  const grown = missingByGrowth(blockDiff, at);
  return Math.max(1, Math.round(heard === null ? grown : Math.sqrt(Math.max(0.5, grown) * heard)));
}

/** True where the windows agree on a longer step widely, or, as a third of many do, on one that explains all of the change. */
export function isCounted(blockDiff: LagDifferences, at: number, votes: JumpVotes): boolean {
  if (!agrees(votes) || votes.share >= WIDELY) return agrees(votes);
  const steps = blockDiff.get(1) ?? [];
  return (steps[at] ?? 0) <= EXPLAINED * votes.factor * levelBeside(steps, 1, at);
}

function missingByGrowth(blockDiff: LagDifferences, at: number): number {
  const here = Math.max(NOISE, blockDiff.get(1)?.[at] ?? 0);
  const curve = [...blockDiff].map(([lag, values]) => ({ lag, level: levelBeside(values, lag, at) }));
  const levelOf = (lag: number) => curve.find((point) => point.lag === lag)?.level ?? 0;
  const grows = levelOf(16) >= STILL_GROWS * levelOf(8);
  let lower = { lag: 1, level: curve[0]?.level ?? NOISE };
  for (const { lag, level } of curve.slice(1)) {
    if (level <= lower.level) continue;
    if (level >= here) {
      const share = clamp(Math.log(here / lower.level) / Math.log(level / lower.level), 0, 1);
      const steps = lower.lag * (lag / lower.lag) ** share;
      return Math.min(steps - 1, grows ? Infinity : MOST_UNGROWN);
    }
    lower = { lag, level };
  }
  return Math.min(lower.lag - 1, MOST_UNGROWN);
}

/** Usual difference between pictures `lag` apart on both sides of a step, none of them across it. */
function levelBeside(values: ArrayLike<number>, lag: number, at: number): number {
  const all = Array.from(values);
  const beside = [...all.slice(Math.max(lag, at - FLANK), at), ...all.slice(at + lag, at + lag + FLANK)];
  return Math.max(NOISE, median(beside));
}
