import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { HE_FRAME, makeHeAacClip } from '#server/test/half-rate-sound.ts';
import { testTools as tools } from '#server/test/media-job.ts';
import { sharedFolder } from '#server/test/rendered-clips.ts';
import { probe } from '../probe/probe.ts';
import { timeOfSample } from '../signal/pcm-clock.ts';
import { decodeSound } from '../signal/pcm.ts';

const folder = sharedFolder();
const HIDDEN_FRAMES = 3;
const RATE_HZ = 44_100;

describe('HE-AAC of which an edit list hides frames', () => {
  it('is decoded from time 0 on, and no later', async () => {
    const inputPath = path.join(folder.path, 'he.mp4');
    const source = '-v error -f lavfi -i sine=f=400:r=22050:d=1';
    await makeHeAacClip({ source, outputPath: inputPath, hiddenFrames: HIDDEN_FRAMES });
    const info = await probe(tools, inputPath, 'mov');
    expect(info.audio[0]).toMatchObject({ profile: 'HE-AACv2', sampleRateHz: RATE_HZ });
    const samples: number[] = [];
    const read = { inputPath, info, tools, rateHz: null, channels: 1 } as const;
    const clock = await decodeSound({ ...read, onSamples: (some) => void samples.push(...some) });
    expect(timeOfSample(clock, 0)).toBeCloseTo(0, 1);
    expect(Math.max(...samples.slice(0, HE_FRAME / 2).map(Math.abs))).toBeGreaterThan(0.05);
    const hiddenMs = (HIDDEN_FRAMES * HE_FRAME * 1000) / RATE_HZ;
    const lengthMs = (samples.length * 1000) / RATE_HZ;
    expect(lengthMs).toBeGreaterThan(1000 - hiddenMs);
    expect(lengthMs).toBeLessThan(1100 - hiddenMs);
  });
});
