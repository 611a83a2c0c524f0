import { describe, expect, it } from 'vitest';
import { MediaToolError } from './media/ffmpeg/tools.ts';
import { detailOf } from './error-detail.ts';

describe('detailOf', () => {
  it('keeps the stack of an error of our own', () => {
    expect(detailOf(new Error('what'))).toMatch(/^Error: what\n +at /);
  });

  it('tells what a media tool said, without the stack', () => {
    const error = new MediaToolError('tool_failed', 'decode: exit 1', 'moov atom not found\n');
    expect(detailOf(error)).toBe('decode: exit 1\nlast lines of the tool:\nmoov atom not found');
    expect(detailOf(new MediaToolError('stalled', 'decode'))).toBe('decode');
  });
});
