import { describe, expect, it } from 'vitest';
import { seededRandom } from '#server/test/seeded-random.ts';
import { jumpCoherence } from './grey-coherence.ts';
import { createGreyKernel } from './grey-kernel.ts';
import { createGreySeries } from './grey-series.ts';

const SIZE = { width: 160, height: 88 };

/** Soft blobs of all sizes on an endless plane, seen from a place. */
function scene(seed: number, left: number, top: number): Uint8Array {
  const random = seededRandom(seed);
  const waves = Array.from({ length: 24 }, () => {
    return { x: (random() - 0.5) * 0.8, y: (random() - 0.5) * 0.8, phase: random() * 6.28 };
  });
  return Uint8Array.from({ length: SIZE.width * SIZE.height }, (_, at) => {
    const [x, y] = [(at % SIZE.width) + left, Math.floor(at / SIZE.width) + top];
    const sum = waves.reduce((all, wave) => all + Math.sin(wave.x * x + wave.y * y + wave.phase), 0);
    return Math.max(0, Math.min(255, Math.round(128 + 18 * sum)));
  });
}

function coherenceOf(before: Uint8Array, after: Uint8Array): number | null {
  const kernel = createGreyKernel(SIZE, 2);
  kernel.picture(0).set(before);
  kernel.picture(1).set(after);
  return jumpCoherence(kernel, 0, 1);
}

describe('jumpCoherence', () => {
  it('is high when a shot moved far, low between two shots, and undefined for pictures without texture', () => {
    expect(coherenceOf(scene(1, 0, 0), scene(1, 17, 9))).toBeGreaterThan(0.8);
    expect(coherenceOf(scene(1, 0, 0), scene(2, 0, 0))).toBeLessThan(0.2);
    expect(coherenceOf(scene(1, 0, 0).fill(90), scene(1, 0, 0).fill(160))).toBeNull();
  });

  it('is measured only for a far step after still pictures', () => {
    const still = [scene(1, 0, 0), scene(1, 0, 0), scene(1, 0, 0)];
    const steps = (pictures: readonly Uint8Array[]) => {
      const builder = createGreySeries(SIZE);
      for (const picture of pictures) builder.add(picture);
      return [...builder.finish().coherence.keys()];
    };
    const bright = scene(2, 0, 0).map((level) => Math.min(255, level + 40));
    expect(steps([...still, bright, bright])).toEqual([3]);
    expect(steps([scene(1, 0, 0), scene(1, 9, 0), bright, bright])).toEqual([]);
  });
});
