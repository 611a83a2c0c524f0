import { describe, expect, it } from 'vitest';
import { bothAtOnce, shared, sideBySide } from './side-by-side.ts';

const untilTold = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('told to end')), { once: true });
  });

describe('shared', () => {
  it('splits what is worth it into two parts, and keeps the order', () => {
    expect(shared([1, 2, 3, 4, 5], 5)).toEqual([
      [1, 2, 3],
      [4, 5],
    ]);
    expect(shared([1, 2, 3], 4)).toEqual([[1, 2, 3]]);
  });
});

describe('sideBySide', () => {
  it('returns the results in the order of the tasks', async () => {
    let release = () => undefined;
    const first = new Promise<void>((resolve) => {
      release = () => void resolve();
    });
    const works = [() => first.then(() => 'a'), () => Promise.resolve('b').finally(() => release())];
    expect(await sideBySide(undefined, works)).toEqual(['a', 'b']);
  });

  it('ends the others when one fails, and throws its error', async () => {
    const ended: string[] = [];
    const other = (signal: AbortSignal) => untilTold(signal).finally(() => ended.push('other'));
    const failing = () => Promise.reject(new Error('the cause'));
    await expect(sideBySide(undefined, [other, failing])).rejects.toThrow('the cause');
    expect(ended).toEqual(['other']);
  });

  it('ends all when it is cancelled', async () => {
    const stop = new AbortController();
    const running = sideBySide(stop.signal, [untilTold, untilTold]);
    stop.abort();
    await expect(running).rejects.toThrow('told to end');
  });
});

describe('bothAtOnce', () => {
  it('returns what both made', async () => {
    const made = bothAtOnce(
      undefined,
      () => Promise.resolve('a'),
      () => Promise.resolve(2),
    );
    expect(await made).toEqual(['a', 2]);
  });

  it('ends the other when one fails, and throws its error', async () => {
    const ended: string[] = [];
    const other = (signal: AbortSignal) => untilTold(signal).finally(() => ended.push('other'));
    const failing = () => Promise.reject(new Error('the cause'));
    await expect(bothAtOnce(undefined, other, failing)).rejects.toThrow('the cause');
    expect(ended).toEqual(['other']);
  });
});
