import { describe, expect, it } from 'vitest';
import { mixWithDecoded } from './rebuild-pictures-compose.ts';
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
const sides = { before: picture(() => 70), after: picture(() => 130) };
const lumaAt = (bytes: Uint8Array, y: number, x = 0) => bytes[y * WIDTH + x] ?? 0;
const mixed = (decoded: Uint8Array, rebuilt: Uint8Array, judged = judgement) => ({
  share: mixWithDecoded(decoded, rebuilt, sides, judged, format),
  rebuilt,
});

describe('mixWithDecoded', () => {
  it('keeps the rows before a fault unchanged and almost nothing that is implausible', () => {
    const decoded = picture((y) => (y < 96 ? 104 : 220), 140);
    const { rebuilt, share } = mixed(
      decoded,
      picture(() => 110),
    );
    for (const y of [0, 20, 47]) expect(lumaAt(rebuilt, y)).toBe(104);
    for (const y of [100, 130, HEIGHT - 1]) expect(Math.abs(lumaAt(rebuilt, y) - 110)).toBeLessThan(2);
    expect(share).toBeGreaterThan(0.3);
    expect(share).toBeLessThan(0.6);
    expect(rebuilt[WIDTH * HEIGHT]).toBe(140);
    expect(rebuilt[WIDTH * HEIGHT + 65 * (WIDTH / 2)]).toBe(128);
  });

  it('keeps what the data say was read, however far it is from the neighbours, but no more of the rest because of that', () => {
    const rebuilt = picture(() => 110);
    const decoded = picture((y) => (y < 32 || (y >= 96 && y < 128) ? 220 : 240));
    const torn = { doubtedFrom: 2 * (WIDTH / 16), end: 8 * (WIDTH / 16) };
    const share = mixWithDecoded(decoded, rebuilt, sides, judgement, format, torn);
    for (const y of [0, 31]) expect(lumaAt(rebuilt, y)).toBe(220);
    for (const y of [128, HEIGHT - 1]) expect(lumaAt(rebuilt, y)).toBe(240);
    for (const y of [33, 80, 127]) expect(Math.abs(lumaAt(rebuilt, y) - 110)).toBeLessThan(12);
    expect(share).toBeGreaterThan(0.39);
    expect(share).toBeLessThan(0.5);
  });

  it('keeps what the data say was read when no method was tried', () => {
    const untried = { ...judgement, motionDb: null, mixedDb: null, blendDb: null, holdDb: null, trials: 0 };
    const rebuilt = picture(() => 110);
    const decoded = picture(() => 220);
    expect(mixWithDecoded(decoded, rebuilt, sides, untried, format)).toBe(0);
    const torn = { doubtedFrom: 4 * (WIDTH / 16), end: 10 * (WIDTH / 16) };
    expect(mixWithDecoded(decoded, rebuilt, sides, untried, format, torn)).toBeCloseTo(0.4);
    expect([lumaAt(rebuilt, 63), lumaAt(rebuilt, 64)]).toEqual([220, 110]);
  });

  it('keeps all of a picture that differs by no more than the error of the method', () => {
    const { rebuilt, share } = mixed(
      picture(() => 113),
      picture(() => 110),
    );
    expect(share).toBe(1);
    expect(lumaAt(rebuilt, HEIGHT - 1)).toBe(113);
  });

  it('keeps most of plausible blocks after a fault too, and a part of those that may be true', () => {
    const decoded = picture((y) => (y < 48 ? 220 : y < 112 ? 118 : 126));
    const { rebuilt } = mixed(
      decoded,
      picture(() => 110),
    );
    expect(Math.abs(lumaAt(rebuilt, 0) - 110)).toBeLessThan(2);
    expect(lumaAt(rebuilt, 90)).toBeGreaterThan(112);
    expect(lumaAt(rebuilt, 90)).toBeLessThanOrEqual(118);
    expect(lumaAt(rebuilt, HEIGHT - 1)).toBeGreaterThan(110);
    expect(lumaAt(rebuilt, HEIGHT - 1)).toBeLessThan(118);
  });

  it('does not keep remains of the picture before when the neighbours show that it moved', () => {
    const spoilt = (luma: number) => picture((y) => (y < 48 ? 220 : y < 112 ? 104 : luma));
    // Equally far from the rebuilt picture on both sides; only one of them is like the picture before.
    const held = mixed(
      spoilt(70),
      picture(() => 100),
    );
    const other = mixed(
      spoilt(130),
      picture(() => 100),
    );
    expect(Math.abs(lumaAt(held.rebuilt, HEIGHT - 1) - 100)).toBeLessThan(1);
    expect(Math.abs(lumaAt(other.rebuilt, HEIGHT - 1) - 100)).toBeGreaterThan(0);
  });

  it('judges adjacent blocks separately, also those that the edges of the picture cut', () => {
    const odd = rawFormat('yuv420p', 200, 90);
    if (!odd) throw new Error('yuv420p is known');
    const flat = (luma: number) => new Uint8Array(odd.pictureBytes).fill(luma);
    const decoded = flat(118);
    for (let y = 0; y < 90; y += 1) decoded.fill(230, y * 200 + 120, (y + 1) * 200);
    const rebuilt = flat(110);
    mixWithDecoded(decoded, rebuilt, { before: flat(70), after: flat(130) }, judgement, odd);
    expect(rebuilt[89 * 200]).toBeGreaterThan(112);
    expect(rebuilt[89 * 200 + 80]).toBeGreaterThan(112);
    expect(Math.abs((rebuilt[89 * 200 + 199] ?? 0) - 110)).toBeLessThan(2);
  });

  it('keeps nothing when no true picture shows the error of the method', () => {
    const untried = { ...judgement, motionDb: null, trials: 0 };
    const { rebuilt, share } = mixed(
      picture(() => 113),
      picture(() => 110),
      untried,
    );
    expect(share).toBe(0);
    expect(lumaAt(rebuilt, 0)).toBe(110);
  });
});
