import { NO_VOTES } from '#server/media/grey/grey-jump-votes.ts';
import { describe, expect, it } from 'vitest';
import { frameSeries } from '#server/test/frame-series.ts';
import { motionEvidence } from './stutter-evidence.ts';

describe('motionEvidence', () => {
  const followed = {
    windows: 12,
    agreement: 0.95,
    steadiness: 0.9,
    excess: 1,
    leastAround: 0.9,
    speed: 1,
    livelyBlocks: 20,
    commonRise: 1,
    votes: NO_VOTES,
    atPlaces: NO_VOTES,
  };
  const seen = (slope: number, other = {}) =>
    motionEvidence(
      frameSeries(
        Array.from({ length: 80 }, () => 10),
        {
          holds: new Map([[34, { ...followed, repeats: 4, slope, ...other }]]),
        },
      ),
      { first: 30, last: 33 },
    );

  it('recognises lost pictures by a step as long as the run, and copies by an ordinary one', () => {
    expect(seen(4.6)).toBeGreaterThan(0.6);
    expect(seen(1.1)).toBeLessThan(-0.6);
  });

  it('says nothing when the motion goes elsewhere, few windows move, or another run was measured', () => {
    expect(seen(4.6, { agreement: 0.4 })).toBe(0);
    expect(seen(4.6, { windows: 3 })).toBe(0);
    expect(seen(4.6, { repeats: 3 })).toBe(0);
  });
});
