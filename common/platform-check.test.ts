import { describe, expect, it } from 'vitest';
import { checkPlatforms, type Platform, PLATFORMS } from './platform-check.ts';
import type { MediaSummary } from './report.ts';

const UPRIGHT: MediaSummary = {
  container: 'mov',
  durationMs: 20_000,
  videoCodec: 'h264',
  width: 1080,
  height: 1920,
  rotation: 0,
  frameCount: 600,
  frameRate: 29.97,
  variableFrameRate: false,
  audioCodec: 'aac',
  sampleRateHz: 48_000,
  channels: 2,
};

function kinds(change: Partial<MediaSummary>, sizeBytes = 20 * 1024 ** 2) {
  const verdicts = checkPlatforms({ ...UPRIGHT, ...change }, sizeBytes);
  const of = (platform: Platform) =>
    verdicts.find((verdict) => verdict.platform === platform)?.remarks.map(({ kind }) => kind) ?? null;
  return { tiktok: of('tiktok'), youtube: of('youtube'), instagram: of('instagram') };
}

describe('checkPlatforms', () => {
  it('has no remarks on an ordinary upright clip, for all three', () => {
    expect(kinds({})).toEqual({ tiktok: [], youtube: [], instagram: [] });
    expect(checkPlatforms(UPRIGHT, 1).map(({ platform }) => platform)).toEqual([...PLATFORMS]);
  });

  it('says that a wide clip is boxed, and is no Short', () => {
    expect(kinds({ width: 1920, height: 1080 })).toEqual({
      tiktok: ['boxed'],
      youtube: ['no_short'],
      instagram: ['boxed'],
    });
    expect(
      checkPlatforms({ ...UPRIGHT, width: 1920, height: 1080 }, 1).map(({ refused }) => refused),
    ).toEqual([false, false, false]);
  });

  it('uses the displayed picture, not the stored one', () => {
    expect(kinds({ width: 1920, height: 1080, rotation: 90 })).toEqual({
      tiktok: [],
      youtube: [],
      instagram: [],
    });
  });

  it.each([
    [{ durationMs: 2900 }, { tiktok: ['too_short'], youtube: [], instagram: ['too_short'] }],
    [{ durationMs: 180_000 }, { tiktok: [], youtube: [], instagram: [] }],
    [{ durationMs: 180_100 }, { tiktok: [], youtube: ['too_long'], instagram: [] }],
    [{ durationMs: 601_000 }, { tiktok: ['too_long'], youtube: ['too_long'], instagram: [] }],
    [{ frameRate: 12.5 }, { tiktok: ['too_slow'], youtube: [], instagram: ['too_slow'] }],
    [{ frameRate: 59.94 }, { tiktok: [], youtube: [], instagram: [] }],
    [{ frameRate: 120 }, { tiktok: ['too_fast'], youtube: ['too_fast'], instagram: ['too_fast'] }],
    [
      { width: 2160, height: 3840 },
      { tiktok: [], youtube: [], instagram: ['too_wide'] },
    ],
    [
      { width: 270, height: 480 },
      { tiktok: ['too_small'], youtube: [], instagram: [] },
    ],
    [{ audioCodec: null }, { tiktok: ['no_sound'], youtube: ['no_sound'], instagram: ['no_sound'] }],
    [{ audioCodec: 'opus' }, { tiktok: [], youtube: [], instagram: ['audio_codec'] }],
    [{ sampleRateHz: 96_000 }, { tiktok: ['sample_rate'], youtube: [], instagram: ['sample_rate'] }],
    [{ channels: 6 }, { tiktok: ['channels'], youtube: [], instagram: ['channels'] }],
    [{ videoCodec: 'mpeg4' }, { tiktok: ['video_codec'], youtube: [], instagram: ['video_codec'] }],
  ])('%o', (change, expected) => {
    expect(kinds(change)).toEqual(expected);
  });

  it('says which file is too large for Reels, and that it would be refused', () => {
    expect(kinds({}, 301 * 1024 ** 2)).toEqual({ tiktok: [], youtube: [], instagram: ['too_large'] });
    expect(checkPlatforms(UPRIGHT, 301 * 1024 ** 2).map(({ refused }) => refused)).toEqual([
      false,
      false,
      true,
    ]);
  });

  it('does not judge unknown figures', () => {
    const unknown = {
      width: null,
      height: null,
      frameRate: null,
      videoCodec: null,
      channels: null,
      sampleRateHz: null,
    };
    expect(kinds(unknown)).toEqual({ tiktok: [], youtube: [], instagram: [] });
  });
});
