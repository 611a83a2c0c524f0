import { LEARNT_SAMPLES, predictSound } from '#server/media/signal/predict-sound.ts';
import type { SampleSpan } from '../repair-audio-raw.ts';

/** Longer holes are silent in their middle, ms, because farther predictions no longer resemble the sound. */
const PREDICTED_MS = 60;

/**
 * Fills lost stretches of a sound from what is known on both sides. The two predictions fade into each other, or into
 * silence if they are too far apart. Works in place.
 * @param samples interleaved
 * @param lost ascending, in samples of one channel
 */
export function fillLost(
  samples: Float32Array,
  channels: number,
  rateHz: number,
  lost: readonly SampleSpan[],
): void {
  const total = samples.length / channels;
  const most = Math.round((PREDICTED_MS / 1000) * rateHz);
  lost.forEach(({ first, end }, at) => {
    const count = end - first;
    const reach = Math.min(count, most);
    const from = Math.max(lost[at - 1]?.end ?? 0, first - LEARNT_SAMPLES);
    const until = Math.min(lost[at + 1]?.first ?? total, end + LEARNT_SAMPLES);
    for (let c = 0; c < channels; c += 1) {
      const one = (start: number, stop: number) =>
        Float32Array.from({ length: stop - start }, (_, i) => samples[(start + i) * channels + c] ?? 0);
      const onwards = predictSound(one(from, first), reach);
      const backwards = predictSound(one(end, until).reverse(), reach);
      for (let i = 0; i < count; i += 1) {
        const behind = count - 1 - i;
        samples[(first + i) * channels + c] =
          fade(i, reach) * (onwards[i] ?? 0) + fade(behind, reach) * (backwards[behind] ?? 0);
      }
    }
  });
}

/**
 * Weight of a prediction at a distance from its start: from 1 to 0 over its reach; both sides of a hole add up to 1.
 */
const fade = (at: number, reach: number): number =>
  at >= reach ? 0 : 0.5 + 0.5 * Math.cos((Math.PI * (at + 0.5)) / reach);
