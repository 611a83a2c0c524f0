import { describe, expect, it } from 'vitest';
import { clockedKeys } from './clocked-keys.ts';

/** Those of these key pictures that come on the encoder's clock, in a clip of 300 pictures. */
const clocked = (keys: readonly number[]) => {
  const pictures = Array.from({ length: 300 }, (_, at) => at);
  return [...clockedKeys({ keyframe: pictures.map((at) => keys.includes(at)) }, pictures)];
};

describe('clockedKeys', () => {
  it('finds key pictures that come when the count of the encoder is full', () => {
    expect(clocked([0, 30, 60, 90])).toEqual([30, 60, 90]);
    // It counts anew from one that a cut brought.
    expect(clocked([0, 30, 47, 77, 107])).toEqual([30, 77, 107]);
  });

  it('leaves out one that comes too soon, as behind lost pictures', () => {
    expect(clocked([0, 30, 58, 88])).toEqual([30, 88]);
  });

  it('finds none without a clock, and where every few pictures are keys', () => {
    expect(clocked([0])).toEqual([]);
    expect(clocked([0, 250])).toEqual([]);
    expect(clocked([0, 18, 50, 76, 137])).toEqual([]);
    expect(clocked([0, 10, 20, 30, 40])).toEqual([]);
  });

  it('counts decoded pictures, not displayed ones', () => {
    const keyframe = Array.from({ length: 100 }, (_, at) => at % 40 === 10);
    const frameOfDecoded = Array.from({ length: 90 }, (_, at) => at + 10);
    expect([...clockedKeys({ keyframe }, frameOfDecoded)]).toEqual([40, 80]);
  });
});
