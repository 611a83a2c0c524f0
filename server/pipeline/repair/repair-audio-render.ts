import { channelOf, meanOf, readRawSound, type RawSound, type SampleSpan } from './repair-audio-raw.ts';
import { BRIDGED_MS } from './repair-audio-sync.ts';
import { createWindSuppressor, type WindShape } from './repair-wind-noise-filter.ts';

/** Silence to put in before a decoded sample. */
export interface Filling {
  readonly beforeSample: number;
  readonly sampleCount: number;
}

export interface WindToTakeOut {
  /** One for each channel, or a single one for the mean of all: what it loses is then taken from each of them. */
  readonly shapes: readonly WindShape[];
  readonly spans: readonly SampleSpan[];
}

export interface RenderSound {
  readonly raw: RawSound;
  readonly rateHz: number;
  /** Null to leave the sound as it is (holes only). */
  readonly wind: WindToTakeOut | null;
  /** Sorted by place. */
  readonly fillings: readonly Filling[];
}

/** Fade between the sound as it was and the cleaned one, ms. */
const FADE_MS = 100;
/** Fade at the edges of what is inserted, ms: enough against clicks. */
const EDGE_MS = 3;

/**
 * The sound of a clip with wind taken out of the windy spans and holes filled with silence, as raw 32-bit floats,
 * interleaved; every other sample is as decoded, and none moves.
 */
export async function* renderSound({ raw, rateHz, wind, fillings }: RenderSound): AsyncGenerator<Buffer> {
  const holes = createHoleFiller(fillings, raw.channels, rateHz);
  const clean = wind && createSpanCleaner(wind, raw.channels, rateHz);
  for await (const samples of readRawSound(raw, { first: 0, end: Number.MAX_SAFE_INTEGER })) {
    for (const piece of holes.take(clean ? clean.take(samples) : samples)) yield toBuffer(piece);
  }
  if (clean) for (const piece of holes.take(clean.flush())) yield toBuffer(piece);
}

function toBuffer({ buffer, byteOffset, byteLength }: Float32Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** Weight of the cleaned sound at a sample: 1 inside the spans, raised-cosine fades outside them. */
export function wetWeight(spans: readonly SampleSpan[], sample: number, fade: number): number {
  let weight = 0;
  for (const { first, end } of spans) {
    const outside = sample < first ? first - sample : sample >= end ? sample - end + 1 : 0;
    if (outside < fade) weight = Math.max(weight, 0.5 + 0.5 * Math.cos((Math.PI * outside) / fade));
  }
  return weight;
}

interface Cleaner {
  take(interleaved: Float32Array): Float32Array;
  flush(): Float32Array;
}

/** Sound before a span from which the suppressor finds its level, ms. */
const RUN_UP_MS = 700;

/** Where the suppressor runs: the spans with their fades and run-up, overlapping ones joined. */
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

function createSpanCleaner(wind: WindToTakeOut, channels: number, rateHz: number): Cleaner {
  const fade = Math.max(1, Math.round((FADE_MS / 1000) * rateHz));
  const zones = toZones(wind.spans, fade + Math.round((RUN_UP_MS / 1000) * rateHz));
  let running: ReturnType<typeof createWindSuppressor>[] = [];
  let dry: Float32Array[] = [];
  /** Samples taken in, and given out. */
  let taken = 0;
  let position = 0;

  const joined = wind.shapes.length < channels;
  const heard = (samples: Float32Array, c: number) =>
    joined ? meanOf(samples, channels) : channelOf(samples, c, channels);
  const mix = (wet: readonly Float64Array[]): Float32Array => {
    const count = wet[0]?.length ?? 0;
    const kept = joinSamples(dry);
    const out = kept.slice(0, count * channels);
    dry = [kept.subarray(count * channels)];
    const given = wet.map((_, c) => heard(out, c));
    for (let i = 0; i < count; i++) {
      const weight = wetWeight(wind.spans, position + i, fade);
      if (weight === 0) continue;
      for (let c = 0; c < channels; c++) {
        const from = joined ? 0 : c;
        const lost = (given[from]?.[i] ?? 0) - (wet[from]?.[i] ?? 0);
        out[i * channels + c] = (out[i * channels + c] ?? 0) - weight * lost;
      }
    }
    position += count;
    return out;
  };
  const stop = (): Float32Array => {
    const rest = mix(running.map((suppressor) => suppressor.flush()));
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
        const part = interleaved.slice(done * channels, (done + step) * channels);
        done += step;
        taken += step;
        if (!inside) {
          out.push(part);
          position += step;
          continue;
        }
        if (running.length === 0) {
          running = wind.shapes.map((shape) => createWindSuppressor(rateHz, shape));
        }
        dry.push(part);
        out.push(mix(running.map((suppressor, c) => suppressor.push(heard(part, c)))));
        if (taken === border) out.push(stop());
      }
      return joinSamples(out);
    },
    flush: () => (running.length > 0 ? stop() : new Float32Array(0)),
  };
}

function joinSamples(pieces: readonly Float32Array[]): Float32Array {
  const joined = new Float32Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    joined.set(piece, at);
    at += piece.length;
  }
  return joined;
}

function createHoleFiller(fillings: readonly Filling[], channels: number, rateHz: number) {
  const edge = Math.round((EDGE_MS / 1000) * rateHz);
  const bridged = Math.round((BRIDGED_MS / 1000) * rateHz);
  let position = 0;
  let next = 0;
  /** The last samples before those at hand. */
  let past = new Float32Array(0);
  return {
    /** The samples with silence or the fading sound before put in where it belongs, in pieces. */
    take(interleaved: Float32Array): Float32Array[] {
      if (fillings.length === 0) return interleaved.length > 0 ? [interleaved] : [];
      const count = interleaved.length / channels;
      const pieces: Float32Array[] = [];
      const samples = interleaved.slice();
      for (const { beforeSample, sampleCount } of fillings) {
        // What bridges a hole goes on from the last sample before it.
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
        pieces.push(
          filling.sampleCount <= bridged
            ? fadingMirror(before, filling.sampleCount, channels)
            : new Float32Array(filling.sampleCount * channels),
        );
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

/** The last `most` values of two lists in a row. */
function joinTail(first: Float32Array, second: Float32Array, most: number): Float32Array<ArrayBuffer> {
  if (second.length >= most) return second.slice(second.length - most);
  const kept = first.subarray(Math.max(0, first.length - (most - second.length)));
  const joined = new Float32Array(kept.length + second.length);
  joined.set(kept);
  joined.set(second, kept.length);
  return joined;
}

/** Samples backwards from the last of `before`, fading to nothing: without a step, and of the same colour. */
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
