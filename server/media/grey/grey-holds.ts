import { measureJump, type JumpMeasure } from './grey-jumps.ts';
import type { GreyKernel } from './grey-kernel.ts';

/** The step behind a run of repeated pictures, compared with the steps beside the run. */
export interface HoldMeasure extends JumpMeasure {
  /** Pictures of the run that repeat the one before them. */
  readonly repeats: number;
}

/** A step that changes less than this share of the least living one behind the run repeats a picture. */
const STILL_SHARE = 0.42;
/** A single repeat is judged by its jump alone, and in clips of a low rate there are hundreds. */
const SHORTEST = 2;
/** Comparing takes five searches, some ms: a clip that repeats pictures all through has no more than these compared. */
const MOST_COMPARED = 24;
/** Least change of a living step (block difference, grey levels). */
const LIVING = 1.2;
/** Pictures that are compared on each side: the true one of the run and two before it, three behind it. */
const SIDE = 3;

export interface HoldFollower {
  /** The measures so far, by the picture behind the run. */
  readonly measures: ReadonlyMap<number, HoldMeasure>;
  /**
   * Looks at the run that ended three pictures ago, if one did.
   * @param moves block difference of each picture to the one before, grey levels, up to the newest
   */
  follow(moves: readonly number[]): void;
}

/**
 * Compares the motion across each run of repeats with the motion beside it while the pictures are at hand: copies that were put in leave
 * the step behind them as long as any, lost pictures make it as long as the run.
 * @param kept pictures that the kernel holds; picture `i` stands in place `i % kept`
 */
export function createHoldFollower(kernel: GreyKernel, kept: number): HoldFollower {
  const measures = new Map<number, HoldMeasure>();
  return {
    measures,
    follow(moves) {
      const behind = moves.length - SIDE;
      // The step right behind lost pictures may be as long as many others.
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
