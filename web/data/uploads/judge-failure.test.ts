import { describe, expect, it } from 'vitest';
import { ApiError } from '../api-client.ts';
import { judgeFailure } from './judge-failure.ts';

describe('judgeFailure', () => {
  it.each([
    [401, 'signed_out'],
    [403, 'failed'],
    [404, 'new_address'],
    [405, 'whole_file'],
    [409, 'again'],
    [410, 'new_address'],
    [413, 'failed'],
    [423, 'again'],
    [429, 'again'],
    [460, 'again'],
    [200, 'whole_file'],
    [500, 'failed'],
    [502, 'again'],
    [503, 'again'],
    [507, 'failed'],
  ])('treats %i as "%s"', (status, verdict) => {
    expect(judgeFailure(new ApiError(status, '', ''))).toBe(verdict);
  });
});
