import { describe, expect, it } from 'vitest';
import { frameSeries } from '#server/test/frame-series.ts';
import { findNoticed, type NoticedClip } from './find-noticed.ts';

const FPS = 25;
/** Pictures of even motion, some with another change. */
const moving = (changes: Readonly<Record<number, number>>, count = 100): number[] =>
  Array.from({ length: count }, (_, at) => (at === 0 ? 0 : (changes[at] ?? 8 + (at % 3))));

function clipOf(moves: readonly number[], change: Partial<NoticedClip> = {}): NoticedClip {
  const timesMs = moves.map((_, at) => (at * 1000) / FPS);
  return { series: frameSeries(moves), cuts: [], timesMs, fps: FPS, isSound: () => true, ...change };
}
const msOf = (picture: number) => (picture * 1000) / FPS;

describe('what somebody noticed', () => {
  it('is a run that still changes by a third of the motion, which no detector would take for repeats', () => {
    const clip = clipOf(moving({ 40: 3, 41: 3, 42: 3 }));
    const found = findNoticed(clip, { kind: 'freeze', atMs: msOf(52) });
    expect(found).toMatchObject({ first: 40, last: 42, count: 3 });
    expect(found?.ratio).toBeCloseTo(1 / 3, 1);
  });

  it('is the longer and stiller run of two at the same distance', () => {
    const clip = clipOf(moving({ 40: 4, 44: 0.2, 45: 0.2 }));
    expect(findNoticed(clip, { kind: 'freeze', atMs: msOf(50) })).toMatchObject({ first: 44, last: 45 });
  });

  it('is not what comes long before the mark, or behind it', () => {
    const clip = clipOf(moving({ 20: 0.2, 21: 0.2, 70: 0.2, 71: 0.2 }));
    expect(findNoticed(clip, { kind: 'freeze', atMs: msOf(56) })).toBeNull();
    expect(findNoticed(clip, { kind: 'freeze', atMs: msOf(30) })).toMatchObject({ first: 20 });
    expect(findNoticed(clip, { kind: 'freeze', atMs: msOf(67) })).toMatchObject({ first: 70 });
  });

  it('is no freeze where nothing moves, nor a rest longer than any stutter', () => {
    const still = clipOf(Array.from({ length: 100 }, () => 0.2));
    expect(findNoticed(still, { kind: 'freeze', atMs: msOf(50) })).toBeNull();
    const rest = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [40 + i, 0.1]));
    expect(findNoticed(clipOf(moving(rest, 140)), { kind: 'freeze', atMs: msOf(60) })).toBeNull();
  });

  it('leaves out slow motion beside a run', () => {
    const clip = clipOf(moving({ 38: 3.5, 39: 0.3, 40: 0.3, 41: 0.3, 42: 3.5 }));
    expect(findNoticed(clip, { kind: 'freeze', atMs: msOf(50) })).toMatchObject({ first: 39, last: 41 });
  });

  it('is a step of half as much again as those around it', () => {
    const clip = clipOf(moving({ 40: 15 }));
    expect(findNoticed(clip, { kind: 'jump', atMs: msOf(50) })).toMatchObject({ first: 40, last: 40 });
    expect(findNoticed(clipOf(moving({})), { kind: 'jump', atMs: msOf(50) })).toBeNull();
  });

  it('is no cut, no flash and nothing damaged', () => {
    const moves = moving({ 40: 60 });
    const at = { kind: 'jump', atMs: msOf(50) } as const;
    expect(findNoticed(clipOf(moves), at)).toMatchObject({ first: 40 });
    expect(findNoticed(clipOf(moves, { cuts: [40] }), at)).toBeNull();
    expect(findNoticed(clipOf(moves, { isSound: (picture) => picture !== 40 }), at)).toBeNull();
    const histogramDiff = moves.map((_, picture) => (picture === 40 ? 0.3 : 0.001));
    expect(findNoticed(clipOf(moves, { series: frameSeries(moves, { histogramDiff }) }), at)).toBeNull();
  });
});
