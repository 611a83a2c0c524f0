import { blockFlow, type Flow } from './grey-flow.ts';
import { NO_VOTES, voteOnJump, type JumpVotes } from './grey-jump-votes.ts';
import { voteAtPlaces } from './grey-jump-places.ts';
import { BLOCK } from './grey-frame.ts';
import type { GreyKernel } from './grey-kernel.ts';
import { median } from '../statistics.ts';

/** How the step into one picture compares with the steps around it, from the motion of many windows. */
export interface JumpMeasure {
  /** Number of windows that moved and could be followed through all steps. */
  readonly windows: number;
  /** Step length over the mean of the two steps beside it, by least squares: 2 when one picture is missing. */
  readonly slope: number;
  /**
   * Correlation of the step's vectors with the mean of those beside it, -1 to 1: is it the same motion, only longer?
   */
  readonly agreement: number;
  /** Correlation of the two steps beside it: is the motion steady enough to expect anything? */
  readonly steadiness: number;
  /** Slope over the longest of the four steps around it. */
  readonly excess: number;
  /** Shortest of the four steps around it, as a share of the mean of the two beside it. */
  readonly leastAround: number;
  /** Root mean square of the expected step, pixels of the small picture. */
  readonly speed: number;
  /** Number of blocks that change in both steps beside it. */
  readonly livelyBlocks: number;
  /**
   * Median over those blocks of their change in this step over the larger of their changes in the steps beside it.
   * Above 1 when everything that moves moves farther; about 1 when something new appears elsewhere.
   */
  readonly commonRise: number;
  /** How much farther the windows move than in the steps beside it, each by itself. */
  readonly votes: JumpVotes;
  /**
   * The same, measured at the places where their motion leads; only for steps whose windows did not agree in `votes`.
   */
  readonly atPlaces: JumpVotes;
}

/**
 * Where at least this share of the windows agrees on a factor by their best places, the expected places are not
 * searched.
 */
const FOUND_SHARE = 0.5;
/** Mean change (grey levels) from which a block is lively. */
const LIVELY = 1;

/** Expected and actual step below which a window stands still, pixels. */
const STILL_EXPECTED = 0.08;
const STILL_STEP = 0.15;

/**
 * Compares the third of five consecutive steps with the others.
 * @param places six pictures of the kernel in display order; the step judged leads from the third to the fourth
 */
export function measureJump(kernel: GreyKernel, places: readonly number[]): JumpMeasure {
  const steps = places.slice(1).map((place, before) => blockFlow(kernel, places[before] ?? place, place));
  const [, before, step, after] = steps;
  const votes = before && step && after ? voteOnJump(before, step, after) : NO_VOTES;
  const [, , p2, p3] = places;
  const isLost = votes.voters > 0 && votes.share < FOUND_SHARE && p2 !== undefined && p3 !== undefined;
  const atPlaces = isLost && before && after ? voteAtPlaces(kernel, [p2, p3], before, after) : NO_VOTES;
  return { ...compareSteps(steps), ...compareBlocks(kernel, places), votes, atPlaces };
}

/** How the change of each lively block in the step compares with its change in the steps before and behind. */
function compareBlocks(
  kernel: GreyKernel,
  places: readonly number[],
): Pick<JumpMeasure, 'livelyBlocks' | 'commonRise'> {
  const [, p1, p2, p3, p4] = places;
  if (p1 === undefined || p2 === undefined || p3 === undefined || p4 === undefined) {
    return { livelyBlocks: 0, commonRise: 1 };
  }
  const changes = (a: number, b: number) => kernel.blockDifferences(a, b, 1).slice();
  const before = changes(p1, p2);
  const here = changes(p2, p3);
  const after = changes(p3, p4);
  const least = LIVELY * BLOCK * BLOCK;
  const rises: number[] = [];
  here.forEach((change, k) => {
    const [b = 0, a = 0] = [before[k], after[k]];
    if (Math.min(b, a) >= least) rises.push(change / Math.max(b, a));
  });
  return { livelyBlocks: rises.length, commonRise: rises.length > 0 ? median(rises) : 1 };
}

/** The comparison itself, on five flows. */
function compareSteps(
  steps: readonly Flow[],
): Omit<JumpMeasure, 'livelyBlocks' | 'commonRise' | 'votes' | 'atPlaces'> {
  const [, before, step, after] = steps;
  if (!before || !step || !after) return NOTHING;
  let windows = 0;
  let expected2 = 0;
  let product = 0;
  let step2 = 0;
  let before2 = 0;
  let after2 = 0;
  let beforeAfter = 0;
  const along = steps.map(() => 0);
  for (let k = 0; k < step.valid.length; k += 1) {
    if (!before.valid[k] || !step.valid[k] || !after.valid[k]) continue;
    const [bx, by] = vector(before, k);
    const [sx, sy] = vector(step, k);
    const [ax, ay] = vector(after, k);
    const ex = (bx + ax) / 2;
    const ey = (by + ay) / 2;
    if (Math.hypot(ex, ey) < STILL_EXPECTED && Math.hypot(sx, sy) < STILL_STEP) continue;
    windows += 1;
    expected2 += ex * ex + ey * ey;
    product += ex * sx + ey * sy;
    step2 += sx * sx + sy * sy;
    before2 += bx * bx + by * by;
    after2 += ax * ax + ay * ay;
    beforeAfter += bx * ax + by * ay;
    steps.forEach((other, index) => {
      const [x, y] = vector(other, k);
      along[index] = (along[index] ?? 0) + ex * x + ey * y;
    });
  }
  if (windows === 0 || expected2 < 1e-9) return NOTHING;
  const around = [along[0], along[1], along[3], along[4]].map((value) => (value ?? 0) / expected2);
  return {
    windows,
    slope: product / expected2,
    agreement: product / Math.sqrt(Math.max(1e-12, expected2 * step2)),
    steadiness: beforeAfter / Math.sqrt(Math.max(1e-12, before2 * after2)),
    excess: product / expected2 / Math.max(1e-3, ...around),
    leastAround: Math.min(...around),
    speed: Math.sqrt(expected2 / windows),
  };
}

const NOTHING = {
  windows: 0,
  slope: 1,
  agreement: 0,
  steadiness: 0,
  excess: 1,
  leastAround: 0,
  speed: 0,
};

function vector(flow: Flow, at: number): [number, number] {
  return [flow.x[at] ?? 0, flow.y[at] ?? 0];
}
