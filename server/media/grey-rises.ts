import { BLOCK } from './grey-frame.ts';

/** The change of the blocks in one step against the two steps beside it, as natural logarithms. */
export interface StepRise {
  /** Median over the lively blocks of this change against the mean (of the logarithms) of both. */
  readonly overMean: number;
  /** The same against the larger of both. */
  readonly overMax: number;
  /** Lower quartiles of the two: how far even the blocks that rise least rise. */
  readonly lowOverMean: number;
  readonly lowOverMax: number;
  /** Median against the larger of both, over the blocks that are lively in either step. */
  readonly wideOverMax: number;
  /** Share of the change beside (0 to 1) that lies in blocks which rise by a tenth and more. */
  readonly risingShare: number;
  /** Share of all blocks (0 to 1) that are lively in both steps beside, and in either. */
  readonly lively: number;
  readonly wideLively: number;
}

/** Mean change (grey levels) in both steps beside from which a block is lively. */
const LIVELY = 1;
/** Fewer lively blocks than this say nothing. */
const MIN_BLOCKS = 4;
/** Changes below this are rounding, grey levels. */
const LEAST = 0.15;
/** No block has more weight in the rising share than one that changes by so many grey levels. */
const MOST_WEIGHT = 15;
/** Rise (logarithm) from which a block counts as rising. */
const RISING = 0.1;

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
  const overMean = new Float64Array(here.length);
  const overMax = new Float64Array(here.length);
  const wide = new Float64Array(here.length);
  const lively = Math.log(LIVELY);
  let count = 0;
  let wideCount = 0;
  let weights = 0;
  let rising = 0;
  for (let k = 0; k < here.length; k += 1) {
    const [b = 0, h = 0, a = 0] = [before[k], here[k], after[k]];
    const most = Math.max(b, a);
    if (most < lively) continue;
    wide[wideCount] = h - most;
    wideCount += 1;
    const weight = Math.min(MOST_WEIGHT, Math.exp(most));
    weights += weight;
    if (h - most > RISING) rising += weight;
    if (Math.min(b, a) < lively) continue;
    overMean[count] = h - (b + a) / 2;
    overMax[count] = h - most;
    count += 1;
  }
  if (count < MIN_BLOCKS) return null;
  const means = overMean.subarray(0, count).sort();
  const maxima = overMax.subarray(0, count).sort();
  return {
    overMean: placed(means, 0.5),
    overMax: placed(maxima, 0.5),
    lowOverMean: placed(means, 0.25),
    lowOverMax: placed(maxima, 0.25),
    wideOverMax: placed(wide.subarray(0, wideCount).sort(), 0.5),
    risingShare: rising / weights,
    lively: count / here.length,
    wideLively: wideCount / here.length,
  };
}

/** Quantile of sorted values, interpolated. */
function placed(sorted: Float64Array, share: number): number {
  const place = share * (sorted.length - 1);
  const low = sorted[Math.floor(place)] ?? 0;
  const high = sorted[Math.ceil(place)] ?? low;
  return low + (high - low) * (place - Math.floor(place));
}
