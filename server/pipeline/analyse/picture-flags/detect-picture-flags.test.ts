import { describe, expect, it } from 'vitest';
import { LOOK_STEP, type FrameSeries } from '#server/media/grey/grey-series.ts';
import { frameSeries } from '#server/test/frame-series.ts';
import { ACT_CONFIDENCE } from '../analysis.ts';
import { detectPictureFlags } from './detect-picture-flags.ts';

const FPS = 30;
const COUNT = 300;
const each = (value: (i: number) => number) => Array.from({ length: COUNT }, (_, i) => value(i));
const within = (first: number, last: number) => (i: number) => i >= first && i <= last;

/** Ten seconds, sharp and well lit except as stated. */
function series(
  other: Partial<FrameSeries>,
  look: (i: number) => { softness?: number | null; flatShare?: number } = () => ({}),
): FrameSeries {
  const at = Array.from({ length: COUNT / LOOK_STEP }, (_, i) => i * LOOK_STEP);
  const looks = new Map(at.map((i) => [i, { softness: 0.36, flatShare: 0.1, ...look(i) }] as const));
  return frameSeries(
    each(() => 4),
    { ...other, looks },
  );
}

function flags(one: FrameSeries, cuts: number[] = []) {
  return detectPictureFlags(one, cuts, FPS).map(({ kind, first, last }) => [kind, first, last]);
}

describe('a lack of focus', () => {
  const soft = within(90, 179);

  it('is flagged within a shot, up to the next examined picture', () => {
    expect(flags(series({}, (i) => ({ softness: soft(i) ? 0.63 : 0.36 })))).toEqual([
      ['blurry_section', 90, 179],
    ]);
  });

  it('is flagged with enough confidence to be acted on, even at the limit', () => {
    const [found] = detectPictureFlags(
      series({}, (i) => ({ softness: soft(i) ? 0.61 : 0.36 })),
      [],
      FPS,
    );
    expect(found?.confidence).toBeGreaterThanOrEqual(ACT_CONFIDENCE);
  });

  it('is flagged for a whole clip without anything sharp to compare', () => {
    expect(flags(series({}, () => ({ softness: 0.7 })))).toEqual([['blurry_section', 0, 299]]);
    expect(flags(series({}, () => ({ softness: 0.62 })))).toEqual([]);
  });

  it('is one stretch across cuts', () => {
    expect(
      flags(
        series({}, (i) => ({ softness: soft(i) ? 0.7 : 0.36 })),
        [132],
      ),
    ).toEqual([['blurry_section', 90, 179]]);
  });

  it.each([
    ['of less than a second', (i: number) => ({ softness: within(90, 107)(i) ? 0.8 : 0.36 })],
    ['in drawings', (i: number) => ({ softness: soft(i) ? 0.8 : 0.36, flatShare: 0.9 })],
    ['where nothing is drawn', (i: number) => ({ softness: soft(i) ? null : 0.36 })],
  ])('is not flagged %s', (_, look) => {
    expect(flags(series({}, look))).toEqual([]);
  });
});

describe('a lack of light', () => {
  const dark = each((i) => (within(120, 209)(i) ? 70 : 215));

  it('is flagged within a shot, with the figure it is judged by', () => {
    const found = detectPictureFlags(series({ brightest: dark }), [], FPS);
    expect(found).toMatchObject([
      { kind: 'poor_lighting', first: 120, last: 209, value: 70, threshold: 100 },
    ]);
  });

  it('is flagged where a filmed picture is a single grey', () => {
    const lumaP90 = each((i) => (within(120, 209)(i) ? 60 : 200));
    expect(flags(series({ brightest: dark, lumaP90 }, () => ({ flatShare: 0.6 })))).toEqual([
      ['poor_lighting', 120, 209],
    ]);
  });

  it('is not a fade to black nor a screen with a dark theme', () => {
    expect(flags(series({ brightest: each((i) => (within(120, 209)(i) ? 10 : 215)) }))).toEqual([]);
    const lumaP90 = each((i) => (within(120, 209)(i) ? 30 : 200));
    expect(flags(series({ brightest: dark, lumaP90 }, () => ({ flatShare: 0.6 })))).toEqual([]);
  });
});

describe('a shaking camera', () => {
  const shaken = (from: number, to: number) => ({
    motionX: each((i) => (within(from, to)(i) ? (i % 2 === 0 ? 2.4 : -2.4) : 0.1)),
    motionResidual: each(() => 0.2),
  });

  it('is flagged within a shot', () => {
    const [found] = flags(series(shaken(90, 179)));
    expect(found?.[0]).toBe('shaky_footage');
    expect(Math.abs(Number(found?.[1]) - 90)).toBeLessThan(8);
    expect(Math.abs(Number(found?.[2]) - 179)).toBeLessThan(8);
  });

  it('is not a jerk, nor a moving thing in front of a fixed camera, nor a drawing', () => {
    expect(flags(series(shaken(90, 110)))).toEqual([]);
    expect(flags(series({ ...shaken(90, 179), motionResidual: each(() => 0.9) }))).toEqual([]);
    expect(flags(series(shaken(90, 179), () => ({ flatShare: 0.9 })))).toEqual([]);
  });

  it('is flagged in a short shot that shakes from end to end', () => {
    expect(flags(series(shaken(100, 139)), [100, 140])).toEqual([['shaky_footage', 100, 139]]);
  });
});
