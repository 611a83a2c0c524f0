import type { JumpVotes } from '#server/media/grey/grey-jump-votes.ts';
import type { JumpMeasure } from '#server/media/grey/grey-jumps.ts';
import { clamp, median } from '#server/media/statistics.ts';
import { agrees, votesOf } from './detect-hidden-drops-direction.ts';

/** Steps on each side whose differences over several pictures a jump is compared with. */
const FLANK = 6;
/** From this agreement of the windows on, their slope is used... */
const HEARD_AGREEMENT = 0.5;
/** ...if it lies between these factors; beyond them the windows have lost what they followed. */
const HEARD_SLOPE = { least: 1.5, most: 9 };
/** Nearly all windows agree, and not too far: nothing else is needed. */
const CLEAR = { agreement: 0.95, slope: 6 };
/**
 * A larger share of agreeing windows is trusted whatever the change. Below it, the change may be at most `EXPLAINED`
 * times what their factor explains.
 */
const WIDELY = 0.4;
const EXPLAINED = 1.3;
/**
 * Windows find a far step a little too short (0.86 of it where they move by less than a pixel), so their factor is
 * raised, and what the growth of the differences says has a part in it, within these bounds. Of 166 losses of 1 to 5
 * pictures in ten clips 124 are counted exactly for 108, and the errors add up to 51 for 72; with other seeds and three
 * more clips 53 of 67 for 45, and 17 for 26 (docs/benchmarks/repeats-and-losses.md).
 */
const VOTED = { raised: 1.04, grownShare: 0.2, within: 1.5 };
/**
 * If differences over 16 pictures exceed those over 8 by less than this factor, they have stopped growing and give no
 * number.
 */
const STILL_GROWS = 1.3;
/** Maximum count in that case: the distance up to which differences grow in most clips. */
const MOST_UNGROWN = 8;
/** Smaller differences are noise, grey levels. */
const NOISE = 0.1;

/** Differences between pictures `lag` apart, indexed by the later one. */
export type LagDifferences = ReadonlyMap<number, ArrayLike<number>>;

/**
 * Counts the pictures missing before picture `at`: the distance at which a difference like the one there occurs
 * elsewhere in the shot, minus the step itself. Interpolated between the measured distances, because differences grow
 * ever more slowly. If the vectors of many windows say how much longer the step is, the geometric mean of both. In 115
 * found losses of 1 to 8 pictures in eleven clips the errors add up to 129 pictures, against 161 for the nearest
 * measured distance (in 55 held-out losses 61 against 77), both fitted to the missing time
 * (docs/benchmarks/repeats-and-losses.md).
 * @returns at least 1
 */
export function countMissing(blockDiff: LagDifferences, at: number, jump: JumpMeasure | undefined): number {
  const votes = jump ? votesOf(jump) : null;
  if (votes && isCounted(blockDiff, at, votes))
    return Math.max(1, Math.round(votedLength(votes, missingByGrowth(blockDiff, at) + 1)) - 1);
  const { slope, agreement } = jump ?? { slope: 0, agreement: 0 };
  const heard =
    agreement >= HEARD_AGREEMENT && slope > HEARD_SLOPE.least && slope < HEARD_SLOPE.most ? slope - 1 : null;
  if (heard !== null && agreement >= CLEAR.agreement && slope < CLEAR.slope)
    return Math.max(1, Math.round(heard));
  const grown = missingByGrowth(blockDiff, at);
  return Math.max(1, Math.round(heard === null ? grown : Math.sqrt(Math.max(0.5, grown) * heard)));
}

/** How many ordinary steps long a step is, by the windows and by the growth of the differences. */
function votedLength({ factor }: JumpVotes, grown: number): number {
  const { raised, grownShare, within } = VOTED;
  return raised * factor ** (1 - grownShare) * clamp(grown, factor / within, factor * within) ** grownShare;
}

/**
 * True if the windows widely agree on a longer step, or a third of many agree on one that explains the whole change.
 */
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
