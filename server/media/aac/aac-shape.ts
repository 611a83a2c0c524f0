import type { AacFrame } from './aac-frame.ts';

/** How a frame fades out and the next one in: as a sine, or as Kaiser and Bessel's window (ISO/IEC 14496-3, 4.6.11.3.2). */
export type WindowShape = 'sine' | 'kaiser-bessel';

type Shaped = Pick<AacFrame, 'bytes' | 'shapesAt'>;

/** The shape that a frame names; null where its channels name different ones. */
export function shapeOf({ bytes, shapesAt }: Shaped): WindowShape | null {
  const named = new Set(shapesAt.map((bit) => ((bytes[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1));
  if (named.size !== 1) return null;
  return named.has(1) ? 'kaiser-bessel' : 'sine';
}

/** The bytes of a frame that names another shape. */
export function withShape({ bytes, shapesAt }: Shaped, shape: WindowShape): Buffer {
  const out = Buffer.from(bytes);
  for (const bit of shapesAt) {
    const mask = 1 << (7 - (bit & 7));
    const rest = (out[bit >> 3] ?? 0) & ~mask;
    out[bit >> 3] = shape === 'kaiser-bessel' ? rest | mask : rest;
  }
  return out;
}

/** Of the window of Kaiser and Bessel over a long frame (4.6.11.3.2). */
const LONG_ALPHA = 4;
/** Terms of the series below which nothing is left to add to. */
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

/** The rising half of a long window, as many weights as a frame lasts samples; falling, it is read backwards. */
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
  /** Which of both frames is encoded from them: the one that begins in the block, or the one that ends there. */
  readonly frame: 'begins' | 'ends';
  /** The window that the encoder lays over them, and the one that the decoder will. */
  readonly encoder: WindowShape;
  readonly decoder: WindowShape;
}

/**
 * Changes samples so that a frame which an encoder makes of them under its window holds what it would hold under the decoder's.
 *
 * The transform keeps of a half only its fold: each sample under the window, less (where the frame begins) or with (where it ends) the
 * one that lies as far from the other end (4.6.11.3.3). The weights of both have squares that sum to 1, so that adding the difference of
 * the folds by these weights gives the wanted fold with the least change.
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
