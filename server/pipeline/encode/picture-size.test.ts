import { describe, expect, it } from 'vitest';
import { limitedSize, shownSize } from './picture-size.ts';

describe('the size of a limited download', () => {
  it.each([
    [3840, 2160, 1920, 1080],
    [2160, 3840, 1080, 1920],
    [4096, 2160, 2048, 1080],
    [1440, 1440, 1080, 1080],
    [1080, 1920, 1080, 1920],
    [640, 360, 640, 360],
    [2701, 1519, 1920, 1080],
  ])('of %i x %i is %i x %i', (width, height, toWidth, toHeight) => {
    expect(limitedSize({ width, height }, 1080)).toEqual({ width: toWidth, height: toHeight });
  });

  it('applies to the picture as displayed', () => {
    const stream = { width: 3840, height: 2160, rotation: 90 };
    expect(shownSize({ ...makeStream(), ...stream })).toEqual({ width: 2160, height: 3840 });
  });
});

function makeStream() {
  return {
    index: 0,
    codec: 'h264',
    codecTag: 'avc1',
    profile: null,
    width: 16,
    height: 16,
    rotation: 0,
    pixelFormat: 'yuv420p',
    frameRate: 30,
    baseFrameRate: 30,
    timeBase: { num: 1, den: 15_360 },
    startMs: 0,
    durationMs: 1000,
    frameCount: 30,
    bitRate: null,
    reorderDepth: 0,
    fieldOrder: null,
    colorSpace: null,
    colorTransfer: null,
    colorPrimaries: null,
    colorRange: null,
    sampleAspectRatio: '1:1',
  };
}
