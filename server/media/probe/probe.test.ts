import { describe, expect, it } from 'vitest';
import { toMediaInfo } from './probe.ts';

const movie = (durationTs: number) =>
  toMediaInfo(
    {
      streams: [
        {
          index: 0,
          codec_type: 'video',
          codec_name: 'h264',
          width: 64,
          height: 48,
          time_base: '1/30000',
          duration_ts: durationTs,
          duration: String(durationTs / 30_000),
        },
      ],
      format: { duration: String(durationTs / 30_000) },
    },
    'mov',
  );

describe('toMediaInfo', () => {
  it('returns the length that a track states', () => {
    expect(movie(60_000)).toMatchObject({ durationMs: 2000, video: [{ durationMs: 2000 }] });
  });

  it('treats a length of only set bits as unknown, as writers mean it', () => {
    expect(movie(2 ** 32 - 1)).toMatchObject({ durationMs: null, video: [{ durationMs: null }] });
  });
});
