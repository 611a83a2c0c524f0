import {
  channelOf,
  CHUNK_SAMPLES,
  readRawSound,
  type RawSound,
  type SampleSpan,
} from './repair-audio-raw.ts';
import { BRIDGED_MS } from './repair-audio-sync.ts';
import {
  createSuppressorMaker,
  type WindShape,
  type WindSuppressor,
} from '../wind-noise/repair-wind-noise-filter.ts';

/** Silence to insert before a decoded sample. */
export interface Filling {
  readonly beforeSample: number;
  readonly sampleCount: number;
}

export interface WindToTakeOut {
  /**
   * One for each channel, null for a channel that stays unchanged. Or a single one for the mean of all: its loss is
   * then subtracted from each of them.
   */
  readonly shapes: readonly (WindShape | null)[];
  readonly spans: readonly SampleSpan[];
}

export interface RenderSound {
  readonly raw: RawSound;
  readonly rateHz: number;
  /** Null to leave the sound unchanged (holes only). */
  readonly wind: WindToTakeOut | null;
  /** Sorted by place. */
  readonly fillings: readonly Filling[];
}

/** Fade between the original and the cleaned sound, ms. */
const FADE_MS = 100;
/** Fade at the edges of what is inserted, ms: enough to avoid clicks. */
const EDGE_MS = 3;

/**
 * Renders the sound of a clip with wind removed from the windy spans and holes filled with silence, as raw 32-bit
 * floats, interleaved. Every other sample is as decoded, and none moves.
 */
export async function* renderSound(input: RenderSound): AsyncGenerator<Buffer> {
  for await (const samples of renderSamples(input)) yield toBuffer(samples);
}

/** The same as samples. */
export async function* renderSamples(input: RenderSound): AsyncGenerator<Float32Array> {
  const { raw, rateHz, wind, fillings } = input;
  const holes = createHoleFiller(fillings, raw.channels, rateHz);
  const clean = wind && createSpanCleaner(wind, raw.channels, rateHz);
  for await (const samples of readRawSound(raw, { first: 0, end: Number.MAX_SAFE_INTEGER })) {
    for (const part of clean ? clean.take(samples) : [samples]) yield* holes.take(part);
  }
  if (clean) yield* holes.take(clean.flush());
}

export function toBuffer({ buffer, byteOffset, byteLength }: Float32Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

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
  flush(): Float32Array;
}

/** Sound before a span from which the suppressor finds its level, ms. */
const RUN_UP_MS = 700;

/** Spans extended by `reach` samples on both sides; overlapping ones are joined. */
export function toZones(spans: readonly SampleSpan[], reach: number): SampleSpan[] {
  const zones: { first: number; end: number }[] = [];
  for (const span of [...spans].sort((a, b) => a.first - b.first)) {
    const first = Math.max(0, span.first - reach);
    const last = zones.at(-1);
    if (last && first <= last.end) last.end = Math.max(last.end, span.end + reach);
    else zones.push({ first, end: span.end + reach });
  }
  return zones;
}

/** A channel that is cleaned, or the mean of all. */
interface RunningChannel {
  readonly channel: number | 'mean';
  readonly suppressor: WindSuppressor;
}

interface CleanedChannel {
  readonly channel: number | 'mean';
  readonly clean: Float32Array;
}

function createSpanCleaner(wind: WindToTakeOut, channels: number, rateHz: number): Cleaner {
  const fade = fadeSamples(rateHz);
  const zones = toZones(wind.spans, fade + Math.round((RUN_UP_MS / 1000) * rateHz));
  const createSuppressor = createSuppressorMaker(rateHz);
  const heard = new Float32Array(CHUNK_SAMPLES);
  const joined = wind.shapes.length < channels;
  let running: RunningChannel[] = [];
  let dry: Float32Array[] = [];
  /** Number of samples taken, and given out. */
  let taken = 0;
  let position = 0;

  const takeDry = (numbers: number): Float32Array => {
    const out = new Float32Array(numbers);
    let at = 0;
    for (let part = dry[0]; part && at < numbers; part = dry[0]) {
      const count = Math.min(part.length, numbers - at);
      out.set(part.subarray(0, count), at);
      at += count;
      if (count < part.length) dry[0] = part.subarray(count);
      else dry = dry.slice(1);
    }
    return out;
  };
  const mix = (wet: readonly CleanedChannel[]): Float32Array => {
    const count = wet[0]?.clean.length ?? 0;
    const part = { first: position, end: position + count };
    const out = takeDry(count * channels);
    const isInside = wind.spans.some(({ first, end }) => first <= part.first && part.end <= end);
    const weights = isInside ? null : wetWeights(wind.spans, part, fade);
    for (const { channel, clean } of wet) {
      for (let i = 0, at = 0; i < count; i += 1, at += channels) {
        const weight = weights ? (weights[i] ?? 0) : 1;
        if (channel === 'mean') {
          let sum = 0;
          for (let k = 0; k < channels; k += 1) sum += out[at + k] ?? 0;
          const lost = weight * (sum / channels - (clean[i] ?? 0));
          for (let k = 0; k < channels; k += 1) out[at + k] = (out[at + k] ?? 0) - lost;
        } else {
          const dirty = out[at + channel] ?? 0;
          out[at + channel] = dirty - weight * (dirty - (clean[i] ?? 0));
        }
      }
    }
    position += count;
    return out;
  };
  const start = (): RunningChannel[] =>
    wind.shapes.flatMap((shape, c) => {
      return shape ? [{ channel: joined ? 'mean' : c, suppressor: createSuppressor(shape) }] : [];
    });
  const stop = (): Float32Array => {
    const rest = mix(running.map(({ channel, suppressor }) => ({ channel, clean: suppressor.flush() })));
    running = [];
    dry = [];
    return rest;
  };
  return {
    take(interleaved) {
      const out: Float32Array[] = [];
      const count = interleaved.length / channels;
      let done = 0;
      while (done < count) {
        const zone = zones.find(({ end }) => end > taken);
        const inside = zone !== undefined && taken >= zone.first;
        const border = zone === undefined ? Number.POSITIVE_INFINITY : inside ? zone.end : zone.first;
        const step = Math.min(count - done, border - taken);
        const part = interleaved.subarray(done * channels, (done + step) * channels);
        done += step;
        taken += step;
        if (!inside) {
          out.push(part);
          position += step;
          continue;
        }
        if (running.length === 0) running = start();
        dry.push(part);
        const wet = running.map(({ channel, suppressor }) => {
          return { channel, clean: suppressor.push(channelOf(part, channel, channels, heard)) };
        });
        out.push(mix(wet));
        if (taken === border) out.push(stop());
      }
      return out;
    },
    flush: () => (running.length > 0 ? stop() : new Float32Array(0)),
  };
}

function createHoleFiller(fillings: readonly Filling[], channels: number, rateHz: number) {
  const edge = Math.round((EDGE_MS / 1000) * rateHz);
  const bridged = Math.round((BRIDGED_MS / 1000) * rateHz);
  let position = 0;
  let next = 0;
  /** The last samples before the current ones. */
  let past = new Float32Array(0);
  return {
    /** The samples with silence, or the fading sound before a hole, inserted in place; in pieces. */
    take(interleaved: Float32Array): Float32Array[] {
      if (fillings.length === 0) return interleaved.length > 0 ? [interleaved] : [];
      const count = interleaved.length / channels;
      const pieces: Float32Array[] = [];
      const samples = interleaved.slice();
      for (const { beforeSample, sampleCount } of fillings) {
        // What bridges a hole continues from the last sample before it.
        for (let d = sampleCount <= bridged ? 0 : -edge; d < edge; d++) {
          const i = beforeSample + d - position;
          if (i < 0 || i >= count) continue;
          const gain = (d < 0 ? -d : d + 1) / (edge + 1);
          for (let c = 0; c < channels; c++) {
            samples[i * channels + c] = (samples[i * channels + c] ?? 0) * gain;
          }
        }
      }
      let done = 0;
      for (let filling = fillings[next]; filling; filling = fillings[next]) {
        const at = Math.max(0, filling.beforeSample - position);
        if (at >= count) break;
        pieces.push(samples.subarray(done * channels, at * channels));
        const before = joinTail(past, interleaved.subarray(0, at * channels), bridged * channels);
        if (filling.sampleCount <= bridged) pieces.push(fadingMirror(before, filling.sampleCount, channels));
        else pieces.push(...silence(filling.sampleCount, channels));
        done = at;
        next += 1;
      }
      pieces.push(samples.subarray(done * channels));
      past = joinTail(past, interleaved, bridged * channels);
      position += count;
      return pieces.filter((piece) => piece.length > 0);
    },
  };
}

/** Silence in pieces that share their memory. */
function silence(sampleCount: number, channels: number): Float32Array[] {
  const zeros = new Float32Array(CHUNK_SAMPLES * channels);
  const count = Math.ceil(sampleCount / CHUNK_SAMPLES);
  return Array.from({ length: count }, (_, at) =>
    zeros.subarray(0, channels * Math.min(CHUNK_SAMPLES, sampleCount - at * CHUNK_SAMPLES)),
  );
}

/** The last `most` values of two lists in a row. */
function joinTail(first: Float32Array, second: Float32Array, most: number): Float32Array<ArrayBuffer> {
  if (second.length >= most) return second.slice(second.length - most);
  const kept = first.subarray(Math.max(0, first.length - (most - second.length)));
  const joined = new Float32Array(kept.length + second.length);
  joined.set(kept);
  joined.set(second, kept.length);
  return joined;
}

/** Samples backwards from the last of `before`, fading out: without a step, and with the same timbre. */
function fadingMirror(before: Float32Array, sampleCount: number, channels: number): Float32Array {
  const out = new Float32Array(sampleCount * channels);
  const frames = before.length / channels;
  for (let i = 0; i < Math.min(sampleCount, frames); i += 1) {
    const gain = 1 - (i + 1) / (sampleCount + 1);
    for (let c = 0; c < channels; c += 1) {
      out[i * channels + c] = (before[(frames - 1 - i) * channels + c] ?? 0) * gain;
    }
  }
  return out;
}
