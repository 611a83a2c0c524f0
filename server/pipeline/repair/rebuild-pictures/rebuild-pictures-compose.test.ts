import { describe, expect, it } from 'vitest';
import { takePlausibleTop } from './rebuild-pictures-compose.ts';
import type { MethodJudgement } from './rebuild-pictures-judge.ts';
import { rawFormat } from './rebuild-pictures-raw.ts';

const WIDTH = 64;
const HEIGHT = 160;
const format = rawFormat('yuv420p', WIDTH, HEIGHT);
if (!format) throw new Error('yuv420p is known');
/** The method missed true pictures by 8 levels. */
const judgement: MethodJudgement = {
  method: 'motion',
  motionDb: 10 * Math.log10(255 ** 2 / 64),
  mixedDb: 20,
  blendDb: 20,
  holdDb: 20,
  trials: 1,
};
const picture = (luma: (y: number) => number, chroma = 128) => {
  const bytes = new Uint8Array(format.pictureBytes).fill(chroma);
  for (let y = 0; y < HEIGHT; y += 1) bytes.fill(luma(y), y * WIDTH, (y + 1) * WIDTH);
  return bytes;
};
const sides = [picture(() => 90), picture(() => 130)] as const;
const lumaAt = (bytes: Uint8Array, y: number) => bytes[y * WIDTH];

describe('takePlausibleTop', () => {
  it('takes the rows in front of a fault from the damaged picture and none behind it', () => {
    const decoded = picture((y) => (y < 96 ? 104 : 220), 140);
    const rebuilt = picture(() => 110);
    const rows = takePlausibleTop(decoded, rebuilt, sides, judgement, format);
    expect(rows).toBeGreaterThanOrEqual(48);
    expect(rows).toBeLessThanOrEqual(96);
    expect(lumaAt(rebuilt, 0)).toBe(104);
    expect(lumaAt(rebuilt, rows)).toBe(110);
    expect(lumaAt(rebuilt, 100)).toBe(110);
    const chromaAt = WIDTH * HEIGHT;
    expect(rebuilt[chromaAt]).toBe(140);
    expect(rebuilt[chromaAt + (rows / 2) * (WIDTH / 2)]).toBe(128);
  });

  it('takes all of a picture that differs by no more than the method misses', () => {
    const rebuilt = picture(() => 110);
    expect(
      takePlausibleTop(
        picture(() => 113),
        rebuilt,
        sides,
        judgement,
        format,
      ),
    ).toBe(HEIGHT);
    expect(lumaAt(rebuilt, HEIGHT - 1)).toBe(113);
  });

  it('takes nothing of a picture that is wrong from its top on', () => {
    const rebuilt = picture(() => 110);
    expect(
      takePlausibleTop(
        picture(() => 200),
        rebuilt,
        sides,
        judgement,
        format,
      ),
    ).toBe(0);
    expect(lumaAt(rebuilt, 0)).toBe(110);
  });

  it('takes nothing where no true picture told how far the method misses', () => {
    const untried = { ...judgement, motionDb: null, trials: 0 };
    const rebuilt = picture(() => 110);
    expect(
      takePlausibleTop(
        picture(() => 110),
        rebuilt,
        sides,
        untried,
        format,
      ),
    ).toBe(0);
  });
});
