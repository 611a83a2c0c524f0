import { describe, expect, it } from 'vitest';
import { explanationParts } from './explanation-parts.ts';

describe('explanationParts', () => {
  it('keeps what was done and separates the figures for experts', () => {
    const said =
      '1 missing picture at 0:00.12: 1 picture rebuilt from their neighbours, half following the motion and half blended. On 1 true frames beside it this scored 27.7 dB, holding 25.0 dB.';
    expect(explanationParts(said)).toEqual({
      plain:
        '1 missing picture at 0:00.12: 1 picture rebuilt from their neighbours, half following the motion and half blended.',
      expert: 'On 1 true frames beside it this scored 27.7 dB, holding 25.0 dB.',
    });
    expect(explanationParts('Wind lowered by 33 dB in one stretch.').expert).toBe('');
  });
});
