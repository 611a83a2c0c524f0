import type { AacFrame } from './aac-frame.ts';

/** Decibels of a step of the gain: a factor of the fourth root of 2 (ISO/IEC 14496-3, 4.6.2.3.3). */
export const GAIN_STEP_DB = 1.505;

/**
 * A frame that is heard so many steps quieter, without decoding it: all scale factors are told as differences from the gain.
 * @returns its bytes; those of a channel whose gain is lower than that have the lowest
 */
export function quieterFrame({ bytes, gainsAt }: Pick<AacFrame, 'bytes' | 'gainsAt'>, steps: number): Buffer {
  const out = Buffer.from(bytes);
  for (const position of gainsAt) {
    const at = position >> 3;
    const low = 8 - (position & 7);
    const word = ((out[at] ?? 0) << 8) | (out[at + 1] ?? 0);
    const gain = (word >> low) & 0xff;
    const changed = (word & ~(0xff << low)) | (Math.max(0, gain - steps) << low);
    out[at] = changed >> 8;
    if (at + 1 < out.length) out[at + 1] = changed & 0xff;
  }
  return out;
}
