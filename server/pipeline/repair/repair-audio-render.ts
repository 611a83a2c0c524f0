import { open } from 'node:fs/promises';
import { decodeSound } from '#server/media/pcm.ts';
import type { SoundClock } from '#server/media/pcm-clock.ts';
import type { MediaInfo } from '#server/media/probe.ts';
import type { ToolPaths } from '#server/media/tools.ts';
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
/** Fade at the edges of inserted silence, ms: enough against clicks. */
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
    const holes = createHoleFiller(render.fillings, channels, Math.round((EDGE_MS / 1000) * clock.rateHz));
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

function createSpanCleaner(
  wind: { readonly shapes: readonly WindShape[]; readonly spans: readonly SampleSpan[] },
  channels: number,
  rateHz: number,
): Cleaner {
  const fade = Math.max(1, Math.round((FADE_MS / 1000) * rateHz));
  const suppressors = Array.from({ length: channels }, (_, c) => {
    const shape = wind.shapes[c];
    if (!shape) throw new RangeError('one wind shape for each channel');
    return createWindSuppressor(rateHz, shape);
  });
  let dry: Float32Array = new Float32Array(0);
  let position = 0;
  const mix = (wet: readonly Float64Array[]): Float32Array => {
    const count = wet[0]?.length ?? 0;
    const out = new Float32Array(count * channels);
    for (let i = 0; i < count; i++) {
      const weight = wetWeight(wind.spans, position + i, fade);
      for (let c = 0; c < channels; c++) {
        const original = dry[i * channels + c] ?? 0;
        const cleaned = wet[c]?.[i] ?? 0;
        out[i * channels + c] = weight === 0 ? original : original + weight * (cleaned - original);
      }
    }
    position += count;
    dry = dry.slice(count * channels);
    return out;
  };
  return {
    take(interleaved) {
      const joined = new Float32Array(dry.length + interleaved.length);
      joined.set(dry);
      joined.set(interleaved, dry.length);
      dry = joined;
      return mix(
        suppressors.map((suppressor, c) => {
          const channel = new Float64Array(interleaved.length / channels);
          for (let i = 0; i < channel.length; i++) channel[i] = interleaved[i * channels + c] ?? 0;
          return suppressor.push(channel);
        }),
      );
    },
    flush: () => mix(suppressors.map((suppressor) => suppressor.flush())),
  };
}

function createHoleFiller(fillings: readonly Filling[], channels: number, edge: number) {
  let position = 0;
  let next = 0;
  return {
    /** The samples with silence put in where it belongs, in pieces. */
    take(interleaved: Float32Array): Float32Array[] {
      const count = interleaved.length / channels;
      const pieces: Float32Array[] = [];
      const samples = interleaved.slice();
      for (const { beforeSample } of fillings) {
        for (let d = -edge; d < edge; d++) {
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
        const at = filling.beforeSample - position;
        if (at >= count) break;
        pieces.push(samples.subarray(done * channels, Math.max(0, at) * channels));
        pieces.push(new Float32Array(filling.sampleCount * channels));
        done = Math.max(0, at);
        next += 1;
      }
      pieces.push(samples.subarray(done * channels));
      position += count;
      return pieces.filter((piece) => piece.length > 0);
    },
  };
}
