import { describe, expect, it } from 'vitest';
import { ODDS_OF_A_LOSS } from '#common/report.ts';
import { hiddenDropFinding } from './picture-findings.ts';

const ptsTicks = Array.from({ length: 40 }, (_, i) => i);
const context = {
  times: {
    timeBase: { num: 1, den: 25 },
    ptsTicks,
    keyframe: ptsTicks.map((i) => i === 0),
    medianIntervalTicks: 1,
    variableByNature: false,
  },
  frameOfDecoded: ptsTicks,
  sceneCuts: [],
};

describe('hiddenDropFinding', () => {
  it('names the figure that the loss was claimed by, never one that speaks against it', () => {
    const drop = { after: 20, missing: 1, ratio: 2.05, confidence: 0.8 };
    const odds = { value: 61.23456, least: 33.11545 };
    const measured = (one: Parameters<typeof hiddenDropFinding>[0]) =>
      hiddenDropFinding(one, context).measure;
    const plain = { name: 'step against the steps around it', unit: 'ratio', threshold: 1.45, value: 2.05 };
    expect(measured(drop)).toEqual(plain);
    expect(measured({ ...drop, odds })).toEqual(plain);
    expect(measured({ ...drop, ratio: 0.5753, odds })).toEqual({
      name: ODDS_OF_A_LOSS,
      unit: 'to 1',
      threshold: 33.1155,
      value: 61.2346,
    });
  });
});
