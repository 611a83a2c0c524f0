import { describe, expect, it } from 'vitest';
import { decideHistories, type Judged } from './stutter-history.ts';

const run = (first: number, count: number, evidence: number, motionEvidence = 0): Judged => ({
  first,
  last: first + count - 1,
  evidence,
  motionEvidence,
  startsAtCut: false,
  endsAtCut: false,
  confidence: 0.9,
  quietness: 0.01,
});
/** A clip that rests now and then: one step of five is as small as a copy's. */
const RESTING = Array.from({ length: 300 }, (_, at) => (at % 5 === 0 ? 0.1 : 8));
const historiesOf = (runs: readonly Judged[], pictureSurplus: number | null, moves = RESTING) =>
  decideHistories(runs, pictureSurplus, moves).map(({ history }) => history);

describe('decideHistories', () => {
  it('keeps the time of a held run beside inserted ones that explain the whole surplus', () => {
    expect(historiesOf([run(14, 2, 0.61), run(34, 3, -1.16)], 3)).toEqual(['held', 'inserted']);
    const three = [run(14, 2, 0.2), run(34, 3, -1.16), run(60, 4, 0.5)];
    expect(historiesOf(three, 5.4)).toEqual(['inserted', 'inserted', 'held']);
  });

  it('decides for a run whose step says nothing, or little against it, by what the others leave of the lengths', () => {
    const atCut = [run(10, 7, 0), run(40, 6, -0.86), run(70, 6, -0.67)];
    expect(historiesOf(atCut, 12.9)).toEqual(['held', 'inserted', 'inserted']);
    const doubtful = [run(10, 4, 1.19), run(40, 2, -1.18), run(60, 4, 0.36), run(80, 4, -0.31)];
    expect(historiesOf(doubtful, 2.4)).toEqual(['held', 'inserted', 'held', 'held']);
  });

  it('uses the motion when the change says little', () => {
    expect(historiesOf([run(30, 4, 0.2), run(60, 4, 0.9)], null)).toEqual(['held', 'held']);
    expect(historiesOf([run(30, 4, 0.2, -0.75), run(60, 4, 0.9)], 4)).toEqual(['inserted', 'held']);
    expect(historiesOf([run(30, 4, -0.3, 0.7)], null)).toEqual(['held']);
  });

  it('removes nothing from a clip without sound when holding is about as likely', () => {
    expect(historiesOf([run(30, 3, -0.15)], null)).toEqual(['held']);
    expect(historiesOf([run(30, 3, -0.3)], null)).toEqual(['inserted']);
    expect(historiesOf([run(30, 3, -0.15), run(60, 3, -0.9)], null)).toEqual(['inserted', 'inserted']);
  });

  it('removes the surplus beside held runs', () => {
    expect(historiesOf([run(14, 7, 1.4), run(40, 2, -0.4)], 2)).toEqual(['held', 'inserted']);
  });

  it('removes all if the picture is longer by all of them, or by what no choice of doubtful ones explains', () => {
    const runs = [run(14, 2, 0.61), run(34, 3, -1.16)];
    expect(historiesOf(runs, 5)).toEqual(['inserted', 'inserted']);
    expect(historiesOf([run(14, 4, 0.3), run(34, 7, -1.16)], 9)).toEqual(['inserted', 'inserted']);
    expect(historiesOf([run(14, 2, -0.61), run(34, 3, -1.16)], 3)).toEqual(['inserted', 'inserted']);
  });

  it('treats a short run over which nothing was lost as a rest, if it is livelier than copies and nothing was inserted', () => {
    const rest = { ...run(30, 3, -0.93), quietness: 0.17 };
    expect(historiesOf([rest], -0.4)).toEqual([]);
    // Sound of clips that were shared and coded again is often longer than the picture.
    expect(historiesOf([rest], -1.8)).toEqual([]);
    expect(historiesOf([rest], 3)).toEqual(['inserted']);
    expect(historiesOf([rest], -3)).toHaveLength(1);
    expect(historiesOf([{ ...rest, quietness: 0.01 }], -0.4)).toHaveLength(1);
    expect(historiesOf([{ ...rest, evidence: -0.09 }], -0.4)).toEqual(['held']);
  });

  it('takes no short run for a rest in a clip that rests nowhere else', () => {
    const restless = (run: Judged) =>
      Array.from({ length: 300 }, (_, at) => (at >= run.first && at <= run.last ? 0.1 : 8));
    const pause = { ...run(30, 6, -0.58), quietness: 0.03 };
    expect(historiesOf([pause], 0)).toEqual([]);
    expect(historiesOf([pause], 0, restless(pause))).toEqual(['held']);
    const long = { ...run(30, 16, -0.58), quietness: 0.03 };
    expect(historiesOf([long], 0, restless(long))).toEqual([]);
  });

  it('treats short runs beside many rests as rests, if nothing was lost under them and nothing inserted', () => {
    const rests = [run(10, 12, -0.9), run(60, 13, -0.9), run(110, 12, -0.9)];
    expect(historiesOf([...rests, run(150, 4, -0.64)], -2.1)).toEqual([]);
    expect(historiesOf([...rests, run(150, 4, 0.8)], -2.1)).toEqual(['held']);
    expect(historiesOf([...rests.slice(1), run(150, 4, -0.64)], -2.1)).toHaveLength(1);
  });

  it('removes nothing from a clip as long as its sound because of a step that weakly supports it', () => {
    expect(historiesOf([run(14, 4, -0.65, -0.12)], 0.33)).toEqual(['held']);
    expect(historiesOf([run(14, 4, -1.2, -0.2)], 0.33)).toEqual(['inserted']);
  });

  it('removes nothing that is livelier than copies, when no sound decides', () => {
    const turn = { ...run(66, 2, -1.13), quietness: 0.207 };
    expect(historiesOf([turn], null)).toEqual(['held']);
    expect(historiesOf([{ ...turn, quietness: 0.1 }], null)).toEqual(['inserted']);
  });
});
