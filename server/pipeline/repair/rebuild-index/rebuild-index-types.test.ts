import { describe, expect, it } from 'vitest';
import { missingNotes } from './rebuild-index-types.ts';

describe('missingNotes', () => {
  const of = (samplesKept: number, samplesLoose: number) =>
    missingNotes({ samplesKept, samplesLoose, samplesTotal: 298 }, 'picture');

  it('distinguishes what the file does not contain from what is omitted from it', () => {
    expect(of(153, 2)).toEqual([
      '143 of 298 picture samples are not in the file.',
      '2 more are left out: they would be shown behind missing ones.',
    ]);
    expect(of(153, 1)[1]).toBe('1 more is left out: it would be shown behind a missing one.');
    expect(of(153, 0)).toEqual(['145 of 298 picture samples are not in the file.']);
  });

  it('says nothing about a complete track', () => {
    expect(of(298, 0)).toEqual([]);
  });
});
