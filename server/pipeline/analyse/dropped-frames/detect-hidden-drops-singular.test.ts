import { describe, expect, it } from 'vitest';
import { NO_VOTES } from '#server/media/grey/grey-jump-votes.ts';
import type { JumpMeasure } from '#server/media/grey/grey-jumps.ts';
import { frameSeries } from '#server/test/frame-series.ts';
import { isSingular } from './detect-hidden-drops-singular.ts';
import { measureStep } from './detect-hidden-drops-step.ts';

const AT = 40;
const JUMP: JumpMeasure = {
  windows: 4,
  slope: 2,
  agreement: 0.5,
  steadiness: 0.5,
  excess: 1.5,
  leastAround: 0.4,
  speed: 0.4,
  livelyBlocks: 20,
  commonRise: 1.4,
  votes: NO_VOTES,
  atPlaces: NO_VOTES,
};
/** A zoom that becomes slower, with a little unevenness; one step of it is longer. */
const zoom = (factor: number, unevenness = 0.05) =>
  Array.from(
    { length: 80 },
    (_, i) => (i === AT ? factor : 1) * 8 * Math.exp(-0.008 * i) * (1 + unevenness * Math.sin(2.3 * i)),
  );

function singular(
  moves: readonly number[],
  { jump = {}, cuts = [] }: { jump?: Partial<JumpMeasure>; cuts?: readonly number[] } = {},
  other: Parameters<typeof frameSeries>[1] = {},
): boolean {
  const series = frameSeries(moves, { jumps: new Map([[AT, { ...JUMP, ...jump }]]), ...other });
  const step = measureStep(series, cuts, AT);
  return step !== null && isSingular(series, cuts, step, AT);
}

describe('isSingular', () => {
  it('finds the one step that rises above the trend of all around it', () => {
    expect(singular(zoom(1.5))).toBe(true);
    expect(singular(zoom(1.05))).toBe(false);
  });

  it('requires a rise of twice what the steps around deviate', () => {
    expect(singular(zoom(1.5, 0.25))).toBe(false);
    expect(singular(zoom(2.3, 0.25))).toBe(true);
    const moves = zoom(1.5);
    expect(singular(moves.map((move, i) => (i === AT + 9 ? 1.3 * move : move)))).toBe(false);
  });

  it('ignores steps of other shots', () => {
    const moves = zoom(1.5).map((move, i) => (i > AT + 8 ? 3 * move : move));
    expect(singular(moves)).toBe(false);
    expect(singular(moves, { cuts: [AT + 9] })).toBe(true);
    expect(singular(moves, { cuts: [AT - 3, AT + 9] })).toBe(false);
  });

  it.each([{ livelyBlocks: 7 }, { commonRise: 1.2 }, { leastAround: 0.02 }])(
    'requires that everything that moves takes part: $livelyBlocks $commonRise $leastAround',
    (jump) => {
      expect(singular(zoom(1.5), { jump })).toBe(false);
    },
  );

  it('takes a flash for none', () => {
    const histogramDiff = zoom(1).map((_, i) => (i === AT ? 0.06 : 0.001));
    expect(singular(zoom(1.5), {}, { histogramDiff })).toBe(false);
  });

  it('requires it of the whole picture and of its liveliest blocks', () => {
    const even = zoom(1);
    expect(singular(zoom(1.5), {}, { meanDiff: even })).toBe(false);
  });
});
