import { BLOCK } from './grey-frame.ts';
import { selectQuantile } from '../signal/signal.ts';

/** The change of the blocks in one step compared with the two steps beside it, as natural logarithms. */
export interface StepRise {
  /** Median over the lively blocks of this change over the mean (of the logarithms) of both. */
  readonly overMean: number;
  /** The same over the larger of both. */
  readonly overMax: number;
  /** Lower quartiles of the two: how much the blocks rise that rise least. */
  readonly lowOverMean: number;
  readonly lowOverMax: number;
  /** Median over the larger of both, for the blocks that are lively in either step. */
  readonly wideOverMax: number;
  /** Share (0 to 1) of the change in the steps beside it that lies in blocks which rise by a tenth or more. */
  readonly risingShare: number;
  /** Share of all blocks (0 to 1) that are lively in both steps beside it (`lively`) or in either (`wideLively`). */
  readonly lively: number;
  readonly wideLively: number;
}

/** Mean change (grey levels) in both steps beside it from which a block is lively. */
const LIVELY = 1;
/** Fewer lively blocks than this say nothing. */
const MIN_BLOCKS = 4;
/** Changes below this are rounding, grey levels. */
const LEAST = 0.15;
/** A block's weight in the rising share is limited to that of a change by so many grey levels. */
const MOST_WEIGHT = 15;
/** Rise (logarithm) from which a block counts as rising. */
const RISING = 0.1;

export interface StepRiseBuilder {
  /** Takes the sums of absolute differences of the blocks to the picture before; null for the first picture. */
  add(sums: Int32Array | null): void;
  /** One entry per picture. */
  finish(): (StepRise | null)[];
}

/**
 * Compares each step block by block with the steps beside it. A missing picture makes everything that moves go farther
 * at once; an appearance, a flash or a gesture changes only some blocks. The median over the blocks tells these cases
 * apart at any amount of motion, because each block is compared with itself.
 */
export function createStepRises(): StepRiseBuilder {
  const rises: (StepRise | null)[] = [];
  let before: Int32Array | null = null;
  let here: Int32Array | null = null;
  let scratch: Scratch | null = null;
  return {
    add(sums) {
      const after = sums && sums.slice();
      if (before && here && after) {
        scratch ??= createScratch(here.length);
        rises[rises.length - 1] = compare(before, here, after, scratch);
      }
      rises.push(null);
      before = here;
      here = after;
    },
    finish: () => rises,
  };
}

/** Logarithm of a block's mean change, indexed by the sum over its pixels. */
const LOG_CHANGE = Float64Array.from({ length: 255 * BLOCK * BLOCK + 1 }, (_, sum) =>
  Math.log(Math.max(LEAST, sum / (BLOCK * BLOCK))),
);
/** Weight of a block in the rising share, indexed by the same sum. */
const WEIGHT = LOG_CHANGE.map((change) => Math.min(MOST_WEIGHT, Math.exp(change)));

/** Space for one value per block. */
interface Scratch {
  readonly overMean: Float64Array;
  readonly overMax: Float64Array;
  readonly wide: Float64Array;
}

const createScratch = (blocks: number): Scratch => ({
  overMean: new Float64Array(blocks),
  overMax: new Float64Array(blocks),
  wide: new Float64Array(blocks),
});

function compare(
  before: Int32Array,
  here: Int32Array,
  after: Int32Array,
  { overMean, overMax, wide }: Scratch,
): StepRise | null {
  const lively = Math.log(LIVELY);
  let count = 0;
  let wideCount = 0;
  let weights = 0;
  let rising = 0;
  for (let k = 0; k < here.length; k += 1) {
    const mostSum = Math.max(before[k] ?? 0, after[k] ?? 0);
    const most = LOG_CHANGE[mostSum] ?? 0;
    if (most < lively) continue;
    const [b = 0, a = 0] = [LOG_CHANGE[before[k] ?? 0], LOG_CHANGE[after[k] ?? 0]];
    const h = LOG_CHANGE[here[k] ?? 0] ?? 0;
    wide[wideCount] = h - most;
    wideCount += 1;
    const weight = WEIGHT[mostSum] ?? 0;
    weights += weight;
    if (h - most > RISING) rising += weight;
    if (Math.min(b, a) < lively) continue;
    overMean[count] = h - (b + a) / 2;
    overMax[count] = h - most;
    count += 1;
  }
  if (count < MIN_BLOCKS) return null;
  return {
    overMean: selectQuantile(overMean, count, 0.5),
    overMax: selectQuantile(overMax, count, 0.5),
    lowOverMean: selectQuantile(overMean, count, 0.25),
    lowOverMax: selectQuantile(overMax, count, 0.25),
    wideOverMax: selectQuantile(wide, wideCount, 0.5),
    risingShare: rising / weights,
    lively: count / here.length,
    wideLively: wideCount / here.length,
  };
}
