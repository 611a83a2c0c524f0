import { open } from 'node:fs/promises';

/** A stretch of decoded samples, end excluded. */
export interface SampleSpan {
  readonly first: number;
  readonly end: number;
}

/** Decoded sound on the disk: 32-bit floats, interleaved, at the stream's own rate. */
export interface RawSound {
  readonly path: string;
  readonly channels: number;
}

const NUMBER_BYTES = 4;
/** Most samples of one channel that are read at once: 1.4 s at 48 kHz, 0.5 MB of stereo. */
export const CHUNK_SAMPLES = 1 << 16;

/**
 * Reads the samples of a span in chunks, up to the end of the file if that comes first. Each chunk is an array of its
 * own.
 */
export async function* readRawSound(
  { path, channels }: RawSound,
  { first, end }: SampleSpan,
): AsyncGenerator<Float32Array<ArrayBuffer>> {
  const file = await open(path, 'r');
  try {
    const frameBytes = channels * NUMBER_BYTES;
    for (let at = first; at < end;) {
      const samples = new Float32Array(Math.min(CHUNK_SAMPLES, end - at) * channels);
      const bytes = new Uint8Array(samples.buffer);
      const { bytesRead } = await file.read(bytes, 0, bytes.length, at * frameBytes);
      const count = Math.floor(bytesRead / frameBytes);
      if (count === 0) return;
      yield count * channels === samples.length ? samples : samples.slice(0, count * channels);
      at += count;
    }
  } finally {
    await file.close();
  }
}

/**
 * The samples of one channel, or the mean of all.
 * @param into where they are written, with room for all of them; a new array when absent
 * @returns as many samples as there are; with a single channel, the given ones
 */
export function channelOf(
  interleaved: Float32Array,
  channel: number | 'mean',
  channels: number,
  into?: Float32Array,
): Float32Array {
  if (channels === 1) return interleaved;
  const count = interleaved.length / channels;
  const samples = into?.subarray(0, count) ?? new Float32Array(count);
  if (channel === 'mean') {
    for (let i = 0, at = 0; i < count; i += 1) {
      let sum = 0;
      for (let c = 0; c < channels; c += 1, at += 1) sum += interleaved[at] ?? 0;
      samples[i] = sum / channels;
    }
  } else for (let i = 0, at = channel; i < count; i += 1, at += channels) samples[i] = interleaved[at] ?? 0;
  return samples;
}
