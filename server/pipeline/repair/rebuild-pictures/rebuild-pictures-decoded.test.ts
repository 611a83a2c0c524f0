import { describe, expect, it } from 'vitest';
import { seededRandom } from '#server/test/seeded-random.ts';
import { isBetterDecoded, isPlausible } from './rebuild-pictures-decoded.ts';
import { rawFormat, type RawFormat } from './rebuild-pictures-raw.ts';

const WIDTH = 64;
const HEIGHT = 48;

function format(): RawFormat {
  const found = rawFormat('yuv420p', WIDTH, HEIGHT);
  if (!found) throw new Error('This format can be rebuilt.');
  return found;
}

/** A slope from left to right, moved by `shift` pixels, with noise of a given strength. */
function scene(shift: number, noise: number, seed: number): Uint8Array {
  const random = seededRandom(seed);
  const picture = new Uint8Array(format().pictureBytes).fill(128);
  for (let y = 0; y < HEIGHT; y += 1) {
    for (let x = 0; x < WIDTH; x += 1) {
      const value = 120 + 60 * Math.sin((x + shift) / 5) + (random() - 0.5) * noise;
      picture[y * WIDTH + x] = Math.round(Math.max(0, Math.min(255, value)));
    }
  }
  return picture;
}

/** The lower half smeared over by one level, as lost data leave it. */
function smeared(picture: Uint8Array): Uint8Array {
  return picture.map((value, at) => (at >= (WIDTH * HEIGHT) / 2 && at < WIDTH * HEIGHT ? 20 : value));
}

describe('isBetterDecoded', () => {
  it('keeps decoded pictures where the scene moves on, smeared or not', () => {
    const [before, after] = [scene(0, 4, 1), scene(14, 4, 2)];
    expect(isBetterDecoded(before, after, scene(13, 4, 3), format())).toBe(true);
    expect(isBetterDecoded(before, after, smeared(scene(13, 4, 3)), format())).toBe(true);
  });

  it('holds the last whole picture of a still shot when what was decoded ends in a smear', () => {
    const [before, after] = [scene(0, 4, 1), scene(0, 4, 2)];
    expect(isBetterDecoded(before, after, smeared(scene(0, 4, 3)), format())).toBe(false);
    expect(isBetterDecoded(before, after, scene(0, 4, 3), format())).toBe(true);
  });
});

describe('isPlausible', () => {
  const judged = { method: 'blend', motionDb: 20, mixedDb: 20, blendDb: 30, holdDb: 20, trials: 2 } as const;

  it('takes a decoded picture that lies no further from the rebuilt one than true pictures do', () => {
    expect(isPlausible(scene(0, 0, 1), scene(0, 20, 2), judged, format())).toBe(true);
  });

  it('refuses a smeared picture, and any where nothing true was predicted', () => {
    expect(isPlausible(smeared(scene(0, 0, 1)), scene(0, 20, 2), judged, format())).toBe(false);
    const unjudged = { ...judged, blendDb: null, trials: 0 };
    expect(isPlausible(scene(0, 0, 1), scene(0, 0, 1), unjudged, format())).toBe(false);
  });
});
