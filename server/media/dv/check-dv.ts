/** Bytes of a block of DV, and blocks in one of its sequences (IEC 61834-2; SMPTE 314M, 4). */
const BLOCK_BYTES = 80;
const BLOCKS = 150;
const SEQUENCE_BYTES = BLOCKS * BLOCK_BYTES;
/** Sequences in a picture of 525 and of 625 lines, in each channel. */
const SEQUENCES = [10, 12] as const;
/** Header, subcode and auxiliary blocks at the start of a sequence... */
const FIRST = 6;
/** ...followed by groups of one sound block and fifteen picture blocks. */
const RUN = 16;
const PICTURE_SECTION = 4;
/** Marks with which a deck says that it could not read a block from the tape and put nothing in its place. */
const UNREAD = new Set([0x7, 0xf]);

/**
 * Whether each picture block of a DV picture is in its place, according to the number that it begins with, and was read
 * by the deck. Losses in the sound of the same picture do not count.
 * @returns `unknown` for data of another size, as from tapes other than DV, DVCAM and DVCPRO
 */
export function checkDv(bytes: Uint8Array): 'whole' | 'damaged' | 'unknown' {
  const sequences = bytes.length / SEQUENCE_BYTES;
  const inChannel = SEQUENCES.find((count) => count === sequences || 2 * count === sequences);
  if (inChannel === undefined) return 'unknown';
  for (let sequence = 0; sequence < sequences; sequence += 1) {
    for (let block = FIRST; block < BLOCKS; block += 1) {
      const place = block - FIRST;
      if (place % RUN === 0) continue;
      const at = sequence * SEQUENCE_BYTES + block * BLOCK_BYTES;
      // Picture blocks are numbered without the sound blocks.
      const number = place - Math.floor(place / RUN) - 1;
      const [section = 0, row = 0, listed = 0, status = 0] = bytes.subarray(at, at + 4);
      const isInPlace =
        section >> 5 === PICTURE_SECTION && row >> 4 === sequence % inChannel && listed === number;
      if (!isInPlace || UNREAD.has(status >> 4)) return 'damaged';
    }
  }
  return 'whole';
}
