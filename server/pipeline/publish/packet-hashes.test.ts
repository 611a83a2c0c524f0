import { describe, expect, it } from 'vitest';
import { planReads } from './packet-hashes.ts';

const unit = (offset: number, sizeBytes: number) => ({ offset, sizeBytes });

describe('planReads', () => {
  it('reads pictures with the sound between them at once, up to the last picture', () => {
    expect(planReads([unit(100, 5000), unit(5500, 4000), unit(9500, 10)])).toEqual([
      { first: 0, end: 3, offset: 100, sizeBytes: 9410 },
    ]);
  });

  it('starts a new read after a large hole and where the file goes back', () => {
    expect(planReads([unit(0, 10), unit(100_000, 10), unit(50, 10), unit(55, 10)])).toEqual([
      { first: 0, end: 1, offset: 0, sizeBytes: 10 },
      { first: 1, end: 2, offset: 100_000, sizeBytes: 10 },
      { first: 2, end: 3, offset: 50, sizeBytes: 10 },
      { first: 3, end: 4, offset: 55, sizeBytes: 10 },
    ]);
  });

  it('reads at most a megabyte at once, and a larger unit alone', () => {
    const units = [unit(0, 600_000), unit(600_000, 400_000), unit(1_000_000, 100_000), unit(1_100_000, 3e6)];
    const reads = planReads(units);
    expect(reads.map(({ first, end }) => [first, end])).toEqual([
      [0, 2],
      [2, 3],
      [3, 4],
    ]);
    expect(reads.at(-1)?.sizeBytes).toBe(3e6);
  });

  it('covers every unit once, in order', () => {
    const units = Array.from({ length: 500 }, (_, at) =>
      unit(at * 7000 + (at % 9) * 20, 3000 + (at % 11) * 90),
    );
    const reads = planReads(units);
    expect(reads.length).toBeLessThan(10);
    expect(reads.flatMap(({ first, end }) => units.slice(first, end))).toEqual(units);
    for (const { first, end, offset, sizeBytes } of reads) {
      for (const inside of units.slice(first, end)) {
        expect(inside.offset).toBeGreaterThanOrEqual(offset);
        expect(inside.offset + inside.sizeBytes).toBeLessThanOrEqual(offset + sizeBytes);
      }
    }
  });

  it('plans nothing for nothing', () => {
    expect(planReads([])).toEqual([]);
  });
});
