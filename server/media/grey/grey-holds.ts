import { measureJump, type JumpMeasure } from './grey-jumps.ts';
import type { GreyKernel } from './grey-kernel.ts';

/** The step behind a run of repeated pictures, compared with the steps on both sides of the run. */
export interface HoldMeasure extends JumpMeasure {
  /** Number of pictures in the run that repeat the one before them. */
  readonly repeats: number;
}

/** A step repeats a picture if it changes less than this share of the smallest moving step behind the run. */
const STILL_SHARE = 0.42;
/**
 * Fewest repeats that are compared. A single one is judged by its jump alone, and clips of a low rate have hundreds.
 */
const SHORTEST = 2;
/**
 * Most runs that are compared in a clip that repeats pictures all through; each comparison takes five searches of some
 * ms.
 */
const MOST_COMPARED = 24;
/** Least change of a step that shows motion (block difference, grey levels). */
const LIVING = 1.2;
/** Pictures compared on each side: the original of the run and two before it, and three behind it. */
const SIDE = 3;

export interface HoldFollower {
  /** The measures so far, keyed by the picture behind the run. */
  readonly measures: ReadonlyMap<number, HoldMeasure>;
  /**
   * Looks at the run that ended three pictures ago, if one did.
   * @param moves block difference of each picture to the one before, grey levels, up to the newest
   */
  follow(moves: readonly number[]): void;
}

/**
 * Compares the motion across each run of repeats with the motion around it, while the pictures are still at hand.
 * Behind inserted copies, the step is as long as any other; where pictures were lost, it is as long as the whole run.
 * @param kept number of pictures that the kernel holds; picture `i` is in place `i % kept`
 */
export function createHoldFollower(kernel: GreyKernel, kept: number): HoldFollower {
  const measures = new Map<number, HoldMeasure>();
  return {
    measures,
    follow(moves) {
      const behind = moves.length - SIDE;
      // The step right behind lost pictures may be as long as many steps.
      const step = Math.min(...moves.slice(behind));
      if (step < LIVING || measures.size >= MOST_COMPARED) return;
      let first = behind;
      while (first > 0 && (moves[first - 1] ?? 0) < STILL_SHARE * step) first -= 1;
      const repeats = behind - first;
      const isHeldByMotion = (moves[first - 1] ?? 0) >= LIVING;
      if (repeats < SHORTEST || !isHeldByMotion || first < SIDE || behind - first + 2 * SIDE > kept) return;
      const places = [first - 3, first - 2, first - 1, behind, behind + 1, behind + 2];
      measures.set(behind, {
        repeats,
        ...measureJump(
          kernel,
          places.map((at) => at % kept),
        ),
      });
    },
  };
}
