import type { AacFrame } from './aac-frame.ts';

/** How a frame fades out and the next one in: as a sine, or as a Kaiser-Bessel window (ISO/IEC 14496-3, 4.6.11.3.2). */
export type WindowShape = 'sine' | 'kaiser-bessel';

type Shaped = Pick<AacFrame, 'bytes' | 'shapesAt'>;

/** The shape that a frame states; null where its channels state different ones. */
export function shapeOf({ bytes, shapesAt }: Shaped): WindowShape | null {
  const named = new Set(shapesAt.map((bit) => ((bytes[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1));
  if (named.size !== 1) return null;
  return named.has(1) ? 'kaiser-bessel' : 'sine';
}

/** The bytes of a frame that states another shape. */
export function withShape({ bytes, shapesAt }: Shaped, shape: WindowShape): Buffer {
  const out = Buffer.from(bytes);
  for (const bit of shapesAt) {
    const mask = 1 << (7 - (bit & 7));
    const rest = (out[bit >> 3] ?? 0) & ~mask;
    out[bit >> 3] = shape === 'kaiser-bessel' ? rest | mask : rest;
  }
  return out;
}

/** Alpha of the Kaiser-Bessel window of a long frame (4.6.11.3.2). */
const LONG_ALPHA = 4;
/** Terms of the series below this no longer change the sum. */
const SMALLEST_TERM = 1e-12;

/** Modified Bessel function of the first kind and order zero, by its series. */
function besselZero(x: number): number {
  let sum = 1;
  let term = 1;
  for (let k = 1; term > SMALLEST_TERM * sum; k += 1) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}

/** The rising half of a long window, one weight per sample of a frame; the falling half is the same backwards. */
export function risingWindow(shape: WindowShape, frameSamples: number): Float64Array {
  if (shape === 'sine') {
    return Float64Array.from({ length: frameSamples }, (_, at) =>
      Math.sin((Math.PI * (at + 0.5)) / (2 * frameSamples)),
    );
  }
  const kernel = Float64Array.from({ length: frameSamples + 1 }, (_, at) =>
    besselZero(Math.PI * LONG_ALPHA * Math.sqrt(1 - ((2 * at) / frameSamples - 1) ** 2)),
  );
  const whole = kernel.reduce((sum, value) => sum + value, 0);
  let sum = 0;
  return Float64Array.from({ length: frameSamples }, (_, at) => {
    sum += kernel[at] ?? 0;
    return Math.sqrt(sum / whole);
  });
}

export interface Refold {
  /** Interleaved samples of the block in which two frames overlap; changed. */
  readonly samples: Float32Array;
  readonly channels: number;
  /** Which of the two frames is encoded from them: the one that begins in the block, or the one that ends there. */
  readonly frame: 'begins' | 'ends';
  /** The window that the encoder applies to them, and the one that the decoder will use. */
  readonly encoder: WindowShape;
  readonly decoder: WindowShape;
}

/**
 * Changes samples so that a frame encoded from them under the encoder's window holds what it would hold under the
 * decoder's.
 *
 * The transform keeps only a fold of each half: each sample under the window, minus (where the frame begins) or plus
 * (where it ends) the one equally far from the other end (4.6.11.3.3). The squares of the two weights sum to 1, so
 * adding the difference of the folds with these weights gives the wanted fold with the least change.
 */
export function refold({ samples, channels, frame, encoder, decoder }: Refold): void {
  if (encoder === decoder) return;
  const count = samples.length / channels;
  const [made, wanted] = [risingWindow(encoder, count), risingWindow(decoder, count)];
  for (let early = 0; early < count >> 1; early += 1) {
    const late = count - 1 - early;
    // The falling half is the rising one backwards.
    const [low, high] = frame === 'begins' ? [early, late] : [late, early];
    const sign = frame === 'begins' ? -1 : 1;
    const [madeEarly, madeLate] = [made[low] ?? 0, sign * (made[high] ?? 0)];
    const [wantedEarly, wantedLate] = [wanted[low] ?? 0, sign * (wanted[high] ?? 0)];
    for (let channel = 0; channel < channels; channel += 1) {
      const [a, b] = [early * channels + channel, late * channels + channel];
      const [x, y] = [samples[a] ?? 0, samples[b] ?? 0];
      const missing = (wantedEarly - madeEarly) * x + (wantedLate - madeLate) * y;
      samples[a] = x + madeEarly * missing;
      samples[b] = y + madeLate * missing;
    }
  }
}
