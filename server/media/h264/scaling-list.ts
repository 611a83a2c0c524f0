import type { BitReader, BitWriter } from './bits.ts';

/** Skips `count` scaling lists (ITU-T H.264, 7.3.2.1.1.1): six of 16 numbers, the rest of 64. */
export function skipScalingLists(reader: BitReader, count: number): void {
  for (let list = 0; list < count; list++) {
    if (!reader.flag()) continue;
    let last = 8;
    let next = 8;
    for (let index = 0; index < (list < 6 ? 16 : 64); index++) {
      if (next !== 0) next = (last + reader.se() + 256) % 256;
      last = next === 0 ? last : next;
    }
  }
}

/**
 * Writes `count` lists of the constant value 16, which x264 uses, so that lists of the sequence do not apply. Each list
 * is the step from 8 to 16, then the mark "repeat the last value" (next scale of 0).
 */
export function writeFlatScalingLists(writer: BitWriter, count: number): void {
  for (let list = 0; list < count; list++) {
    writer.flag(true);
    writer.se(8);
    writer.se(-16);
  }
}
