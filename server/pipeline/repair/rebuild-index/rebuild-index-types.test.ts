import { describe, expect, it } from 'vitest';
import { cutOffNotes, missingNotes } from './rebuild-index-types.ts';

describe('missingNotes', () => {
  const of = (samplesKept: number, samplesLoose: number) =>
    missingNotes({ samplesKept, samplesLoose, samplesTotal: 298 }, 'frames');

  it('distinguishes what the file does not contain from what is omitted from it', () => {
    expect(of(153, 2)).toEqual([
      '143 of 298 frames are not in the file.',
      '2 more are left out: they would be shown behind missing ones.',
    ]);
    expect(of(153, 1)[1]).toBe('1 more is left out: it would be shown behind a missing one.');
    expect(of(153, 0)).toEqual(['145 of 298 frames are not in the file.']);
  });

  it('says nothing about a complete track', () => {
    expect(of(298, 0)).toEqual([]);
  });
});

describe('cutOffNotes', () => {
  it('says how much of picture and sound is gone for good', () => {
    expect(cutOffNotes({ pictureMs: 4137, soundMs: 4155 })).toEqual([
      'The file was cut off: the last 4.1 s of the picture and the last 4.2 s of the sound are not in it and cannot be brought back.',
    ]);
    expect(cutOffNotes({ pictureMs: 40, soundMs: 700 })[0]).toContain(
      'off: the last 0.7 s of the sound are not',
    );
  });

  it('says nothing where next to nothing is missing', () => {
    expect(cutOffNotes({ pictureMs: 66, soundMs: 23 })).toEqual([]);
  });
});
