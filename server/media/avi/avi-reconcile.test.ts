import { describe, expect, it } from 'vitest';
import type { AviEntry } from './avi-index.ts';
import { reconcile } from './avi-reconcile.ts';

/** Twenty pictures of rising sizes with an empty piece of sound behind each, as some writers put it. */
const entries: AviEntry[] = [];
for (let [at, number] = [100, 0]; number < 20; number += 1) {
  const sizeBytes = 50 + 2 * number;
  entries.push({ name: '00dc', at, sizeBytes, flags: number === 0 ? 16 : 0 });
  entries.push({ name: '01wb', at: at + 8 + sizeBytes, sizeBytes: 0, flags: 16 });
  at += 16 + sizeBytes;
}
const whole = entries.map(({ name, at, sizeBytes }) => ({ name, at, sizeBytes }));
const END = 100 + 20 * 16 + 20 * 50 + 2 * 190;

describe('reconcile', () => {
  it('finds everything in an intact file where the index puts it', () => {
    const pieces = reconcile(entries, whole, END);
    expect(pieces.map(({ state }) => state)).toEqual(entries.map(() => 'whole'));
    expect(pieces.map(({ from }) => from)).toEqual(entries.map(({ at }) => at + 8));
  });

  it('leaves chunks whose headers are overwritten in their places', () => {
    const pieces = reconcile(entries, whole.toSpliced(10, 3), END);
    expect(pieces.flatMap(({ state }, line) => (state === 'whole' ? [] : [line]))).toEqual([10, 11, 12]);
    expect(pieces[10]).toMatchObject({ state: 'headless', from: (entries[10]?.at ?? 0) + 8, flags: 0 });
    expect(pieces[10]?.end).toBe((entries[10]?.at ?? 0) + 8 + 60);
  });

  it('assumes no moves when all chunks have one size, as pictures of DV and raw sound do', () => {
    const even = Array.from({ length: 40 }, (_, number) => {
      const isSound = number % 2 === 1;
      const place = 100 + (number >> 1) * 216 + (isSound ? 108 : 0);
      return { name: isSound ? '01wb' : '00dc', at: place, sizeBytes: 100, flags: 16 };
    });
    const pieces = reconcile(even, even.toSpliced(20, 1), 100 + 20 * 216);
    expect(pieces.map(({ state }) => state)).toEqual(
      even.map((_, line) => (line === 20 ? 'headless' : 'whole')),
    );
  });

  it('follows the other chunks when bytes are missing, though empty chunks look the same everywhere', () => {
    const lost = 100;
    const moved = whole.flatMap((chunk, line) => {
      if (line > 10 && line < 14) return [];
      return [{ ...chunk, at: chunk.at - (line < 14 ? 0 : lost) }];
    });
    const pieces = reconcile(entries, moved, END - lost);
    expect(pieces.map(({ state }, line) => (state === 'whole' ? null : [line, state]))).toEqual(
      entries.map((_, line) => (line === 10 ? [10, 'cut'] : line > 10 && line < 14 ? [line, 'gone'] : null)),
    );
    expect(pieces[10]).toMatchObject({ from: (moved[10]?.at ?? 0) + 8, end: moved[11]?.at });
    expect(pieces[14]?.from).toBe((entries[14]?.at ?? 0) - lost + 8);
  });
});
