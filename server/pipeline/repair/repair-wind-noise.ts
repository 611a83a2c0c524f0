import { decodeSound } from '#server/media/pcm.ts';
import { sampleOfTime, type SoundClock } from '#server/media/pcm-clock.ts';
import type { MediaInfo } from '#server/media/probe.ts';
import type { ToolPaths } from '#server/media/tools.ts';
import type { SampleSpan } from './repair-audio-render.ts';
import type { WindShape } from './repair-wind-noise-filter.ts';
import { createShapeLearner } from './repair-wind-noise-shape.ts';

export interface LearnWind {
  readonly inputPath: string;
  readonly info: MediaInfo;
  readonly clock: SoundClock;
  readonly spans: readonly SampleSpan[];
  readonly tools: ToolPaths;
  readonly signal?: AbortSignal;
  readonly onProgress?: (share: number) => void;
}

/**
 * Learns the shape of the wind from the windy spans, one for each channel: every microphone has its own wind.
 * Channels that carry the very same samples share one object.
 * @throws MediaToolError when the sound cannot be decoded
 */
export async function learnWind(input: LearnWind): Promise<WindShape[]> {
  const channels = input.info.audio[0]?.channels ?? 1;
  const learners = Array.from({ length: channels }, () => createShapeLearner(input.clock.rateHz));
  let position = 0;
  let same = true;
  await decodeSound({
    ...input,
    rateHz: null,
    channels: null,
    onSamples: (samples) => {
      const count = samples.length / channels;
      for (const { first, end } of input.spans) {
        const from = Math.max(0, first - position);
        const to = Math.min(count, end - position);
        if (to <= from) continue;
        for (let i = from * channels; same && i < to * channels; i++) {
          same = samples[i] === samples[i - (i % channels)];
        }
        learners.forEach((learner, c) => {
          const channel = new Float64Array(to - from);
          for (let i = from; i < to; i++) channel[i - from] = samples[i * channels + c] ?? 0;
          learner.push(channel);
        });
      }
      position += count;
    },
  });
  const [first, ...others] = learners.map((learner) => learner.finish());
  if (!first) return [];
  return [first, ...(same ? others.map(() => first) : others)];
}

/** Windy spans in decoded samples. */
export function toSampleSpans(
  clock: SoundClock,
  spans: readonly { readonly startMs: number; readonly endMs: number }[],
): SampleSpan[] {
  return spans
    .map((span) => ({ first: sampleOfTime(clock, span.startMs), end: sampleOfTime(clock, span.endMs) }))
    .filter((span) => span.end > span.first);
}
