import { expect, it } from 'vitest';
import { aacChannels, aacRateHz, aacTrackOptions } from './aac-coding.ts';

it.each([
  [44_100, 44_100],
  [96_000, 96_000],
  [37_800, 44_100],
  [6000, 8000],
  [192_000, 48_000],
  [50_000, 48_000],
])('replaces a rate of %i Hz by one that AAC supports, %i Hz', (rateHz, expected) => {
  expect(aacRateHz(rateHz)).toBe(expected);
});

it('keeps up to eight channels, and the first two of more', () => {
  expect([1, 6, 8, 10].map(aacChannels)).toEqual([1, 6, 8, 2]);
  const many = aacTrackOptions(1, { codec: 'pcm_s16le', channels: 10, sampleRateHz: 48_000 });
  expect(many.join(' ')).toBe(
    '-filter:a:1 pan=stereo|FL=c0|FR=c1 -c:a:1 aac -b:a:1 192000 -ar:a:1 48000 -ac:a:1 2',
  );
});
