import { describe, expect, it } from 'vitest';
import { frameSeries } from '#server/test/frame-series.ts';
import type { StutterRun } from '../stutter/stutter-history.ts';
import { withLossesBeside, type AroundCopies } from './loss-beside-copies.ts';

const FIRST = 60;
const COPIES = 4;
const RUN: StutterRun = {
  first: FIRST,
  last: FIRST + COPIES - 1,
  history: 'held',
  startsAtCut: false,
  endsAtCut: false,
  confidence: 0.9,
  quietness: 0.01,
};

/** Nearly even motion with copies, and a step of several ordinary lengths at one picture. */
function movesWith(jumpAt: number, steps = COPIES + 1): number[] {
  return Array.from({ length: 120 }, (_, i) => {
    const move = 12 + 2 * Math.sin(i * 1.3);
    if (i >= RUN.first && i <= RUN.last) return 0.05;
    return i === jumpAt ? steps * move : move;
  });
}

function pair(moves: number[], other: Partial<AroundCopies> = {}, runs: readonly StutterRun[] = [RUN]) {
  const { runs: told, losses } = withLossesBeside(runs, {
    series: frameSeries(moves),
    cuts: [],
    isExplained: () => false,
    surplus: null,
    ...other,
  });
  return { histories: told.map(({ history }) => history), losses };
}

describe('a loss beside copies', () => {
  it.each([
    ['one picture behind them', RUN.last + 2],
    ['three pictures behind them', RUN.last + 4],
    ['at the picture that is repeated', FIRST - 1],
    ['three pictures before them', FIRST - 3],
  ])('is found %s, and the copies count as inserted', (_, at) => {
    const { histories, losses } = pair(movesWith(at));
    expect(histories).toEqual(['inserted']);
    expect(losses).toMatchObject([{ after: at, missing: COPIES }]);
    expect(losses[0]?.confidence).toBeGreaterThanOrEqual(0.65);
    expect(losses[0]?.ratio).toBeGreaterThan(losses[0]?.threshold ?? Infinity);
  });

  it('is not found when the step is right after them, or farther away', () => {
    for (const at of [RUN.last + 1, RUN.last + 5, FIRST - 4]) expect(pair(movesWith(at)).losses).toEqual([]);
  });

  it.each([RUN.last, RUN.last + 1])(
    'is not found when picture %i behind the hole is shown twice: what is missing is under the copies',
    (early) => {
      const moves = movesWith(FIRST - 2, 3);
      expect(pair(moves).losses).toHaveLength(1);
      moves[early] = 60;
      moves[early + 1] = 0.05;
      expect(pair(moves)).toEqual({ histories: ['held'], losses: [] });
    },
  );

  it('is not found when a step is no longer than single ones around it', () => {
    expect(pair(movesWith(RUN.last + 2, 1.05)).losses).toEqual([]);
    expect(pair(movesWith(-1)).losses).toEqual([]);
  });

  it('is not found when a step is far longer than the lost pictures make it', () => {
    expect(pair(movesWith(RUN.last + 2, 1.6 * (COPIES + 1))).losses).toHaveLength(1);
    expect(pair(movesWith(RUN.last + 2, 2.6 * (COPIES + 1))).losses).toEqual([]);
  });

  it('needs less evidence when picture and sound end together', () => {
    const moves = movesWith(-1);
    moves[RUN.last + 3] = 1.15 * Math.max(...moves);
    const plain = frameSeries(moves);
    // Motion to and fro: a jump over four pictures goes no farther than this.
    const blockDiff = new Map(plain.blockDiff).set(
      4,
      moves.map(() => 15),
    );
    const series = { ...plain, blockDiff };
    expect(pair(moves, { series }).losses).toEqual([]);
    expect(pair(moves, { series, surplus: 0 }).losses).toMatchObject([
      { after: RUN.last + 3, threshold: 1.1 },
    ]);
    expect(pair(moves, { series, surplus: 0 }).histories).toEqual(['inserted']);
  });

  it('is not found when the picture outlasts the sound by the copies', () => {
    expect(pair(movesWith(RUN.last + 2), { surplus: COPIES }).losses).toEqual([]);
  });

  it('is not found across a cut, nor when something else explains the step', () => {
    const at = RUN.last + 3;
    expect(pair(movesWith(at), { cuts: [at] }).losses).toEqual([]);
    expect(pair(movesWith(at), { cuts: [at - 1] }).losses).toEqual([]);
    expect(pair(movesWith(at), { isExplained: (step) => step === at }).losses).toEqual([]);
  });

  it('is not found beside a single copy, which is how one rate is shown as another', () => {
    const single = { ...RUN, last: RUN.first };
    expect(pair(movesWith(RUN.first + 2), {}, [single])).toEqual({ histories: ['held'], losses: [] });
  });
});

describe('pictures that catch up behind copies', () => {
  const inserted: StutterRun = { ...RUN, history: 'inserted' };
  /** This many steps right after the copies are longer by this factor. */
  const fast = (count: number, factor: number) =>
    movesWith(-1).map((move, i) => (i > RUN.last && i <= RUN.last + count ? factor * move : move));

  it('are missing one picture per step when they move twice as fast, as many as were repeated', () => {
    const { histories, losses } = pair(fast(COPIES, 2), {}, [inserted]);
    expect(histories).toEqual(['inserted']);
    const steps = Array.from({ length: COPIES }, (_, i) => RUN.last + 1 + i);
    expect(losses.map(({ after, missing }) => [after, missing])).toEqual(steps.map((step) => [step, 1]));
  });

  it('are missing two pictures per step when they move three times as fast', () => {
    const six = { ...inserted, last: FIRST + 5 };
    const moves = Array.from({ length: 120 }, (_, i) => {
      if (i >= six.first && i <= six.last) return 0.05;
      return (i > six.last && i <= six.last + 3 ? 3 : 1) * (12 + 0.3 * Math.sin(i));
    });
    expect(pair(moves, {}, [six]).losses.map(({ missing }) => missing)).toEqual([2, 2, 2]);
  });

  it('are not found when the motion stays as fast, or one step is as usual', () => {
    expect(pair(fast(40, 2), {}, [inserted]).losses).toEqual([]);
    const moves = fast(COPIES, 2);
    moves[RUN.last + 3] = 12;
    expect(pair(moves, {}, [inserted]).losses).toEqual([]);
  });

  it('are not found in motion that swells around the copies', () => {
    const moves = fast(COPIES, 2).map((move, i) => (i < FIRST && i >= FIRST - 6 ? 1.6 * move : move));
    expect(pair(moves, {}, [inserted]).losses).toEqual([]);
  });

  it('are not found after held pictures or few copies, or when the sound speaks for the copies', () => {
    expect(pair(fast(COPIES, 2)).losses).toEqual([]);
    expect(pair(fast(COPIES, 2), { surplus: COPIES }, [inserted]).losses).toEqual([]);
    const three = { ...inserted, first: FIRST + 1 };
    const moves = fast(3, 2);
    moves[FIRST] = 12;
    expect(pair(moves, {}, [three]).losses).toEqual([]);
  });
});
