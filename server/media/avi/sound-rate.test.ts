import { expect, it } from 'vitest';
import type { AviChunk } from './avi-chunks.ts';
import type { AviStream } from './avi-head.ts';
import { soundsAtWrongRate } from './sound-rate.ts';

const picture: AviStream = {
  kind: 'picture',
  startMs: 0,
  coding: 'MJPG',
  soundFormat: 0,
  bitsPerSample: 0,
  scaleAt: 100,
  scale: 1,
  rate: 25,
  ownRateHz: 0,
  sampleBytes: 0,
};
const sound: AviStream = {
  ...picture,
  kind: 'sound',
  coding: '',
  soundFormat: 1,
  bitsPerSample: 16,
  scale: 1,
  rate: 48_000,
  ownRateHz: 48_000,
  sampleBytes: 4,
};

/** Ten seconds of pictures, and so many samples a second beside them. */
function chunks(samplesPerSecond: number): AviChunk[] {
  return Array.from({ length: 250 }, (_, number) => [
    { name: '00dc', at: number, sizeBytes: 1000 },
    { name: '01wb', at: number, sizeBytes: (samplesPerSecond / 25) * 4 },
  ]).flat();
}

it.each([
  ['one that is counted at its own rate', sound, 48_000, false],
  ['one that is counted too slow, and ends with the picture', { ...sound, rate: 47_520 }, 48_000, true],
  ['one that is counted slow on purpose, as its clock was', { ...sound, rate: 47_520 }, 47_520, false],
  ['one that is counted at a rate 0.01 % off', { ...sound, rate: 47_995 }, 48_000, false],
  [
    'one that is coded, whose units are no samples',
    { ...sound, soundFormat: 0x55, rate: 47_520 },
    48_000,
    false,
  ],
  ['one without a scale', { ...sound, scale: 0, rate: 47_520 }, 48_000, false],
])('names a sound only if it is counted at a wrong rate: %s', (_, stream, samplesPerSecond, isNamed) => {
  const named = soundsAtWrongRate([picture, stream], chunks(samplesPerSecond));
  expect(named).toEqual(isNamed ? [stream] : []);
});
