import { describe, expect, it } from 'vitest';
import { createSpectralFloor } from './signal-floor.ts';
import { createFramer, createPowerSpectrum } from './signal-frames.ts';
import { fitLine, median, percentile, powerToDb, selectQuantile, selectRank } from './signal.ts';

describe('signal maths', () => {
  it('interpolates percentiles between ranks', () => {
    expect(percentile([4, 1, 3, 2], 0.5)).toBe(2.5);
    expect(percentile([1, 2, 3], 1)).toBe(3);
    expect(percentile([], 0.5)).toBeNaN();
  });

  it('selects every rank like sorting does', () => {
    const values = [5, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5];
    const sorted = [...values].sort((a, b) => a - b);
    sorted.forEach((value, rank) => {
      expect(selectRank(Float64Array.from(values), values.length, rank)).toBe(value);
    });
  });

  it('selects percentiles as sorting gives them', () => {
    const values = Float64Array.from([5, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 0.1]);
    for (const q of [0, 0.25, 0.5, 0.77, 1]) {
      for (const count of [1, 2, 7, values.length]) {
        const expected = percentile(values.subarray(0, count), q);
        expect(selectQuantile(values.slice(), count, q)).toBe(expected);
      }
    }
  });

  it('fits a line and keeps silence finite', () => {
    const line = fitLine([0, 1, 2, 3], [1, 3, 5, 7]);
    expect(line.slope).toBeCloseTo(2, 12);
    expect(line.intercept).toBeCloseTo(1, 12);
    expect(powerToDb(0)).toBe(-140);
  });

  it('divides a stream into the same frames whatever its chunks are', () => {
    const stream = Float64Array.from({ length: 100 }, (_, i) => i);
    const cut = (step: number) => {
      const frames: number[] = [];
      const framer = createFramer(16, 4, (frame) => frames.push(frame[0] ?? -1, frame[15] ?? -1));
      for (let i = 0; i < stream.length; i += step) framer.push(stream.subarray(i, i + step));
      return frames;
    };
    expect(cut(7)).toEqual(cut(100));
    expect(cut(100).slice(0, 4)).toEqual([0, 15, 4, 19]);
  });

  it('gives a sine its power, spread over the bins around its frequency', () => {
    const spectrum = createPowerSpectrum(512);
    const power = spectrum.of(
      Float64Array.from({ length: 512 }, (_, i) => Math.sin((2 * Math.PI * 40 * i) / 512)),
    );
    expect(power.reduce((sum, value) => sum + value, 0)).toBeCloseTo(0.5, 3);
    expect(power.indexOf(Math.max(...power))).toBe(40);
  });

  it('keeps a broad background and removes a line above it', () => {
    const floor = createSpectralFloor(64, 4);
    const row = new Float64Array(64).fill(2);
    row[30] = 500;
    floor.push(row);
    floor.push(row);
    const background = floor.push(row);
    expect(background && [...background].every((value) => value === 2)).toBe(true);
    expect(median([...(floor.flush() ?? [])])).toBe(2);
  });
});
