import { describe, expect, it } from 'vitest';
import { createProgressMeter } from './progress-meter.ts';
import type { WorkerMessage } from '../worker-protocol.ts';

function setUp() {
  let time = 0;
  const told: { share: number; remainingSeconds: number | null; step: string }[] = [];
  const meter = createProgressMeter({
    now: () => time,
    send: (message: WorkerMessage) => {
      if (message.type === 'progress') told.push(message);
    },
  });
  const wait = (ms: number) => {
    time += ms;
  };
  return { meter, told, wait };
}

describe('createProgressMeter', () => {
  it('divides the bar by cost', () => {
    const { meter, told, wait } = setUp();
    meter.begin('analyzing', 1, 1);
    wait(1000);
    meter.report(0.5);
    expect(told.at(-1)?.share).toBeCloseTo(0.25);
    wait(1000);
    meter.end();
    meter.begin('exporting', 1, 0);
    wait(1000);
    meter.report(0.5);
    expect(told.at(-1)?.share).toBeCloseTo(0.75);
  });

  it('stays where it is when a share is not a number', () => {
    const { meter, told, wait } = setUp();
    meter.begin('analyzing', 1, 1);
    wait(1000);
    meter.report(0.5);
    wait(1000);
    meter.report(0 / 0);
    wait(1000);
    meter.report(0.6);
    expect(told[1]?.share).toBeCloseTo(0.25);
    expect(told[2]?.share).toBeCloseTo(0.3);
    expect(told.length).toBe(3);
  });

  it('never falls, and ends at 1 when the plan turns out longer or shorter', () => {
    for (const laterMs of [10, 100_000]) {
      const { meter, told, wait } = setUp();
      meter.begin('analyzing', 1, 0.5);
      for (const share of [0.1, 0.6, 0.4, 1]) {
        wait(300);
        meter.report(share);
      }
      meter.end();
      meter.expectLater(laterMs, 1200);
      meter.begin('fixing_cuts', laterMs / 2);
      meter.end();
      meter.begin('exporting', laterMs / 2, 0);
      wait(300);
      meter.report(0.3);
      meter.end();
      const shares = told.map(({ share }) => share);
      expect(shares).toEqual([...shares].sort((a, b) => a - b));
      expect(shares.at(-1)).toBe(1);
    }
  });

  it('reports at once that more is done when the plan turns out short', () => {
    const { meter, told, wait } = setUp();
    meter.begin('analyzing', 1, 1.5);
    wait(9000);
    meter.end();
    expect(told.at(-1)?.share).toBeCloseTo(0.4);
    meter.expectLater(1000, 9000);
    meter.begin('exporting', 1000, 0);
    expect(told.at(-1)?.share).toBeCloseTo(0.9);
    wait(500);
    meter.report(0.5);
    expect(told.at(-1)?.share).toBeCloseTo(0.95);
  });

  it('estimates the time left from the measured rate and the expected costs', () => {
    const { meter, told, wait } = setUp();
    meter.begin('analyzing', 1, 1);
    expect(told.at(-1)?.remainingSeconds).toBeNull();
    wait(2000);
    meter.report(0.5);
    expect(told.at(-1)?.remainingSeconds).toBeCloseTo(2 + 4);
    wait(2000);
    meter.end();
    meter.expectLater(10_000, 4000);
    meter.begin('exporting', 10_000, 0);
    expect(told.at(-1)?.remainingSeconds).toBeCloseTo(10);
    wait(1000);
    meter.report(0.5);
    // 1 s by its rate, 5 s by its costs.
    expect(told.at(-1)?.remainingSeconds).toBeCloseTo(3);
  });

  it('reports the share of the time when a piece took longer than its costs said', () => {
    const { meter, told, wait } = setUp();
    meter.begin('analyzing', 1, 1);
    wait(1000);
    meter.end();
    meter.expectLater(3000, 1000);
    meter.begin('fixing_cuts', 1000);
    wait(5000);
    meter.end();
    meter.begin('exporting', 2000, 0);
    // 6 s of 8 are over, while half of the work is done by costs.
    expect(told.at(-1)?.share).toBeCloseTo(0.75);
  });

  it('learns the cost of a second piece of the analysis from the first', () => {
    const { meter, told, wait } = setUp();
    meter.begin('analyzing', 1, 0.5);
    wait(2000);
    meter.report(1);
    meter.begin('analyzing', 0.25, 0.5);
    wait(300);
    meter.report(0);
    expect(told.at(-1)?.remainingSeconds).toBeCloseTo(1.5);
  });

  it('advances by the clock while a piece is silent, but not to its end', () => {
    const { meter, told, wait } = setUp();
    meter.expectLater(4000, 1000);
    meter.begin('fixing_cuts', 2000);
    const beats = (count: number) => {
      for (let beat = 0; beat < count; beat += 1) {
        wait(250);
        meter.beat();
      }
      return told.at(-1)?.share ?? 0;
    };
    expect(beats(2)).toBeCloseTo(0.3);
    expect(beats(2)).toBeCloseTo(0.4);
    // A piece that takes far longer than expected is not taken for done.
    expect(beats(6)).toBeLessThan(0.6);
    expect(told.at(-1)?.remainingSeconds).toBeCloseTo(3);
    meter.end();
    const before = told.length;
    wait(250);
    meter.beat();
    expect(told.length).toBe(before);
  });

  it('slows down a bar that ran ahead, and continues', () => {
    const { meter, told, wait } = setUp();
    meter.begin('analyzing', 1, 0.2);
    wait(4000);
    meter.report(0.9);
    meter.end();
    meter.expectLater(12_000, 4000);
    meter.begin('exporting', 12_000, 0);
    const before = told.at(-1)?.share ?? 0;
    for (const share of [0.1, 0.2, 0.3, 0.4]) {
      wait(1200);
      meter.report(share);
    }
    const after = told.at(-1)?.share ?? 0;
    expect(after).toBeGreaterThan(before);
    expect(after - before).toBeLessThan(0.4 * (1 - before));
  });

  it('trusts the rate of a piece the more of it is done', () => {
    const { meter, told, wait } = setUp();
    meter.expectLater(10_000, 1000);
    meter.begin('exporting', 10_000, 0);
    // A first picture that took long says little about the following ones.
    wait(2000);
    meter.report(0.1);
    expect(told.at(-1)?.remainingSeconds).toBeLessThan(11);
    wait(14_000);
    meter.report(0.8);
    expect(told.at(-1)?.remainingSeconds).toBeGreaterThan(3);
  });

  it('sends at most four messages a second within one step', () => {
    const { meter, told, wait } = setUp();
    meter.begin('analyzing', 1, 0);
    for (let i = 1; i <= 100; i += 1) {
      wait(10);
      meter.report(i / 200);
    }
    expect(told.length).toBeLessThanOrEqual(5);
  });
});
