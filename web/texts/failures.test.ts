import { describe, expect, it } from 'vitest';
import { failureOf } from './failures.ts';

const JARGON =
  'This clip cannot be repaired: only the first 4 kB of the file are there; the index and the video data are missing.';

describe('failureOf', () => {
  it('says without technical terms what is wrong with a damaged file, and keeps the exact reason', () => {
    const failure = failureOf({ errorCode: 'damaged_beyond_repair', errorMessage: JARGON });
    expect(failure.what).toMatch(/too much of this file is missing/i);
    expect(failure.what).not.toMatch(/index|moov|codec/);
    expect(failure.detail).toBe(JARGON);
    expect(failure.next).toContain('phone, camera or card');
    expect(failure.again).toBe(false);
  });

  it('leaves a message that is already plain unchanged, and adds what to do', () => {
    const errorMessage = 'There is no video in this file. It has sound only.';
    const failure = failureOf({ errorCode: 'no_video_track', errorMessage });
    expect(failure).toMatchObject({ what: errorMessage, detail: null, again: false });
    expect(failure.next).not.toBeNull();
  });

  it('advises another try when the server was at fault', () => {
    const failure = failureOf({ errorCode: 'internal', errorMessage: 'Something went wrong on our side.' });
    expect(failure).toMatchObject({ what: 'Something went wrong on our side.', again: true });
    expect(failure.next).toContain('Retry');
  });

  it('knows only the message of a failure without a code', () => {
    expect(failureOf({ errorCode: null, errorMessage: null })).toEqual({
      what: 'Unknown error',
      detail: null,
      next: null,
      again: true,
    });
  });
});
