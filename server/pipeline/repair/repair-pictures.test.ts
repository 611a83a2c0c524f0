import { describe, expect, it } from 'vitest';
import type { Finding } from '../analyse/analysis.ts';
import type { RebuildTask } from './picture-task.ts';
import { findTrial } from './rebuild-pictures/rebuild-pictures-judge.ts';
import { batchGroups, groupHoles } from './repair-pictures.ts';

const pictures = {
  timeBase: { num: 1, den: 1000 },
  ptsTicks: Array.from({ length: 300 }, (_, frame) => frame * 40),
  keyframe: Array.from({ length: 300 }, (_, frame) => frame % 50 === 0),
  medianIntervalTicks: 40,
  variableByNature: false,
};

describe('groupHoles', () => {
  const groups = (needed: readonly (readonly number[])[], most = 100) =>
    groupHoles(
      needed.map((frames, hole) => ({ hole, needed: frames })),
      pictures,
      most,
    ).map((group) => group.map(({ hole }) => hole));

  it('decodes holes of one group of pictures in one run', () => {
    expect(
      groups([
        [10, 14],
        [20, 24],
        [40, 44],
      ]),
    ).toEqual([[0, 1, 2]]);
  });

  it('starts again where a key frame lets it skip pictures', () => {
    expect(
      groups([
        [10, 14],
        [120, 124],
        [130, 134],
      ]),
    ).toEqual([[0], [1, 2]]);
  });

  it('continues when the holes meet at a key frame', () => {
    expect(
      groups([
        [20, 60],
        [60, 90],
      ]),
    ).toEqual([[0, 1]]);
  });

  it('keeps no more pictures than allowed, but always one hole', () => {
    expect(
      groups(
        [
          [1, 2, 3],
          [4, 5, 6],
          [7, 8, 9],
        ],
        6,
      ),
    ).toEqual([[0, 1], [2]]);
    expect(
      groups(
        [
          [1, 2, 3],
          [4, 5, 6],
        ],
        2,
      ),
    ).toEqual([[0], [1]]);
  });
});

describe('batchGroups', () => {
  const groups = [10, 60, 110, 160, 210].map((first, hole) => [{ hole, needed: [first, first + 4] }]);
  const batches = (most: number, damaged: readonly number[] = []) =>
    batchGroups(groups, (group) => group.some(({ hole }) => damaged.includes(hole)), most).map((batch) =>
      batch.map((group) => group.map(({ hole }) => hole)),
    );

  it('lets one process decode three groups', () => {
    expect(batches(100)).toEqual([
      [[0], [1], [2]],
      [[3], [4]],
    ]);
  });

  it('keeps no more pictures than allowed, but always one group', () => {
    expect(batches(4)).toEqual([[[0], [1]], [[2], [3]], [[4]]]);
    expect(batches(1)).toHaveLength(5);
  });

  it('decodes damage separately, as it was judged', () => {
    expect(batches(100, [1])).toEqual([[[0]], [[1]], [[2], [3], [4]]]);
  });
});

describe('findTrial', () => {
  const finding: Finding = {
    kind: 'stuttered_cut',
    startMs: 0,
    endMs: 0,
    firstFrame: 100,
    lastFrame: 103,
    count: 4,
    confidence: 1,
    detector: 'stutter',
    measure: { name: 'motion in the run', unit: 'ratio', threshold: null, value: 0 },
    detail: { kind: 'stuttered_cut', history: 'held', startsAtCut: false, endsAtCut: false },
  };
  const task: RebuildTask = {
    kind: 'rebuild',
    finding,
    firstFrame: 100,
    endFrame: 104,
    slotTicks: [4000, 4040, 4080, 4120],
    resumeTicks: 4160,
    before: 99,
    after: 104,
    acrossCut: false,
    shiftAfterTicks: 0,
  };
  const around = (bad: readonly number[], sceneCuts: readonly number[] = []) =>
    findTrial({ task, pictures, isBad: (frame) => bad.includes(frame), sceneCuts }, 5);

  it('uses true pictures before the hole', () => {
    expect(around([])).toEqual({
      from: 94,
      to: 99,
      truths: [
        { frame: 96, step: 2 },
        { frame: 98, step: 4 },
      ],
    });
  });

  it('uses those after it when one before is damaged or of another shot', () => {
    expect(around([95])).toMatchObject({ from: 104, to: 109 });
    expect(around([], [97])).toMatchObject({ from: 104, to: 109 });
  });

  it('returns null when neither side is true', () => {
    expect(around([95, 106])).toBeNull();
  });
});
