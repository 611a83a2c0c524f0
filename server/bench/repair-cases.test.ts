import { describe, expect, it } from 'vitest';
import { countOwnClaims, scoreDefects, type Claim } from './repair-cases.ts';

const claim = (firstFrame: number, lastFrame: number, confidence = 0.9): Claim => ({
  kind: 'stuttered_cut',
  firstFrame,
  lastFrame,
  confidence,
});
const truth = [{ firstFrame: 40, lastFrame: 43, count: 4 }];
const ownOf = (claims: readonly Claim[], clean: readonly Claim[], added: 1 | 0 | -1) => {
  const score = scoreDefects(claims, 'stuttered_cut', truth);
  return [score.wrong, countOwnClaims(score, clean, { kind: 'stuttered_cut', added }, truth)];
};

describe('countOwnClaims', () => {
  it('separates wrong claims that the clean clip has at the same place from the others', () => {
    const clean = [claim(80, 82), claim(20, 21, 0.3)];
    expect(ownOf([claim(40, 43), claim(80, 82), claim(120, 122), claim(20, 21)], clean, 0)).toEqual([3, 1]);
    expect(ownOf([claim(40, 43)], clean, 0)).toEqual([0, 0]);
  });

  it('maps the place back to the clean clip when pictures were added or removed before it', () => {
    const clean = [claim(80, 82)];
    expect(ownOf([claim(84, 86)], clean, 1)).toEqual([1, 1]);
    expect(ownOf([claim(84, 86)], clean, 0)).toEqual([1, 0]);
    expect(ownOf([claim(76, 78)], clean, -1)).toEqual([1, 1]);
  });
});
