import { describe, expect, it } from 'vitest';
import { entityTag, matchesAny, parseRange, rangeApplies } from './byte-range.ts';

const part = (start: number, end: number) => ({ kind: 'part', range: { start, end } });

describe('parseRange', () => {
  it.each([
    ['bytes=0-0', part(0, 0)],
    ['bytes=0-1', part(0, 1)],
    ['bytes=0-', part(0, 999)],
    ['bytes=-1', part(999, 999)],
    ['bytes=-5000', part(0, 999)],
    ['bytes=990-5000', part(990, 999)],
    ['bytes=999-', part(999, 999)],
    ['bytes=1000-', { kind: 'unsatisfiable' }],
    ['bytes=99999999999-', { kind: 'unsatisfiable' }],
    ['bytes=-0', { kind: 'unsatisfiable' }],
    ['bytes=5-2', { kind: 'whole' }],
    ['bytes=0-0,2-2', { kind: 'whole' }],
    ['bytes=a', { kind: 'whole' }],
    ['bytes=-', { kind: 'whole' }],
    ['items=0-1', { kind: 'whole' }],
    [undefined, { kind: 'whole' }],
  ])('parses %s', (header, expected) => {
    expect(parseRange(header, 1000)).toEqual(expected);
  });

  it('parses a very long list in linear time', () => {
    // Quadratic work would take hours here.
    expect(parseRange(`bytes=${'0-0,'.repeat(1_000_000)}0-0`, 1000)).toEqual({ kind: 'whole' });
  });
});

describe('conditions', () => {
  const tag = entityTag('ab'.repeat(32));

  it('gives parts only while the content is still the one that the client started with', () => {
    expect(rangeApplies(undefined, tag)).toBe(true);
    expect(rangeApplies(tag, tag)).toBe(true);
    expect(rangeApplies('"older"', tag)).toBe(false);
    expect(rangeApplies(`W/${tag}`, tag)).toBe(false);
    expect(rangeApplies('Wed, 21 Oct 2026 07:28:00 GMT', tag)).toBe(false);
  });

  it('recognises a cached answer', () => {
    expect(matchesAny(`"x", W/${tag}`, tag)).toBe(true);
    expect(matchesAny('*', tag)).toBe(true);
    expect(matchesAny('"x"', tag)).toBe(false);
    expect(matchesAny(undefined, tag)).toBe(false);
  });
});
