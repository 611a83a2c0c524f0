import { describe, expect, it } from 'vitest';
import { createSoundClock } from '#server/media/signal/pcm-clock.ts';
import { gustingWind } from '#server/test/synthetic-sound.ts';
import {
  createWindMeter,
  SPECTRUM_HOP_MS,
  WIND_RATE_HZ,
} from '../../analyse/wind-noise/detect-wind-noise-series.ts';
import { judgeWind, type MeasuredSound } from './repair-audio-judge.ts';

const SECONDS = 8;

/** Wind with a gain; the frames named in `lines` look like a voice of this level. */
function sound(gain: number, lines: (frame: number) => boolean, voiceDb: number): MeasuredSound {
  const meter = createWindMeter();
  meter.push(gustingWind(SECONDS, WIND_RATE_HZ, 5).map((sample) => sample * gain));
  const wind = meter.finish();
  const frames = Array.from({ length: SECONDS * 31 }, (_, frame) => frame);
  return {
    wind,
    voice: {
      voiceDb: frames.map(() => voiceDb),
      lineShare: frames.map((frame) => (lines(frame) ? 0.9 : 0.1)),
      steadiness: frames.map(() => 0),
    },
    speech: [],
    clock: createSoundClock(),
  };
}

const SPANS = [{ startMs: 0, endMs: SECONDS * 1000 }];

describe('judgeWind', () => {
  it('does not mistake single frames of lines, which wind has by chance, for a voice', () => {
    const alone = (frame: number) => frame % 5 === 0;
    const verdict = judgeWind(sound(1, alone, -30), sound(0.05, alone, -50), SPANS);
    expect(verdict.voiceLossDb).toBe(0);
    expect(verdict.helped).toBe(true);
  });

  it('rejects what removes a voice, however short it is beside the wind', () => {
    const word = (frame: number) => frame >= 100 && frame < 114;
    const verdict = judgeWind(sound(1, word, -30), sound(0.05, word, -50), SPANS);
    expect(verdict.voiceLossDb).toBeCloseTo(20);
    expect(verdict.helped).toBe(false);
  });

  it('compares the same words when filled holes moved them', () => {
    const word = (frame: number) => frame >= 100 && frame < 114;
    const later = (frame: number) => word(frame - 20);
    const before = sound(1, word, -30);
    const after = sound(0.05, later, -30);
    const quietElsewhere = {
      ...after,
      voice: { ...after.voice, voiceDb: after.voice.voiceDb.map((db, i) => (later(i) ? db : -60)) },
    };
    expect(judgeWind(before, quietElsewhere, SPANS).helped).toBe(false);
    const verdict = judgeWind(before, quietElsewhere, SPANS, (ms) => ms + 20 * SPECTRUM_HOP_MS);
    expect(verdict.voiceLossDb).toBeCloseTo(0);
    expect(verdict.helped).toBe(true);
  });
});
