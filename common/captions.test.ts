import { describe, expect, it } from 'vitest';
import { CAPTION_LIMITS, findCueProblems, videoCues, type VideoCue } from './captions.ts';

const cue = (startMs: number, endMs: number, text: string | null = 'words'): VideoCue => ({
  startMs,
  endMs,
  text,
  source: 'manual',
  confidence: null,
});
const refusals = (cues: readonly VideoCue[]) =>
  videoCues.safeParse(cues).error?.issues.map(({ message }) => message) ?? [];

describe('a list of cues', () => {
  it('is accepted when the cues ascend and at most touch', () => {
    expect(refusals([cue(0, 1000), cue(1000, 2000, null), cue(5000, 6000, 'two\nlines')])).toEqual([]);
  });

  it.each([
    [[cue(0, 1000), cue(900, 2000)], 'Caption 2 begins before caption 1 ends.'],
    [[cue(3000, 4000), cue(1000, 2000)], 'Caption 2 begins before caption 1 ends.'],
    [[cue(500, 500)], 'Caption 1 must end after it begins.'],
    [[cue(0, 1000, 'a\u0007b')], 'Caption 1 holds control characters.'],
  ])('is refused with a sentence that names the cue: %j', (cues, sentence) => {
    expect(refusals(cues)).toEqual([sentence]);
  });

  it('has limits for the number of cues and of their characters, and refuses empty words', () => {
    const many = Array.from({ length: CAPTION_LIMITS.cues + 1 }, (_, i) => cue(i * 10, i * 10 + 10));
    expect(refusals(many)).toEqual([`A video has at most ${CAPTION_LIMITS.cues} captions.`]);
    expect(videoCues.safeParse(many.slice(1)).success).toBe(true);
    const long = cue(0, 1000, 'x'.repeat(CAPTION_LIMITS.chars + 1));
    expect(videoCues.safeParse([long]).success).toBe(false);
    expect(findCueProblems([long])).toEqual([{ index: 0, kind: 'too_long' }]);
    expect(videoCues.safeParse([cue(0, 1000, '  ')]).success).toBe(false);
  });
});
