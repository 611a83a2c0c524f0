import { channelOf, CHUNK_SAMPLES, type SampleSpan } from './repair-audio-raw.ts';
import { createSuppressorMaker, type WindSuppressor } from '../wind-noise/repair-wind-noise-filter.ts';
import type { WindShape } from '../wind-noise/repair-wind-noise-layout.ts';

export interface WindToTakeOut {
  /**
   * One for each channel, null for a channel that stays unchanged. Or a single one for the mean of all: its loss is
   * then subtracted from each of them.
   */
  readonly shapes: readonly (WindShape | null)[];
  readonly spans: readonly SampleSpan[];
}

/** Fade between the original and the cleaned sound, ms. */
const FADE_MS = 100;
/** Sound before a span from which the suppressor finds its level, ms. */
const RUN_UP_MS = 700;

/** Where a cleaned sound differs from the decoded one: the windy spans with their fades. */
export function changedSpans(spans: readonly SampleSpan[], rateHz: number): SampleSpan[] {
  return toZones(spans, fadeSamples(rateHz));
}

const fadeSamples = (rateHz: number): number => Math.max(1, Math.round((FADE_MS / 1000) * rateHz));

/** Weights of the cleaned sound in a part: 1 inside the spans, raised-cosine fades of `fade` samples outside them. */
export function wetWeights(spans: readonly SampleSpan[], part: SampleSpan, fade: number): Float32Array {
  const weights = new Float32Array(part.end - part.first);
  for (const { first, end } of spans) {
    const from = Math.max(part.first, first - fade + 1);
    const to = Math.min(part.end, end + fade - 1);
    for (let sample = from; sample < to; sample++) {
      const outside = sample < first ? first - sample : sample >= end ? sample - end + 1 : 0;
      const weight = outside === 0 ? 1 : 0.5 + 0.5 * Math.cos((Math.PI * outside) / fade);
      weights[sample - part.first] = Math.max(weights[sample - part.first] ?? 0, weight);
    }
  }
  return weights;
}

interface Cleaner {
  /** Takes over an array, and returns what is clean so far, in pieces. */
  take(interleaved: Float32Array): Float32Array[];
  /** What is still inside when no more comes. */
  flush(): Float32Array;
}

/** Spans extended by `reach` samples on both sides; overlapping ones are joined. */
export function toZones(spans: readonly SampleSpan[], reach: number): SampleSpan[] {
  const zones: { first: number; end: number }[] = [];
  for (const span of spans.toSorted((a, b) => a.first - b.first)) {
    const first = Math.max(0, span.first - reach);
    const last = zones.at(-1);
    if (last && first <= last.end) last.end = Math.max(last.end, span.end + reach);
    else zones.push({ first, end: span.end + reach });
  }
  return zones;
}

/** A channel that is being cleaned, or the mean of all. */
interface RunningChannel {
  readonly channel: number | 'mean';
  readonly suppressor: WindSuppressor;
}

interface CleanedChannel {
  readonly channel: number | 'mean';
  readonly clean: Float32Array;
}

/** Removes wind from the windy spans of a sound that arrives in parts; every other sample passes unchanged. */
export function createSpanCleaner(wind: WindToTakeOut, channels: number, rateHz: number): Cleaner {
  const fade = fadeSamples(rateHz);
  const zones = toZones(wind.spans, fade + Math.round((RUN_UP_MS / 1000) * rateHz));
  const createSuppressor = createSuppressorMaker(rateHz);
  const heard = new Float32Array(CHUNK_SAMPLES);
  const isJoined = wind.shapes.length < channels;
  const dry = createNumberQueue();
  let running: RunningChannel[] = [];
  /** Number of samples taken, and given out. */
  let taken = 0;
  let given = 0;

  const start = (): RunningChannel[] =>
    wind.shapes.flatMap((shape, c) => {
      return shape ? [{ channel: isJoined ? 'mean' : c, suppressor: createSuppressor(shape) }] : [];
    });
  /** The samples as decoded, replaced by the cleaned channels as far as these have come. */
  const mix = (wet: readonly CleanedChannel[]): Float32Array => {
    const count = wet[0]?.clean.length ?? 0;
    const part = { first: given, end: given + count };
    const out = dry.take(count * channels);
    const isInside = wind.spans.some(({ first, end }) => first <= part.first && part.end <= end);
    const weights = isInside ? null : wetWeights(wind.spans, part, fade);
    for (const cleaned of wet) mixChannel(out, channels, cleaned, weights);
    given += count;
    return out;
  };
  const clean = (part: Float32Array): Float32Array => {
    if (running.length === 0) running = start();
    dry.push(part);
    const wet = running.map(({ channel, suppressor }) => {
      return { channel, clean: suppressor.push(channelOf(part, channel, channels, heard)) };
    });
    return mix(wet);
  };
  const stop = (): Float32Array => {
    const rest = mix(running.map(({ channel, suppressor }) => ({ channel, clean: suppressor.flush() })));
    running = [];
    dry.clear();
    return rest;
  };

  return {
    take(interleaved) {
      const out: Float32Array[] = [];
      const count = interleaved.length / channels;
      for (let done = 0; done < count;) {
        const { isInside, border } = zoneAt(zones, taken);
        const step = Math.min(count - done, border - taken);
        const part = interleaved.subarray(done * channels, (done + step) * channels);
        done += step;
        taken += step;
        if (isInside) {
          out.push(clean(part));
          if (taken === border) out.push(stop());
        } else {
          out.push(part);
          given += step;
        }
      }
      return out;
    },
    flush: () => (running.length > 0 ? stop() : new Float32Array(0)),
  };
}

/** Whether a sample lies in a zone, and the sample at which that changes. */
function zoneAt(zones: readonly SampleSpan[], sample: number) {
  const zone = zones.find(({ end }) => end > sample);
  if (!zone) return { isInside: false, border: Number.POSITIVE_INFINITY };
  const isInside = sample >= zone.first;
  return { isInside, border: isInside ? zone.end : zone.first };
}

/**
 * Puts a cleaned channel in place of the decoded one. What was cleaned from the mean of all is taken from each of them.
 * @param samples interleaved, changed in place
 * @param weights of the cleaned sound, sample by sample; null for 1
 */
function mixChannel(
  samples: Float32Array,
  channels: number,
  { channel, clean }: CleanedChannel,
  weights: Float32Array | null,
): void {
  for (let i = 0, at = 0; i < clean.length; i += 1, at += channels) {
    const weight = weights ? (weights[i] ?? 0) : 1;
    if (channel === 'mean') {
      let sum = 0;
      for (let k = 0; k < channels; k += 1) sum += samples[at + k] ?? 0;
      const lost = weight * (sum / channels - (clean[i] ?? 0));
      for (let k = 0; k < channels; k += 1) samples[at + k] = (samples[at + k] ?? 0) - lost;
    } else {
      const dirty = samples[at + channel] ?? 0;
      samples[at + channel] = dirty - weight * (dirty - (clean[i] ?? 0));
    }
  }
}

/** Numbers that wait in the order in which they arrived. */
function createNumberQueue() {
  let parts: Float32Array[] = [];
  return {
    push(part: Float32Array): void {
      parts.push(part);
    },
    /** The next `count` numbers; zeros where there are no more. */
    take(count: number): Float32Array {
      const out = new Float32Array(count);
      let at = 0;
      for (let part = parts[0]; part && at < count; part = parts[0]) {
        const taken = Math.min(part.length, count - at);
        out.set(part.subarray(0, taken), at);
        at += taken;
        if (taken < part.length) parts[0] = part.subarray(taken);
        else parts = parts.slice(1);
      }
      return out;
    },
    clear(): void {
      parts = [];
    },
  };
}
