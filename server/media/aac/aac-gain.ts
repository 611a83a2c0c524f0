import type { AacFrame } from './aac-frame.ts';

/** The gain of each channel of a frame, in steps of 1.5 dB. */
export function readGains({ bytes, gainsAt }: Pick<AacFrame, 'bytes' | 'gainsAt'>): number[] {
  return gainsAt.map((position) => gainAt(bytes, position));
}

function gainAt(bytes: Buffer, position: number): number {
  const word = ((bytes[position >> 3] ?? 0) << 8) | (bytes[(position >> 3) + 1] ?? 0);
  return (word >> (8 - (position & 7))) & 0xff;
}

/**
 * Makes a frame quieter by so many steps without decoding it: all scale factors are stored as differences from the
 * gain.
 * @param steps of 1.5 dB each: a factor of the fourth root of 2 (ISO/IEC 14496-3, 4.6.2.3.3)
 * @returns the frame's new bytes; a gain that would become negative is set to the lowest
 */
export function quieterFrame({ bytes, gainsAt }: Pick<AacFrame, 'bytes' | 'gainsAt'>, steps: number): Buffer {
  const out = Buffer.from(bytes);
  for (const position of gainsAt) {
    const at = position >> 3;
    const low = 8 - (position & 7);
    const word = ((out[at] ?? 0) << 8) | (out[at + 1] ?? 0);
    const gain = gainAt(out, position);
    const changed = (word & ~(0xff << low)) | (Math.max(0, gain - steps) << low);
    out[at] = changed >> 8;
    if (at + 1 < out.length) out[at + 1] = changed & 0xff;
  }
  return out;
}
