import { describe, expect, it } from 'vitest';
import { firstRefused, type AskedPicture } from './check-vp9.ts';

/**
 * K: key picture; p: other picture; X and x: the same, refused by libvpx; t: known to be damaged, refused by both
 * decoders.
 */
const asked = (letters: string): AskedPicture[] =>
  [...letters].map((letter) => ({
    keyframe: letter === 'K' || letter === 'X',
    isTold: letter === 't',
    isRefused: letter === 'X' || letter === 'x',
  }));

describe('firstRefused', () => {
  it.each([
    ['KppppKpppp', []],
    // After the first refused picture, the decoder waits for a key picture.
    ['KppxxxKppp', [3]],
    ['KpxxXxxxKp', [2, 4]],
    ['KpptxxKpxx', [8]],
    ['xxxxKppppp', [0]],
  ])('names in %s the pictures %j', (letters, places) => {
    expect(firstRefused(asked(letters))).toEqual(places);
  });
});
