import { describe, expect, it } from 'vitest';
import { plainInfo } from '#server/test/clip-facts.ts';
import type { PictureTimes } from '../analyse/analysis.ts';
import type { ChangedSpan } from '../repair/picture-edit.ts';
import { posterMs } from './poster-time.ts';

/** Twenty pictures of 40 ms, the first of them 80 ms after the zero of the stream. */
const pictures: PictureTimes = {
  timeBase: { num: 1, den: 1000 },
  ptsTicks: Array.from({ length: 20 }, (_, frame) => 80 + 40 * frame),
  keyframe: Array.from({ length: 20 }, (_, frame) => frame === 0),
  medianIntervalTicks: 40,
  variableByNature: false,
};
const chosen = { pictures, posterFrame: 10 };
const span: ChangedSpan = {
  firstFrame: 4,
  endFrame: 6,
  pictures: [],

  shiftAfterTicks: -80,
};

describe('posterMs', () => {
  it('is the time of the chosen picture, counted from the start of the clip', () => {
    expect(posterMs(chosen, [], plainInfo())).toBe(400);
    expect(posterMs(chosen, [], plainInfo({ start_time: '0.08' }))).toBe(480);
  });

  it('moves with the picture when earlier ones were removed', () => {
    expect(posterMs(chosen, [span], plainInfo())).toBe(320);
  });

  it('is the first picture when none was chosen or the chosen one was removed', () => {
    const info = plainInfo({ start_time: '0.08' });
    expect(posterMs({ ...chosen, posterFrame: null }, [], info)).toBe(80);
    expect(posterMs({ ...chosen, posterFrame: 4 }, [span], info)).toBe(80);
    expect(posterMs({ pictures: null, posterFrame: null }, [], info)).toBe(80);
  });
});
