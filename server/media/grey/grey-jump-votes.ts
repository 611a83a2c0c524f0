import type { Flow } from './grey-flow.ts';
import { median } from '../statistics.ts';

/** What the evenly moving windows say about one step, each by itself. */
export interface JumpVotes {
  /** Number of windows that move alike before and behind the step, so that their expected places are known. */
  readonly voters: number;
  /** Share of them (0 to 1) that move farther by one common factor, in their previous and later direction. */
  readonly share: number;
  /**
   * That factor: the step's length over the mean of the steps before and behind it, median of these windows; 1 without
   * any.
   */
  readonly factor: number;
}

/** Result where no window shows anything. */
export const NO_VOTES: JumpVotes = { voters: 0, share: 0, factor: 1 };

/** Displacement (pixels of the small picture) below which a direction is only rounding. */
const MIN_SPEED = 0.1;
/** In even motion, the displacements before and behind a step differ by at most this share of their mean. */
const MOST_UNEVEN = 0.7;
/** A window votes for a factor that it misses by at most this share, both along the motion and across it. */
const TOLERANCE = 0.35;
/**
 * Factors that are tried, each 20 % above the one before: from an ordinary step to the farthest that a search still
 * finds.
 */
const FACTORS = Array.from({ length: 16 }, (_, i) => 0.8 * 1.2 ** i);

/**
 * Lets each window vote on how much farther it moves in a step than in those beside it. When a picture is missing, all
 * windows move farther by the same factor; at a cut inside a shot, each turns up somewhere else. Unlike a correlation
 * over all windows (`compareSteps`), a vote is not spoilt by windows that were lost in a far step (consensus instead of
 * least squares: M. Fischler and R. Bolles, "Random sample consensus", 1981). Of 127 removed pictures with likely odds
 * in 96 clips, 82 are voted for; of 134 jump cuts, 5 (docs/benchmarks/repeats-and-losses.md).
 * @param before flow of the step in front of the judged one
 * @param after flow of the step behind it
 */
export function voteOnJump(before: Flow, step: Flow, after: Flow): JumpVotes {
  const ratios: { along: number; across: number }[] = [];
  let voters = 0;
  for (let k = 0; k < step.valid.length; k += 1) {
    const motion = evenMotion(before, after, k);
    if (!motion) continue;
    const [x, y] = motion;
    const speed = Math.hypot(x, y);
    voters += 1;
    if (!step.valid[k]) continue;
    const [stepX, stepY] = [step.x[k] ?? 0, step.y[k] ?? 0];
    const along = (stepX * x + stepY * y) / speed ** 2;
    ratios.push({ along, across: Math.abs(stepX * y - stepY * x) / speed ** 2 });
  }
  let best: JumpVotes = { ...NO_VOTES, voters };
  for (const factor of FACTORS) {
    const most = TOLERANCE * factor;
    const agreeing = ratios.filter(({ along, across }) => Math.abs(along - factor) <= most && across <= most);
    const share = agreeing.length / Math.max(1, voters);
    if (share > best.share) best = { voters, share, factor: median(agreeing.map(({ along }) => along)) };
  }
  return best;
}

/**
 * Mean motion of a window before and behind a step, pixels of the small picture; null where it does not move evenly.
 */
export function evenMotion(before: Flow, after: Flow, k: number): readonly [number, number] | null {
  if (!before.valid[k] || !after.valid[k]) return null;
  const [beforeX, beforeY] = [before.x[k] ?? 0, before.y[k] ?? 0];
  const [afterX, afterY] = [after.x[k] ?? 0, after.y[k] ?? 0];
  const [x, y] = [(beforeX + afterX) / 2, (beforeY + afterY) / 2];
  const speed = Math.hypot(x, y);
  const isUneven = Math.hypot(beforeX - afterX, beforeY - afterY) > MOST_UNEVEN * speed;
  return speed < MIN_SPEED || isUneven ? null : [x, y];
}
