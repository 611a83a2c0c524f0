import { CHUNK_SAMPLES } from './repair-audio-raw.ts';
import { BRIDGED_MS } from './repair-audio-sync.ts';

/** Silence to insert before a decoded sample. */
export interface Filling {
  readonly beforeSample: number;
  readonly sampleCount: number;
}

/** Fade at the edges of what is inserted, ms: enough to avoid clicks. */
const EDGE_MS = 3;

/** Fills the holes of a sound that arrives in parts, one after the other. */
export function createHoleFiller(fillings: readonly Filling[], channels: number, rateHz: number) {
  const edge = Math.round((EDGE_MS / 1000) * rateHz);
  const bridged = Math.round((BRIDGED_MS / 1000) * rateHz);
  /** Number of samples taken, and the next filling. */
  let position = 0;
  let next = 0;
  /** The last samples before the current ones. */
  let past = new Float32Array(0);

  const fillingOf = (sampleCount: number, before: Float32Array): Float32Array[] =>
    sampleCount <= bridged ? [fadingMirror(before, sampleCount, channels)] : silence(sampleCount, channels);

  return {
    /** The samples with silence, or the fading sound before a hole, inserted in place; in pieces. */
    take(interleaved: Float32Array): Float32Array[] {
      if (fillings.length === 0) return interleaved.length > 0 ? [interleaved] : [];
      const count = interleaved.length / channels;
      const pieces: Float32Array[] = [];
      const samples = interleaved.slice();
      for (const { beforeSample, sampleCount } of fillings) {
        // What bridges a hole continues from the last sample before it.
        const fadesOut = sampleCount > bridged;
        fadeAround(samples, channels, beforeSample - position, { before: fadesOut ? edge : 0, after: edge });
      }
      let done = 0;
      for (let filling = fillings[next]; filling; filling = fillings[next]) {
        const at = Math.max(0, filling.beforeSample - position);
        if (at >= count) break;
        pieces.push(samples.subarray(done * channels, at * channels));
        const before = joinTail(past, interleaved.subarray(0, at * channels), bridged * channels);
        pieces.push(...fillingOf(filling.sampleCount, before));
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

/**
 * Fades samples out towards a border and in after it, as far as they are there.
 * @param samples interleaved, changed in place
 * @param border sample of one channel; may lie outside
 * @param reach of both fades, samples
 */
function fadeAround(
  samples: Float32Array,
  channels: number,
  border: number,
  reach: { readonly before: number; readonly after: number },
): void {
  const count = samples.length / channels;
  for (let d = -reach.before; d < reach.after; d++) {
    const i = border + d;
    if (i < 0 || i >= count) continue;
    const gain = d < 0 ? -d / (reach.before + 1) : (d + 1) / (reach.after + 1);
    for (let c = 0; c < channels; c++) samples[i * channels + c] = (samples[i * channels + c] ?? 0) * gain;
  }
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
