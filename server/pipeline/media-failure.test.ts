import { describe, expect, it } from 'vitest';
import { MediaToolError } from '#server/media/ffmpeg/tools.ts';
import { MediaFailure, toFailure } from './media-failure.ts';

describe('toFailure', () => {
  it('keeps the code and sentence of a known failure', () => {
    const failure = toFailure(new MediaFailure('too_long', 'The clip is too long.', 'seen: 5 h'));
    expect(failure).toEqual({
      ok: false,
      code: 'too_long',
      message: 'The clip is too long.',
      detail: 'seen: 5 h',
    });
  });

  it('distinguishes a full disk from a failed tool', () => {
    const full = new MediaToolError(
      'tool_failed',
      'write the clip: exit 1',
      'av_interleaved_write_frame(): No space left on device',
    );
    expect(toFailure(full).code).toBe('storage_full');
    expect(toFailure(new MediaToolError('tool_failed', 'write the clip: exit 1')).code).toBe('internal');
    expect(toFailure(new MediaToolError('stalled', 'decode')).code).toBe('stalled');
  });

  it('keeps inner details out of the sentence for people', () => {
    const failure = toFailure(new Error('secret path /srv/data/x'));
    expect(failure.code).toBe('internal');
    expect(failure.message).not.toContain('/srv');
    expect(failure.detail).toContain('/srv');
  });
});
