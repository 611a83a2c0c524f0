import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SILENT_AT_END_MS, SILENT_MS, watchLine } from './watch-line.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('watchLine', () => {
  it('gives up on a connection on which nothing moves, but not on one that is only slow', () => {
    const lost = vi.fn();
    const line = watchLine(lost, () => undefined);
    for (let i = 0; i < 5; i += 1) {
      vi.advanceTimersByTime(SILENT_MS - 1);
      line.heard(false);
    }
    expect(lost).not.toHaveBeenCalled();
    vi.advanceTimersByTime(SILENT_MS);
    expect(lost).toHaveBeenCalledOnce();
    line.stop();
  });

  it('gives the server time to check what has arrived', () => {
    const lost = vi.fn();
    const line = watchLine(lost, () => undefined);
    line.heard(true);
    vi.advanceTimersByTime(SILENT_AT_END_MS - 1);
    expect(lost).not.toHaveBeenCalled();
    line.stop();
    vi.advanceTimersByTime(SILENT_AT_END_MS);
    expect(lost).not.toHaveBeenCalled();
  });
});
