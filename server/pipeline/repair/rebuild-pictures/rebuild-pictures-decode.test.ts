import { describe, expect, it } from 'vitest';
import { inOrderOfRuns } from './rebuild-pictures-decode.ts';

const RUNS = [{ frames: [3, 4] }, { frames: [10, 12] }, { frames: [20] }];

describe('inOrderOfRuns', () => {
  it('sorts interleaved lines of filters in the order of their runs', () => {
    const said = [
      { by: 7, frame: 10 },
      { by: 3, frame: 3 },
      { by: 11, frame: 20 },
      { by: 3, frame: 4 },
      { by: 7, frame: 12 },
    ];
    expect(inOrderOfRuns(said, RUNS)).toEqual([3, 4, 10, 12, 20]);
  });

  it('assigns a line without a name to its run by its frame', () => {
    const said = [
      { by: 0, frame: 10 },
      { by: 0, frame: 20 },
      { by: 3, frame: 3 },
      { by: 7, frame: 12 },
      { by: 0, frame: 4 },
    ];
    expect(inOrderOfRuns(said, RUNS)).toEqual([3, 4, 10, 12, 20]);
  });

  it('keeps a frame that two runs need in the order of the filters', () => {
    const twice = [{ frames: [3, 4] }, { frames: [4, 5] }];
    const said = [
      { by: 7, frame: 4 },
      { by: 3, frame: 3 },
      { by: 3, frame: 4 },
      { by: 7, frame: 5 },
    ];
    expect(inOrderOfRuns(said, twice)).toEqual([3, 4, 4, 5]);
  });
});
