import { describe, expect, it } from 'vitest';
import { readForest } from './detect-hidden-drops-forest.ts';

/** A tree that first splits feature 1 at 0.5 and then always goes to the lower side, except above: feature 0 at -2. */
const TREE = [1, 500, 0, 32_767, 0, -2000, 0, 32_767, 0, 32_767, 0, 32_767, 0, 32_767];
const ANSWERS = [100, 0, 0, 0, 200, 0, 300, 0];

function stored(numbers: readonly number[]): string {
  const bytes = Buffer.alloc(2 * numbers.length);
  numbers.forEach((number, i) => bytes.writeInt16BE(number, 2 * i));
  return bytes.toString('base64');
}

describe('readForest', () => {
  const tree = stored([...TREE, ...ANSWERS]);

  it('follows the splits to an answer', () => {
    const forest = readForest({ bias: -1, trees: [tree] });
    expect(forest([0, 0.4])).toBeCloseTo(-0.9);
    expect(forest([-3, 0.5])).toBeCloseTo(-0.8);
    expect(forest([-2, 0.5])).toBeCloseTo(-0.7);
  });

  it('adds up the answers of all trees', () => {
    expect(readForest({ bias: 0.5, trees: [tree, tree] })([0, 0.4])).toBeCloseTo(0.7);
  });

  it('treats a value that could not be measured as very low', () => {
    expect(readForest({ bias: 0, trees: [tree] })([NaN, NaN])).toBeCloseTo(0.1);
    expect(readForest({ bias: 0, trees: [tree] })([NaN, 1])).toBeCloseTo(0.2);
  });
});
