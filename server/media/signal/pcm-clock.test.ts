import { describe, expect, it } from 'vitest';
import { parseSoundFrame } from './pcm.ts';
import {
  appendSound,
  createSoundClock,
  sampleOfTime,
  soundEndMs,
  soundStartMs,
  timeOfSample,
  timesSway,
  withEvenTimes,
} from './pcm-clock.ts';

function clockWithHole() {
  const clock = createSoundClock();
  appendSound(clock, { startMs: 100, sampleCount: 4800, rateHz: 48_000 });
  appendSound(clock, { startMs: 200, sampleCount: 4800, rateHz: 48_000 });
  appendSound(clock, { startMs: 500, sampleCount: 4800, rateHz: 48_000 });
  return clock;
}

describe('the clock of a sound', () => {
  it('gives the time of a sample before and after a hole', () => {
    const clock = clockWithHole();
    expect(soundStartMs(clock)).toBe(100);
    expect(timeOfSample(clock, 9599)).toBeCloseTo(299.98, 2);
    expect(timeOfSample(clock, 9600)).toBe(500);
    expect(soundEndMs(clock)).toBe(600);
  });

  it('gives the sample at a time, and inside a hole the first one after it', () => {
    const clock = clockWithHole();
    expect(sampleOfTime(clock, 150)).toBe(2400);
    expect(sampleOfTime(clock, 400)).toBe(9600);
    expect(sampleOfTime(clock, 0)).toBe(0);
    expect(sampleOfTime(clock, 9999)).toBe(14_400);
  });

  it('lets a frame without a time follow the previous one', () => {
    const clock = createSoundClock();
    appendSound(clock, { startMs: 20, sampleCount: 480, rateHz: 48_000 });
    appendSound(clock, { startMs: null, sampleCount: 480, rateHz: 48_000 });
    expect(clock.startMs).toEqual([20, 30]);
  });
});

describe('a sound whose times are counted from its bytes', () => {
  const clockOf = (offMs: (frame: number) => number) => {
    const clock = createSoundClock();
    for (let frame = 0; frame < 200; frame += 1)
      appendSound(clock, { startMs: 50 + 24 * frame + offMs(frame), sampleCount: 1152, rateHz: 48_000 });
    return clock;
  };

  it('sways where frames begin too early and too late all the time, and not with rounding, holes or drift', () => {
    expect(timesSway(clockOf((frame) => 12 * Math.sin(frame)))).toBe(true);
    expect(timesSway(clockOf((frame) => Math.sin(frame)))).toBe(false);
    expect(timesSway(clockOf((frame) => (frame > 80 ? 300 : 0)))).toBe(false);
    expect(timesSway(clockOf((frame) => 3 * frame))).toBe(false);
    expect(timesSway(createSoundClock())).toBe(false);
  });

  it('is not judged by a few frames with wild times', () => {
    const clock = createSoundClock();
    for (const startMs of [0, 9e6, 100, 5e6, 200])
      appendSound(clock, { startMs, sampleCount: 1152, rateHz: 48_000 });
    expect(timesSway(clock)).toBe(false);
  });

  it('keeps its start and its samples when each frame follows the one before', () => {
    const even = withEvenTimes(clockOf((frame) => 12 * Math.sin(frame)));
    expect([even.startMs[0], even.startMs[100], soundEndMs(even)]).toEqual([50, 2450, 4850]);
  });
});

describe('parseSoundFrame', () => {
  it('reads the lines of ffmpeg 5.1 and 7', () => {
    const old =
      '[Parsed_ashowinfo_0 @ 0x55] n:0 pts:1024 pts_time:0.02322 pos:393 fmt:fltp channels:2 chlayout:stereo rate:44100 nb_samples:1024 checksum:ABC';
    const recent =
      '[Parsed_ashowinfo_0 @ 0x55] n:3 pts:-480 pts_time:-0.01 fmt:fltp chlayout:mono rate:48000 nb_samples:960 checksum:ABC';
    expect(parseSoundFrame(old)).toEqual({
      startMs: (1024 / 44_100) * 1000,
      sampleCount: 1024,
      rateHz: 44_100,
    });
    expect(parseSoundFrame(recent)).toEqual({ startMs: -10, sampleCount: 960, rateHz: 48_000 });
  });

  it('parses a line that another thread has started (recorded, 9.0.2)', () => {
    const torn =
      '  Stream #0n:1 pts:1024 pts_time:0.0213333 fmt:fltp channels:2 chlayout:stereo rate:48000 nb_samples:1024 checksum:57D7E01A plane_checksums: [ :0(und): Audio: pcm_f32le, 48000 Hz, stereo, flt, 3072 kb/s (default)';
    expect(parseSoundFrame(torn)).toEqual({ startMs: 1024 / 48, sampleCount: 1024, rateHz: 48_000 });
  });

  it('returns no time when the frame has none, and null for other lines', () => {
    expect(
      parseSoundFrame(
        '[Parsed_ashowinfo_0 @ 0x1] n:1 pts:NOPTS pts_time:NOPTS rate:8000 nb_samples:160 checksum:0',
      ),
    ).toEqual({ startMs: null, sampleCount: 160, rateHz: 8000 });
    expect(parseSoundFrame('Stream mapping:')).toBeNull();
  });
});
