import { open } from 'node:fs/promises';
import { decodeSound } from '#server/media/pcm.ts';
import type { SoundClock } from '#server/media/pcm-clock.ts';
import type { MediaInfo } from '#server/media/probe.ts';
import type { ToolPaths } from '#server/media/tools.ts';
import { BRIDGED_MS } from './repair-audio-sync.ts';
import { createWindSuppressor, type WindShape } from './repair-wind-noise-filter.ts';

/** A stretch of decoded samples, end excluded. */
export interface SampleSpan {
  readonly first: number;
  readonly end: number;
}

/** Silence to put in before a decoded sample. */
export interface Filling {
  readonly beforeSample: number;
  readonly sampleCount: number;
}

export interface RenderSound {
  readonly inputPath: string;
  readonly info: MediaInfo;
  readonly clock: SoundClock;
  /** Raw 32-bit floats, interleaved, at the stream's own rate and channels. */
  readonly outputPath: string;
  /** Null to leave the sound as it is (holes only). */
  readonly wind: { readonly shapes: readonly WindShape[]; readonly spans: readonly SampleSpan[] } | null;
  /** Sorted by place. */
  readonly fillings: readonly Filling[];
  readonly tools: ToolPaths;
  readonly signal?: AbortSignal;
  readonly onProgress?: (share: number) => void;
}

/** Fade between the sound as it was and the cleaned one, ms. */
const FADE_MS = 100;
/** Fade at the edges of what is inserted, ms: enough against clicks. */
const EDGE_MS = 3;

/**
 * Writes the sound of a clip with wind taken out of the windy spans and holes filled with silence; every other
 * sample is written as decoded, and none moves.
 * @returns samples per channel written
 */
export async function renderSound(render: RenderSound): Promise<number> {
  const { clock, info } = render;
  const channels = info.audio[0]?.channels ?? 1;
  const file = await open(render.outputPath, 'w');
  try {
    let written = 0;
    const holes = createHoleFiller(render.fillings, channels, clock.rateHz);
    const clean = render.wind && createSpanCleaner(render.wind, channels, clock.rateHz);
    const put = async (samples: Float32Array) => {
      for (const piece of holes.take(samples)) {
        await file.write(new Uint8Array(piece.buffer, piece.byteOffset, piece.byteLength));
        written += piece.length / channels;
      }
    };
    await decodeSound({
      inputPath: render.inputPath,
      info,
      rateHz: null,
      channels: null,
      tools: render.tools,
      signal: render.signal,
      onSamples: async (samples) => put(clean ? clean.take(samples) : samples),
      onProgress: render.onProgress,
    });
    if (clean) await put(clean.flush());
    return written;
  } finally {
    await file.close();
  }
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

function createSpanCleaner(
  wind: { readonly shapes: readonly WindShape[]; readonly spans: readonly SampleSpan[] },
  channels: number,
  rateHz: number,
): Cleaner {
  const fade = Math.max(1, Math.round((FADE_MS / 1000) * rateHz));
  const zones = toZones(wind.spans, fade + Math.round((RUN_UP_MS / 1000) * rateHz));
  let running: ReturnType<typeof createWindSuppressor>[] = [];
  let dry: Float32Array[] = [];
  /** Samples taken in, and given out. */
  let taken = 0;
  let position = 0;

  const start = () => {
    const [first] = wind.shapes;
    // Channels that carry the same sound share one shape object and one suppressor.
    const distinct = wind.shapes.every((shape) => shape === first) ? wind.shapes.slice(0, 1) : wind.shapes;
    running = distinct.map((shape) => createWindSuppressor(rateHz, shape));
  };
  const mix = (wet: readonly Float64Array[]): Float32Array => {
    const count = wet[0]?.length ?? 0;
    const kept = joinSamples(dry);
    const out = kept.slice(0, count * channels);
    dry = [kept.subarray(count * channels)];
    for (let i = 0; i < count; i++) {
      const weight = wetWeight(wind.spans, position + i, fade);
      if (weight === 0) continue;
      for (let c = 0; c < channels; c++) {
        const original = out[i * channels + c] ?? 0;
        const cleaned = (wet[c] ?? wet[0])?.[i] ?? 0;
        out[i * channels + c] = original + weight * (cleaned - original);
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
        if (running.length === 0) start();
        dry.push(part);
        out.push(mix(running.map((suppressor, c) => suppressor.push(channelOf(part, c, channels)))));
        if (taken === border) out.push(stop());
      }
      return joinSamples(out);
    },
    flush: () => (running.length > 0 ? stop() : new Float32Array(0)),
  };
}

function channelOf(interleaved: Float32Array, channel: number, channels: number): Float32Array {
  const samples = new Float32Array(interleaved.length / channels);
  for (let i = 0; i < samples.length; i++) samples[i] = interleaved[i * channels + channel] ?? 0;
  return samples;
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
