import { expect, it } from 'vitest';
import { resultTimeOf } from './caption-step.ts';

it('moves cues with sound that is copied', () => {
  expect(resultTimeOf({ kind: 'copy', shiftMs: -300 })(1300)).toBe(1000);
});

it('moves and stretches cues with sound that was re-encoded', () => {
  const made = { kind: 'file', path: 'sound.m4a', codec: 'aac' } as const;
  expect(resultTimeOf({ ...made, startMs: 0, shiftMs: -300, timeStretch: 1 })(1300)).toBe(1000);
  // The sound began at 500 ms, was moved to 100 and lasts a tenth longer.
  const inResult = resultTimeOf({ ...made, startMs: 100, shiftMs: -400, timeStretch: 1.1 });
  expect(inResult(500)).toBeCloseTo(100);
  expect(inResult(1500)).toBeCloseTo(1200);
});
