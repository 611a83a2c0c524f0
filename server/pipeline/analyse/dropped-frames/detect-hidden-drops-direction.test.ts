import { describe, expect, it } from 'vitest';
import { NO_VOTES } from '#server/media/grey/grey-jump-votes.ts';
import type { JumpMeasure } from '#server/media/grey/grey-jumps.ts';
import { goesOneStep, leadsAstray, verdictOf, verdictOn, votesOf } from './detect-hidden-drops-direction.ts';

/** Least number of pictures that an editor removes, at thirty a second. */
const EDITED = 6;
const JUMP: JumpMeasure = {
  windows: 20,
  slope: 0.4,
  agreement: 0.2,
  steadiness: 0.9,
  excess: 1,
  leastAround: 0.9,
  speed: 0.8,
  livelyBlocks: 60,
  commonRise: 2,
  votes: NO_VOTES,
  atPlaces: NO_VOTES,
};

describe('verdictOf', () => {
  it('says that the motion goes on when enough windows go farther by one factor', () => {
    expect(verdictOf({ voters: 3, share: 0.67, factor: 2 }, EDITED)).toBe('goesOn');
    expect(verdictOf({ voters: 6, share: 0.35, factor: 2 }, EDITED)).toBe('elsewhere');
    expect(verdictOf({ voters: 30, share: 0.35, factor: 2 }, EDITED)).toBe('goesOn');
    expect(verdictOf({ voters: 30, share: 0.2, factor: 2 }, EDITED)).toBe('elsewhere');
  });

  it('decides nothing from fewer than three windows', () => {
    expect(verdictOf({ voters: 2, share: 1, factor: 2 }, EDITED)).toBeNull();
    expect(verdictOf(NO_VOTES, EDITED)).toBeNull();
  });

  it('does not call a step a loss that is no longer than those beside it', () => {
    expect(verdictOf({ voters: 30, share: 0.9, factor: 1.1 }, EDITED)).toBe('elsewhere');
  });

  it('calls a step a cut that is as far as people cut, one picture later when nearly all windows agree', () => {
    expect(verdictOf({ voters: 30, share: 0.6, factor: 6.8 }, EDITED)).toBe('goesOn');
    expect(verdictOf({ voters: 30, share: 0.6, factor: 7.4 }, EDITED)).toBe('far');
    expect(verdictOf({ voters: 30, share: 0.9, factor: 7.4 }, EDITED)).toBe('goesOn');
    expect(verdictOf({ voters: 30, share: 0.9, factor: 8.2 }, EDITED)).toBe('far');
    expect(verdictOf({ voters: 30, share: 0.6, factor: 8.2 }, 8)).toBe('goesOn');
  });
});

describe('goesOneStep', () => {
  const votes = { voters: 18, share: 0.94, factor: 1.35 };

  it('is true for a step in which nearly all of many windows go no farther than one step', () => {
    expect(goesOneStep({ ...JUMP, votes })).toBe(true);
    expect(goesOneStep({ ...JUMP, votes: { ...votes, factor: 1.45 } })).toBe(false);
    expect(goesOneStep({ ...JUMP, votes: { ...votes, share: 0.7 } })).toBe(false);
    expect(goesOneStep({ ...JUMP, votes: { ...votes, voters: 5 } })).toBe(false);
    expect(goesOneStep(undefined)).toBe(false);
  });
});

describe('votesOf', () => {
  const lost = { voters: 12, share: 0.1, factor: 1 };
  const found = { voters: 8, share: 0.6, factor: 4 };

  it('uses the expected places when the best ones disagree and enough windows are found there', () => {
    expect(votesOf({ votes: lost, atPlaces: found })).toBe(found);
    expect(votesOf({ votes: lost, atPlaces: { ...found, voters: 5 } })).toBe(lost);
    expect(votesOf({ votes: lost, atPlaces: { ...found, share: 0.45 } })).toBe(lost);
    const near = { voters: 12, share: 0.5, factor: 2 };
    expect(votesOf({ votes: near, atPlaces: found })).toBe(near);
  });
});

describe('verdictOn', () => {
  const few = { voters: 4, share: 0.25, factor: 2 };
  const longer = { ...JUMP, slope: 3, agreement: 0.8, excess: 2, votes: few };

  it('decides nothing from few windows against most that move', () => {
    expect(verdictOn(longer, EDITED)).toBeNull();
    expect(verdictOn({ ...longer, agreement: 0.5 }, EDITED)).toBe('elsewhere');
    expect(verdictOn({ ...longer, votes: { ...few, voters: 5 } }, EDITED)).toBe('elsewhere');
    expect(verdictOn(undefined, EDITED)).toBeNull();
  });
});

describe('leadsAstray', () => {
  it('follows the verdict, whatever the odds and the least squares say', () => {
    expect(leadsAstray(JUMP, 'goesOn', 3)).toBe(false);
    expect(leadsAstray({ ...JUMP, slope: 3 }, 'elsewhere', 9)).toBe(true);
    expect(leadsAstray({ ...JUMP, slope: 3 }, 'far', 9)).toBe(true);
  });

  it('without a verdict follows the least squares, unless the odds are beyond doubt', () => {
    expect(leadsAstray(JUMP, null, 5)).toBe(true);
    expect(leadsAstray(JUMP, null, 7)).toBe(false);
    expect(leadsAstray({ ...JUMP, slope: -2 }, null, 5)).toBe(false);
    expect(leadsAstray(undefined, null, 5)).toBe(false);
  });
});
