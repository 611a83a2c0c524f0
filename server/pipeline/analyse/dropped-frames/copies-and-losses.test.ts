import { describe, expect, it } from 'vitest';
import { NO_VOTES } from '#server/media/grey/grey-jump-votes.ts';
import { frameSeries } from '#server/test/frame-series.ts';
import { judgePictures } from '../judge-pictures.ts';

const COUNT = 160;
const INTERVAL_MS = 33;

interface Planted {
  readonly lost: number;
  readonly soundLonger: number | null;
  /**
   * Length of the step right after the run, in ordinary steps; the default lies between one step and the length of the
   * run, and so tells little.
   */
  readonly behind?: number;
  /** Whether windows follow the motion across the step at 100. */
  readonly isFollowed?: boolean;
}

/** Even motion with a run of copies at 40 and a step over lost pictures at 100. */
function findingsOf(
  repeats: number,
  { lost, soundLonger, behind = (repeats + 1) ** 0.7, isFollowed = true }: Planted,
) {
  const moves = Array.from({ length: COUNT }, (_, i) => {
    const move = 12 + 2 * Math.sin(i * 1.3);
    if (i >= 40 && i < 40 + repeats) return 0.05;
    if (i === 40 + repeats) return behind * move;
    return i === 100 ? (lost + 1) * move : move;
  });
  const jump = {
    windows: 20,
    slope: lost + 1,
    agreement: 0.97,
    steadiness: 0.9,
    excess: 3,
    leastAround: 0.9,
    speed: 0.8,
    livelyBlocks: 60,
    commonRise: lost + 1,
    votes: { voters: 20, share: 0.9, factor: lost + 1 },
    atPlaces: NO_VOTES,
  };
  const numbers = moves.map((_, i) => i);
  const times = {
    timeBase: { num: 1, den: 1000 },
    ptsTicks: numbers.map((i) => i * INTERVAL_MS),
    keyframe: numbers.map((i) => i % 40 === 0),
    medianIntervalTicks: INTERVAL_MS,
    variableByNature: false,
  };
  const lastsMs = COUNT * INTERVAL_MS;
  const spans =
    soundLonger === null
      ? null
      : {
          pictureStartMs: 0,
          pictureEndMs: lastsMs,
          soundStartMs: 0,
          soundEndMs: lastsMs + soundLonger * INTERVAL_MS,
        };
  const { findings } = judgePictures(
    {
      series: frameSeries(moves, { jumps: new Map(isFollowed ? [[100, jump]] : []) }),
      index: { times, frameOfDecoded: numbers },
      damage: [],
      scan: { video: [], audio: null },
      spans,
    },
    0,
  );
  return findings.flatMap(({ detail, count }) => ('history' in detail ? [`${count} ${detail.history}`] : []));
}

describe('copies and losses in one clip', () => {
  it('are both reported when the losses need more time than the sound has left', () => {
    expect(findingsOf(2, { lost: 4, soundLonger: 2 })).toEqual(['2 inserted', '4 hidden']);
  });

  it('leave a run held when the sound has time for everything that is missing', () => {
    expect(findingsOf(2, { lost: 4, soundLonger: 4 })).toEqual(['2 held', '4 hidden']);
  });

  it('are both reported when both are certain and balance each other', () => {
    expect(findingsOf(4, { lost: 4, soundLonger: 0, behind: 1 })).toEqual(['4 inserted', '4 hidden']);
  });

  it('are equally many when the sound ends within a picture of them', () => {
    const behind = 1;
    expect(findingsOf(4, { lost: 5, soundLonger: 0.7, behind })).toEqual(['4 inserted', '4 hidden']);
    expect(findingsOf(4, { lost: 3, soundLonger: -0.7, behind })).toEqual(['4 inserted', '4 hidden']);
    expect(findingsOf(2, { lost: 3, soundLonger: -0.7, behind })).toEqual(['2 inserted', '2 hidden']);
  });

  it('restore nothing that does not use all of the time freed', () => {
    expect(findingsOf(5, { lost: 1, soundLonger: 0, behind: 1 })).toEqual(['5 inserted']);
  });

  it('lead to removed copies when nothing could be missing elsewhere', () => {
    expect(findingsOf(4, { lost: 0, soundLonger: 0, behind: 1, isFollowed: false })).toEqual(['4 inserted']);
  });

  it('leave the copies held when a step elsewhere may be as large a loss but is uncertain', () => {
    expect(findingsOf(4, { lost: 4, soundLonger: 0, behind: 1, isFollowed: false })).toEqual([
      '4 held',
      '3 hidden',
    ]);
  });

  it('do not justify removing copies when the sound says that none is missing', () => {
    expect(findingsOf(3, { lost: 2, soundLonger: -1.4, behind: 3 })).toEqual(['3 held', '2 hidden']);
  });
});
