import { describe, expect, it } from 'vitest';
import type { AacFrame } from '#server/media/aac/aac-frame.ts';
import { piecesAround } from './splice-pieces.ts';
import { atLongWindows, framesIn, seamsOf, widened } from './splice-seams.ts';

const KAISER = Buffer.from([0x80]);
const SINE = Buffer.from([0]);
const frame = (isLong: boolean, bytes = KAISER): AacFrame => ({
  bytes,
  beginsLong: isLong,
  endsLong: isLong,
  gainsAt: [],
  shapesAt: [0],
});
/** Frames, with short windows at these places. */
const framesWith = (count: number, short: readonly number[], bytes = KAISER) =>
  Array.from({ length: count }, (_, place) => frame(!short.includes(place), bytes));

describe('framesIn', () => {
  it('counts the frame before, which extends into the first block that changes', () => {
    expect(framesIn({ first: 1024, end: 3000 }, 0, 1024)).toEqual({ first: 0, end: 3 });
    expect(framesIn({ first: 5000, end: 6144 }, -1024, 1024)).toEqual({ first: 4, end: 7 });
  });
});

describe('the edges of a stretch', () => {
  it('stay when the windows beside them are long', () => {
    expect(atLongWindows(framesWith(100, []), { first: 30, end: 50 })).toEqual({ first: 30, end: 50 });
  });

  it('move outwards past short windows', () => {
    expect(atLongWindows(framesWith(100, [29, 51]), { first: 30, end: 50 })).toEqual({ first: 28, end: 53 });
  });

  it('are those of the sound when they come near them', () => {
    expect(atLongWindows(framesWith(100, []), { first: 4, end: 96 })).toEqual({ first: 0, end: 100 });
  });

  it('move to where new frames have long windows, or are omitted', () => {
    const frames = framesWith(100, []);
    const pieces = piecesAround([{ first: 40, end: 60 }]);
    expect(widened(frames, pieces, () => frame(true))).toBeNull();
    const short = (_: number, place: number) => frame(place < 38 || place > 62);
    expect(widened(frames, pieces, short)).toEqual([{ first: 37, end: 64 }]);
  });

  it('of stretches too close to each other are removed', () => {
    const pieces = piecesAround([
      { first: 40, end: 60 },
      { first: 70, end: 80 },
      { first: 200, end: 210 },
    ]);
    expect(pieces.map(({ lost }) => lost)).toEqual([
      { first: 40, end: 80 },
      { first: 200, end: 210 },
    ]);
  });
});

describe('seamsOf', () => {
  it('has the samples at both edges made for the windows of the kept frames', () => {
    const seams = seamsOf(framesWith(100, [], SINE), piecesAround([{ first: 40, end: 60 }]));
    expect([...seams]).toEqual([
      [40, { frame: 'begins', encoder: 'kaiser-bessel', decoder: 'sine' }],
      [60, { frame: 'ends', encoder: 'kaiser-bessel', decoder: 'sine' }],
    ]);
  });

  it('has none at the ends of the sound', () => {
    expect(seamsOf(framesWith(100, []), piecesAround([{ first: 0, end: 100 }])).size).toBe(0);
  });
});
