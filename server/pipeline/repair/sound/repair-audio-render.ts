import { createSpanCleaner, type WindToTakeOut } from './repair-audio-clean.ts';
import { createHoleFiller, type Filling } from './repair-audio-holes.ts';
import { readRawSound, type RawSound } from './repair-audio-raw.ts';

export interface RenderSound {
  readonly raw: RawSound;
  readonly rateHz: number;
  /** Null to leave the sound unchanged (holes only). */
  readonly wind: WindToTakeOut | null;
  /** Sorted by place. */
  readonly fillings: readonly Filling[];
}

/**
 * Renders the sound of a clip with wind removed from the windy spans and holes filled with silence, short ones with the
 * fading sound before them, as raw 32-bit floats, interleaved. Every other sample is as decoded, and none moves but by
 * what is filled in before it.
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

/** The bytes of samples, in the same memory. */
export function toBuffer({ buffer, byteOffset, byteLength }: Float32Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
