import { describe, expect, it } from 'vitest';
import { outcomeWord } from './outcomes.ts';

describe('outcomeWord', () => {
  it.each([
    ['found', undefined, 'found'],
    ['repaired', 'rebuilt_frames', 'mended'],
    ['repaired', 'concealed_frames', 'made playable'],
    ['left_alone', 'concealed_frames', 'left as it is'],
    ['flagged', 'none', 'noted'],
  ] as const)('calls %s by %s "%s"', (state, action, word) => {
    expect(outcomeWord(state, action)).toBe(word);
  });
});
