import { describe, expect, it } from 'vitest';
import type { PictureFigures } from './clip-series.ts';
import { findScenes } from './find-scenes.ts';
import { createPictureMeter, LOOK_BYTES } from './measure-pictures.ts';

const CALM: PictureFigures = { luma: 100, contrast: 40, saturation: 0.2, change: 2, colourChange: 0.03 };
const CUT: PictureFigures = { ...CALM, change: 45, colourChange: 0.7 };

/** Samples at five a second, with a cut at each of the given samples. */
function looks(count: number, cuts: readonly number[], usual: PictureFigures = CALM): PictureFigures[] {
  return Array.from({ length: count }, (_, i) => (cuts.includes(i) ? CUT : usual));
}

describe('findScenes', () => {
  it('splits a clip at its cuts and covers it from start to end', () => {
    expect(findScenes(looks(60, [15, 40]), 12_000)).toEqual([
      { startMs: 0, endMs: 3000 },
      { startMs: 3000, endMs: 8000 },
      { startMs: 8000, endMs: 12_000 },
    ]);
  });

  it('is one scene without a cut, and none without a picture', () => {
    expect(findScenes(looks(60, []), 12_000)).toEqual([{ startMs: 0, endMs: 12_000 }]);
    expect(findScenes([], 12_000)).toEqual([]);
  });

  it('does not mistake lively movement for cuts', () => {
    const lively = { ...CALM, change: 30, colourChange: 0.4 };
    expect(findScenes(looks(60, [], lively), 12_000)).toHaveLength(1);
  });

  it('splits two similar pictures only where everything around is calm', () => {
    const alike = { ...CALM, change: 15, colourChange: 0.16 };
    const among = (usual: PictureFigures) => Array.from({ length: 60 }, (_, i) => (i === 30 ? alike : usual));
    expect(findScenes(among({ ...CALM, change: 1, colourChange: 0.01 }), 12_000)).toHaveLength(2);
    expect(findScenes(among(CALM), 12_000)).toHaveLength(1);
  });

  it('does not mistake a flash for two scenes', () => {
    expect(findScenes(looks(60, [20, 21]), 12_000)).toHaveLength(2);
  });
});

describe('createPictureMeter', () => {
  const plain = (r: number, g: number, b: number) =>
    Uint8Array.from({ length: LOOK_BYTES }, (_, i) => [r, g, b][i % 3] ?? 0);

  it('measures light, colour and change', () => {
    const measure = createPictureMeter();
    expect(measure(plain(0, 0, 0))).toEqual({
      luma: 0,
      contrast: 0,
      saturation: 0,
      change: 0,
      colourChange: 0,
    });
    const red = measure(plain(200, 0, 0));
    expect(red.luma).toBeCloseTo(59.8);
    expect(red.saturation).toBeCloseTo(1);
    expect(red.change).toBeCloseTo(59.8);
    expect(red.colourChange).toBeCloseTo(1);
    expect(measure(plain(200, 0, 0))).toMatchObject({ change: expect.closeTo(0), colourChange: 0 });
  });

  it('measures the contrast of a picture with two halves', () => {
    const halves = Uint8Array.from({ length: LOOK_BYTES }, (_, i) => (i < LOOK_BYTES / 2 ? 0 : 200));
    expect(createPictureMeter()(halves).contrast).toBeCloseTo(100);
  });
});
