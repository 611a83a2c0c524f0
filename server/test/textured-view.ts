import type { GreySize } from '#server/media/grey/grey-frame.ts';
import { seededRandom } from './seeded-random.ts';

const WAVES = 24;
/** Amplitude of each wave around 128, grey levels. */
const WAVE_LEVELS = 12;

/**
 * A small grey picture: a smooth texture, the same in every call, seen through a window at (x, y).
 * @param x pixels, like `y`; fractions are as exact as whole numbers
 */
export function texturedView({ width, height }: GreySize, x: number, y: number): Uint8Array {
  const random = seededRandom(7);
  const levels = new Float64Array(width * height).fill(128);
  for (let wave = 0; wave < WAVES; wave += 1) {
    const [u, v, phase] = [(random() - 0.5) * 0.8, (random() - 0.5) * 0.8, random() * 6.28];
    const columns = Array.from({ length: width }, (_, i) => u * (i + x) + phase);
    const rows = Array.from({ length: height }, (_, i) => v * (i + y));
    const [sines, cosines] = [columns.map(Math.sin), columns.map(Math.cos)];
    rows.forEach((row, at) => {
      const [cosine, sine] = [WAVE_LEVELS * Math.cos(row), WAVE_LEVELS * Math.sin(row)];
      for (let i = 0; i < width; i += 1) {
        levels[at * width + i] =
          (levels[at * width + i] ?? 0) + (sines[i] ?? 0) * cosine + (cosines[i] ?? 0) * sine;
      }
    });
  }
  return Uint8Array.from(levels, Math.round);
}
