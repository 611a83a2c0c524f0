import { describe, expect, it } from 'vitest';
import { oneBehindTheOther } from './cut-part.ts';
import type { Sample } from './sample-table.ts';

/** Samples of one run, 10 ticks each, by decode and presentation time. */
const run = (times: readonly (readonly [number, number])[]): Sample[] =>
  times.map(([dts, pts], at) => ({
    offset: dts * 100,
    sizeBytes: 50,
    dts,
    pts,
    durationTicks: 10,
    sync: at === 0,
    chunk: 0,
    description: 1,
  }));

describe('oneBehindTheOther', () => {
  const [first, second] = [
    run([
      [100, 120],
      [110, 140],
      [120, 130],
    ]),
    run([
      [700, 720],
      [710, 730],
    ]),
  ];

  it('moves each run to the end of the previous one, with its own distances unchanged', () => {
    const joined = oneBehindTheOther([first, second]);
    expect(joined?.map(({ dts, pts }) => [dts, pts])).toEqual([
      [100, 120],
      [110, 140],
      [120, 130],
      [130, 150],
      [140, 160],
    ]);
    expect(joined?.map(({ offset }) => offset)).toEqual([...first, ...second].map(({ offset }) => offset));
  });

  it('returns null when pictures of two runs would be displayed interleaved', () => {
    expect(oneBehindTheOther([first, run([[700, 700]])])).toBeNull();
  });
});
