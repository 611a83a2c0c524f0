import { act, renderHook } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { seededRandom } from '#server/test/seeded-random.ts';
import { useFixProgress } from './fix-progress.ts';

describe('useFixProgress', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });
  const pass = (ms: number) => act(() => vi.advanceTimersByTime(ms));
  const start = (random: () => number = Math.random) =>
    renderHook(({ measured, news }) => useFixProgress(measured, news, random), {
      initialProps: { measured: 10, news: 1 },
    });

  it('shows what the server measured while updates arrive', () => {
    const { result, rerender } = start();
    for (let news = 2; news <= 8; news += 1) {
      pass(4900);
      rerender({ measured: 10 * news, news });
      expect(result.current).toEqual({ percent: 10 * news, estimated: false });
    }
  });

  it('advances by 5 to 20 percent every 1 to 2 s after 5 s without updates, and stops at 95', () => {
    const draw = seededRandom(7);
    const { result } = start(draw);
    const seen: { atMs: number; percent: number }[] = [{ atMs: 5000, percent: 10 }];
    pass(4999);
    expect(result.current).toEqual({ percent: 10, estimated: false });
    for (let atMs = 5000; atMs < 40_000; atMs += 10) {
      pass(atMs === 5000 ? 1 : 10);
      const { percent } = result.current;
      if (percent !== seen.at(-1)?.percent) seen.push({ atMs, percent });
    }
    expect(seen.length).toBeGreaterThan(4);
    expect(result.current).toEqual({ percent: 95, estimated: true });
    for (const [at, { atMs, percent }] of seen.entries()) {
      const before = seen[at - 1];
      if (!before) continue;
      const step = percent - before.percent;
      expect(step).toBeLessThanOrEqual(20);
      if (percent < 95) expect(step).toBeGreaterThanOrEqual(5);
      if (at > 1) {
        expect(atMs - before.atMs).toBeGreaterThanOrEqual(990);
        expect(atMs - before.atMs).toBeLessThanOrEqual(2010);
      }
    }
  });

  it('never goes back when the server answers again, and reaches 100 only when the server says so', () => {
    const { result, rerender } = start(() => 1);
    pass(9000);
    const { percent } = result.current;
    expect(percent).toBeGreaterThan(40);
    rerender({ measured: 40, news: 2 });
    expect(result.current).toEqual({ percent, estimated: false });
    rerender({ measured: 100, news: 3 });
    expect(result.current).toEqual({ percent: 100, estimated: false });
  });
});
