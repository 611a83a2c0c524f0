import { describe, expect, it } from 'vitest';
import { parseFrameHash } from './packet-hashes.ts';
import { conversionNote, playsAsIs, type PlaybackNeeds } from './playback.ts';

const nothing: PlaybackNeeds = { container: null, video: null, audio: null, brokenSound: false };

describe('playsAsIs', () => {
  it('holds only when container, pictures and sound play', () => {
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
  it('reads the lines of ffmpeg and leaves its comments out', () => {
    const text =
      '#format: frame checksums\n#tb 0: 1/15360\n0,  -512,  0,  512,  4711, 00ff\n0, 0, 512, 512, 12, abcd\n';
    expect(parseFrameHash(text)).toEqual([
      { dtsTicks: -512, ptsTicks: 0, hash: '00ff' },
      { dtsTicks: 0, ptsTicks: 512, hash: 'abcd' },
    ]);
  });
});
