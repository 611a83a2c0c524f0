import type { ForestWeights } from '#server/pipeline/analyse/dropped-frames/detect-hidden-drops-forest.ts';
import { quantile } from '#server/media/statistics.ts';

/** Training data of a forest; row `i` of the features has label `i` and weight `i`. */
export interface LabelledRows {
  readonly features: readonly (readonly number[])[];
  /** 1 for the class to be found, else 0. */
  readonly labels: readonly number[];
  readonly weights: readonly number[];
}

const TREES = 100;
const DEPTH = 3;
const SHRINKAGE = 0.13;
/** Ridge term of the leaf values, and the least sum of second derivatives on each side of a split (mean weight 1). */
const RIDGE = 5;
const LEAST_SIDE = 8;
const LEAST_ROWS = 30;
/** Shares of rows and features that each tree is trained on. */
const ROW_SHARE = 0.7;
const FEATURE_SHARE = 0.5;
/** Bins per feature; the thresholds tried lie between them. */
const BINS = 32;
/** Stands for a value that could not be measured; lower than every real one. */
const MISSING = -9;
const QUESTIONS = 2 ** DEPTH - 1;
const UNIT = 1000;

interface Node {
  readonly feature: number;
  readonly limit: number;
  readonly below: Node | number;
  readonly above: Node | number;
}

/** The rows in bins: `bins[k][i]` is the number of thresholds of feature `k` that row `i` reaches. */
interface Binned {
  readonly limits: readonly (readonly number[])[];
  readonly bins: readonly Uint8Array[];
  readonly slopes: Float64Array;
  readonly curvatures: Float64Array;
}

/**
 * Trains a forest by gradient boosting of the logistic loss with second derivatives (J. Friedman, "Greedy function
 * approximation: a gradient boosting machine", 2001; T. Chen and C. Guestrin, "XGBoost", 2016).
 * @param random 0 to 1, chooses the rows and features of each tree
 */
export function growForest(rows: LabelledRows, random: () => number): ForestWeights {
  const count = rows.labels.length;
  const columns = rows.features[0]?.length ?? 0;
  const mean = rows.weights.reduce((a, b) => a + b, 0) / count;
  const weights = rows.weights.map((weight) => weight / mean);
  const column = (k: number) => rows.features.map((row) => known(row[k]));
  const limits = Array.from({ length: columns }, (_, k) => limitsOf(column(k)));
  const bins = limits.map((feature, k) => Uint8Array.from(column(k), (value) => reached(feature, value)));
  const positive = rows.labels.reduce((sum, label, i) => sum + label * (weights[i] ?? 0), 0) / count;
  const bias = Math.log(positive / (1 - positive));
  const odds = new Float64Array(count).fill(bias);
  const binned = { limits, bins, slopes: new Float64Array(count), curvatures: new Float64Array(count) };
  const trees: string[] = [];
  for (let t = 0; t < TREES; t += 1) {
    for (let i = 0; i < count; i += 1) {
      const chance = 1 / (1 + Math.exp(-(odds[i] ?? 0)));
      binned.slopes[i] = (weights[i] ?? 0) * (chance - (rows.labels[i] ?? 0));
      binned.curvatures[i] = (weights[i] ?? 0) * chance * (1 - chance);
    }
    const seen = Array.from({ length: count }, (_, i) => i).filter(() => random() < ROW_SHARE);
    const asked = limits.map((_, k) => k).filter(() => random() < FEATURE_SHARE);
    const tree = growNode(binned, seen, asked, 0);
    for (let i = 0; i < count; i += 1) odds[i] = (odds[i] ?? 0) + SHRINKAGE * answer(tree, binned, i);
    trees.push(store(tree, limits));
  }
  return { bias: Math.round(bias * 10_000) / 10_000, trees };
}

const known = (value: number | undefined) => (value === undefined || Number.isNaN(value) ? MISSING : value);

function limitsOf(values: readonly number[]): number[] {
  const all = Array.from({ length: BINS - 1 }, (_, k) => quantile(values, (k + 1) / BINS));
  return [...new Set(all)].sort((a, b) => a - b);
}

function reached(limits: readonly number[], value: number): number {
  let count = 0;
  while (count < limits.length && value >= (limits[count] ?? Infinity)) count += 1;
  return count;
}

function growNode(
  data: Binned,
  rows: readonly number[],
  asked: readonly number[],
  depth: number,
): Node | number {
  let slope = 0;
  let curvature = 0;
  for (const i of rows) {
    slope += data.slopes[i] ?? 0;
    curvature += data.curvatures[i] ?? 0;
  }
  const leaf = -slope / (curvature + RIDGE);
  if (depth === DEPTH || rows.length < LEAST_ROWS) return leaf;
  let best = { gain: 0, feature: -1, limit: 0 };
  for (const feature of asked) {
    const slopes = new Float64Array(BINS);
    const curvatures = new Float64Array(BINS);
    const bins = data.bins[feature] ?? new Uint8Array();
    for (const i of rows) {
      const bin = bins[i] ?? 0;
      slopes[bin] = (slopes[bin] ?? 0) + (data.slopes[i] ?? 0);
      curvatures[bin] = (curvatures[bin] ?? 0) + (data.curvatures[i] ?? 0);
    }
    let below = 0;
    let weight = 0;
    for (let limit = 0; limit < (data.limits[feature]?.length ?? 0); limit += 1) {
      below += slopes[limit] ?? 0;
      weight += curvatures[limit] ?? 0;
      if (weight < LEAST_SIDE || curvature - weight < LEAST_SIDE) continue;
      const gain =
        below ** 2 / (weight + RIDGE) +
        (slope - below) ** 2 / (curvature - weight + RIDGE) -
        slope ** 2 / (curvature + RIDGE);
      if (gain > best.gain) best = { gain, feature, limit };
    }
  }
  if (best.feature < 0) return leaf;
  const bins = data.bins[best.feature] ?? new Uint8Array();
  const isBelow = (i: number) => (bins[i] ?? 0) <= best.limit;
  return {
    feature: best.feature,
    limit: best.limit,
    below: growNode(data, rows.filter(isBelow), asked, depth + 1),
    above: growNode(
      data,
      rows.filter((i) => !isBelow(i)),
      asked,
      depth + 1,
    ),
  };
}

function answer(tree: Node | number, data: Binned, row: number): number {
  let node = tree;
  while (typeof node !== 'number') {
    node = (data.bins[node.feature]?.[row] ?? 0) <= node.limit ? node.below : node.above;
  }
  return node;
}

/**
 * Encodes a tree in the form that `readForest` reads: a full tree, in which a missing split always leads to the lower
 * side.
 */
function store(tree: Node | number, limits: readonly (readonly number[])[]): string {
  const numbers = new Int16Array(2 * QUESTIONS + QUESTIONS + 1);
  const place = (node: Node | number, at: number) => {
    if (at >= QUESTIONS) {
      numbers[QUESTIONS + at] = typeof node === 'number' ? toUnits(SHRINKAGE * node) : 0;
      return;
    }
    const isLeaf = typeof node === 'number';
    numbers[2 * at] = isLeaf ? 0 : node.feature;
    numbers[2 * at + 1] = isLeaf ? 32_767 : toUnits(limits[node.feature]?.[node.limit] ?? 0);
    place(isLeaf ? node : node.below, 2 * at + 1);
    place(isLeaf ? 0 : node.above, 2 * at + 2);
  };
  place(tree, 0);
  const bytes = Buffer.alloc(2 * numbers.length);
  numbers.forEach((number, i) => bytes.writeInt16BE(number, 2 * i));
  return bytes.toString('base64');
}

const toUnits = (value: number) => Math.max(-32_768, Math.min(32_767, Math.round(value * UNIT)));
