import { describe, expect, it } from 'vitest';
import { ApiError } from './api-client.ts';
import { failureToast, specifiedFailureToast } from './failure-toast.ts';

const answered = new ApiError(409, 'Conflict', JSON.stringify({ message: 'The plan ended.' }));
const silent = new ApiError(502, 'Bad Gateway', '<html></html>');
const unreached = new TypeError('Failed to fetch');
const NO_ANSWER = 'Reelmend cannot be reached right now: no connection.';

describe('a toast of a failed call', () => {
  it.each([
    [answered, 'The plan ended.', undefined],
    [silent, 'Please try again.', undefined],
    [unreached, 'Please try again.', NO_ANSWER],
  ])('says what the server said, or that there was no connection: %s', (error, description, reason) => {
    const toast = failureToast(error, 'Analysis Failed', 'Please try again.');
    expect(toast).toMatchObject({ title: 'Analysis Failed', description, tone: 'destructive' });
    expect(toast.reason).toBe(reason);
  });

  it.each([
    [answered, 'The plan ended.'],
    [silent, undefined],
    [unreached, NO_ANSWER],
  ])('keeps specified texts and has the reason below them: %s', (error, reason) => {
    const toast = specifiedFailureToast(error, 'Vote failed', 'Please try again.');
    expect([toast.title, toast.description, toast.reason]).toEqual([
      'Vote failed',
      'Please try again.',
      reason,
    ]);
  });
});
