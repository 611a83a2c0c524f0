import { open } from 'node:fs/promises';
import type { BadPacket } from './detect-corruption.ts';
import type { DamageInput } from './find-damage.ts';
import { readSequence, readSlice } from './read-references.ts';

/**
 * Finds pictures that never come out although their data are intact. If the picture at which frame numbers begin anew
 * is lost, ffmpeg takes the display order of the following ones for an earlier one (order counts that derive from frame
 * numbers, ITU-T H.264, 8.2.1.3). It drops all pictures until the numbers begin anew again: 15 with the shortest
 * numbers. They are recognised by numbers that continue from picture to picture after the lost ones.
 * @param bad what is known to be damaged
 * @returns places in `packets`
 */
export async function findWholeUnshown(
  { inputPath, stream, packets, index }: DamageInput,
  bad: readonly BadPacket[],
): Promise<Set<number>> {
  const whole = new Set<number>();
  const torn = new Set(bad.flatMap(({ packet, evidence }) => (evidence === 'structure' ? [packet] : [])));
  const unshown = new Set(index.undecoded);
  const isUnshown = (packet: number) => unshown.has(index.frameOfPacket[packet] ?? -1);
  if (stream.codec !== 'h264' || torn.size === 0 || unshown.size <= torn.size) return whole;
  const file = await open(inputPath, 'r');
  try {
    const sequence = await readSequence(file, stream.index);
    if (!sequence) return whole;
    const range = 2 ** sequence.sps.frameNumBits;
    for (const lost of torn) {
      if (torn.has(lost + 1)) continue;
      let first = lost;
      while (torn.has(first - 1)) first -= 1;
      let before = (await readSlice(file, packets[first - 1], sequence))?.link ?? null;
      // At least one of the lost pictures is a reference picture, or no number would be missing.
      let missing = lost - first + 1;
      for (let place = lost + 1; place < packets.length && isUnshown(place) && !torn.has(place); place += 1) {
        const link: typeof before = (await readSlice(file, packets[place], sequence))?.link ?? null;
        if (!before || !link || link.idr || link.refIdc === 0) break;
        const left = (link.frameNum - before.frameNum - 1 + 2 * range) % range;
        if (left > missing || (left === 0 && missing > 0)) break;
        whole.add(place);
        [before, missing] = [link, 0];
      }
    }
    return whole;
  } finally {
    await file.close();
  }
}
