import { BLOCK } from './grey-frame.ts';
import { median } from './statistics.ts';

/** The change of the lively blocks in one step against the two steps beside it, as natural logarithms. */
export interface StepRise {
  /** Median over the blocks of this change against the mean (of the logarithms) of both. */
  readonly overMean: number;
  /** The same against the larger of both. */
  readonly overMax: number;
}

/** Mean change (grey levels) in both steps beside from which a block is lively. */
const LIVELY = 1;
/** Fewer lively blocks than this say nothing. */
const MIN_BLOCKS = 4;
/** Changes below this are rounding, grey levels. */
const LEAST = 0.15;

export interface StepRiseBuilder {
  /** Takes the sums of absolute differences of the blocks to the picture before; null for the first picture. */
  add(sums: Float64Array | null): void;
  /** One entry per picture. */
  finish(): (StepRise | null)[];
}

/**
 * Compares each step block by block with its neighbours. A missing picture makes everything that moves go
 * farther at once; an appearance, a flash or a gesture changes some blocks only. The median over the blocks
 * tells them apart at any amount of motion, because each block is held against itself.
 */
export function createStepRises(): StepRiseBuilder {
  const rises: (StepRise | null)[] = [];
  let before: Float64Array | null = null;
  let here: Float64Array | null = null;
  return {
    add(sums) {
      const after = sums && sums.map((sum) => Math.log(Math.max(LEAST, sum / (BLOCK * BLOCK))));
      if (rises.length > 0) rises[rises.length - 1] = compare(before, here, after);
      rises.push(null);
      before = here;
      here = after;
    },
    finish: () => rises,
  };
}

function compare(
  before: Float64Array | null,
  here: Float64Array | null,
  after: Float64Array | null,
): StepRise | null {
  if (!before || !here || !after) return null;
  const overMean: number[] = [];
  const overMax: number[] = [];
  const lively = Math.log(LIVELY);
  for (let k = 0; k < here.length; k += 1) {
    const [b = 0, h = 0, a = 0] = [before[k], here[k], after[k]];
    if (Math.min(b, a) < lively) continue;
    overMean.push(h - (b + a) / 2);
    overMax.push(h - Math.max(b, a));
  }
  return overMean.length < MIN_BLOCKS ? null : { overMean: median(overMean), overMax: median(overMax) };
}
