import { describe, expect, it } from 'vitest';
import type { MediaInfo, VideoStreamInfo } from '#server/media/probe/probe.ts';
import { parseFrameHash } from './packet-hashes.ts';
import { conversionNote, playbackNeeds, playsAsIs, type PlaybackNeeds } from './playback.ts';

const nothing: PlaybackNeeds = {
  container: null,
  video: null,
  audio: null,
  brokenSound: false,
  lostSubtitles: false,
};

describe('playbackNeeds', () => {
  const video: VideoStreamInfo = {
    index: 0,
    codec: 'h264',
    codecTag: 'H264',
    profile: 'High',
    width: 320,
    height: 180,
    rotation: 0,
    pixelFormat: 'yuv420p',
    frameRate: 30,
    baseFrameRate: 30,
    timeBase: { num: 1, den: 30 },
    startMs: 0,
    durationMs: 1000,
    frameCount: 30,
    bitRate: null,
    reorderDepth: 2,
    fieldOrder: null,
    colorSpace: null,
    colorTransfer: null,
    colorPrimaries: null,
    colorRange: null,
    sampleAspectRatio: null,
  };
  const needs = (format: MediaInfo['format'], change: Partial<VideoStreamInfo> = {}) =>
    playbackNeeds({
      format,
      sizeBytes: 1,
      startMs: 0,
      durationMs: 1000,
      video: [{ ...video, ...change }],
      audio: [],
      others: [],
      tags: {},
    });

  it('copies no reordered pictures out of AVI, which stores no display times', () => {
    expect(needs('avi').video).toMatch(/in which order its frames are shown/);
    expect(needs('avi', { reorderDepth: 0 }).video).toBeNull();
    expect(needs('mov').video).toBeNull();
    expect(needs('matroska').video).toBeNull();
  });

  it('names codecs that do not play from MP4', () => {
    expect(needs('mov', { codec: 'mpeg4' }).video).toMatch(/mpeg4/);
  });
});

describe('playsAsIs', () => {
  it('is true only when container, pictures and sound play', () => {
    expect(playsAsIs(nothing)).toBe(true);
    expect(playsAsIs({ ...nothing, audio: 'x' })).toBe(false);
    expect(playsAsIs({ ...nothing, brokenSound: true })).toBe(false);
  });
});

describe('conversionNote', () => {
  it('lists every reason, and nothing when there is none', () => {
    expect(conversionNote(nothing)).toBeNull();
    expect(conversionNote({ ...nothing, container: 'a', video: 'b' })).toBe('Converted for playback: a, b.');
    expect(conversionNote({ ...nothing, brokenSound: true })).toMatch(/no sound/);
  });
});

describe('parseFrameHash', () => {
  it('parses the lines of ffmpeg and skips its comments', () => {
    const text =
      '#format: frame checksums\n#tb 0: 1/15360\n0,  -512,  0,  512,  4711, 00ff\n0, 0, 512, 512, 12, abcd\n';
    expect(parseFrameHash(text)).toEqual([
      { dtsTicks: -512, ptsTicks: 0, hash: '00ff' },
      { dtsTicks: 0, ptsTicks: 512, hash: 'abcd' },
    ]);
  });
});
