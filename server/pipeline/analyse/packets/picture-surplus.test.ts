import { describe, expect, it } from 'vitest';
import {
  lengthsSpeakFor,
  lengthsSpeakForLosses,
  surplusByLengths,
  surplusForCopies,
  surplusForLosses,
  type StreamSpans,
} from './picture-surplus.ts';

const spans = (change: Partial<StreamSpans> = {}): StreamSpans => ({
  pictureStartMs: 0,
  pictureEndMs: 5000,
  soundStartMs: 0,
  soundEndMs: 5000,
  ...change,
});
/** How movies of fragments begin: the picture is delayed for reordering, and both streams end together. */
const LATE_PICTURE = spans({ pictureStartMs: 83, pictureEndMs: 5083, soundEndMs: 5083 });

describe('by how much the picture outlasts the sound', () => {
  it('is given by the ends when both begin together', () => {
    const longer = spans({ pictureEndMs: 5200 });
    expect([surplusByLengths(longer), surplusForCopies(longer, 200, 0)]).toEqual([200, 200]);
    expect(surplusForLosses(spans({ soundEndMs: 5100 }), 0)).toBe(-100);
    expect(surplusForLosses(spans({ soundEndMs: 5100 }), 200)).toBe(-300);
  });

  it('is given by the lengths for a sound that was moved as a whole, with copies or losses', () => {
    const late = spans({ soundStartMs: 300, soundEndMs: 5300 });
    expect(surplusForLosses(late, 0)).toBe(0);
    expect(surplusForCopies({ ...late, pictureEndMs: 5630 }, 630, 0)).toBe(630);
    expect(surplusForLosses({ ...late, pictureEndMs: 5630 }, 630)).toBe(0);
    const early = spans({ soundStartMs: -300, soundEndMs: 4700 });
    expect(surplusForLosses({ ...early, soundEndMs: 4780 }, 0)).toBe(-80);
  });

  it('leaves no room for lost pictures when a piece is missing at the start and both end together', () => {
    expect(surplusForLosses(LATE_PICTURE, 0)).toBe(0);
    expect(surplusForLosses({ ...LATE_PICTURE, pictureEndMs: 5250 }, 167)).toBe(0);
    expect(surplusForCopies(LATE_PICTURE, 167, 0)).toBe(0);
    expect(surplusForCopies({ ...LATE_PICTURE, pictureEndMs: 5250 }, 167, 0)).toBe(167);
  });

  it('assumes that a sound was moved if some of the copies explain what its length then lacks', () => {
    // Sound moved by 146 ms while 133 of 267 ms of copies were inserted: both end almost together.
    const moved = spans({ pictureEndMs: 5133, soundStartMs: 146, soundEndMs: 5146 });
    expect(surplusForCopies(moved, 267, 0)).toBe(-13);
    expect(surplusForCopies(moved, 267, 0, 133)).toBe(133);
  });

  it('takes the smaller room if neither reading fits', () => {
    expect(surplusForLosses({ ...LATE_PICTURE, pictureEndMs: 4983 }, 0)).toBe(-100);
  });

  it('counts silence before the sound only if the copies fit nothing else', () => {
    const silent = spans({ soundEndMs: 5300, pictureEndMs: 5600 });
    expect(surplusForCopies(silent, 600, 300)).toBe(600);
    expect(surplusForCopies(silent, 300, 300)).toBe(300);
    expect(surplusForCopies(silent, 600, 100)).toBe(300);
  });
});

describe('a change that the lengths support', () => {
  it('makes one stream at least half too long', () => {
    expect(lengthsSpeakFor(50, 100)).toBe(true);
    expect(lengthsSpeakFor(49, 100)).toBe(false);
    expect(lengthsSpeakFor(-100, 100)).toBe(false);
  });

  it('is any change without sound', () => {
    expect(lengthsSpeakFor(null, 1000)).toBe(true);
  });

  it('is not a lost picture if the last block of the sound explains half of it', () => {
    expect(lengthsSpeakForLosses(20, 33)).toBe(false);
    expect(lengthsSpeakForLosses(33, 33)).toBe(true);
    expect(lengthsSpeakForLosses(60, 133)).toBe(false);
    expect(lengthsSpeakForLosses(null, 33)).toBe(true);
  });
});
