/** Boosted trees of depth three in their stored form. */
export interface ForestWeights {
  readonly bias: number;
  /**
   * One string per tree: 16-bit numbers, big-endian, base64. Seven splits in heap order, each a feature number and a
   * threshold in thousandths, then the eight answers in thousandths.
   */
  readonly trees: readonly string[];
}

/** Computes logarithmic odds from features; NaN is treated as a very low value. */
export type Forest = (features: readonly number[]) => number;

const QUESTIONS = 7;
const ANSWERS = 8;
const UNIT = 1000;

/** Parses stored trees (gradient boosting, J. Friedman, "Greedy function approximation", 2001). */
export function readForest({ bias, trees }: ForestWeights): Forest {
  const numbers = trees.map((tree) => {
    const bytes = Buffer.from(tree, 'base64');
    return Int16Array.from({ length: 2 * QUESTIONS + ANSWERS }, (_, i) => bytes.readInt16BE(2 * i));
  });
  return (features) => {
    let odds = bias;
    for (const tree of numbers) {
      let node = 0;
      while (node < QUESTIONS) {
        const value = features[tree[2 * node] ?? 0] ?? NaN;
        node = 2 * node + (value * UNIT >= (tree[2 * node + 1] ?? 0) ? 2 : 1);
      }
      odds += (tree[QUESTIONS + node] ?? 0) / UNIT;
    }
    return odds;
  };
}
