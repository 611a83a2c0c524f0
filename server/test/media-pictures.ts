import { createBitWriter } from '#server/media/h264/bits.ts';

/** Bytes without zeros, so that nothing in them looks like a length. */
export const noiseBytes = (random: () => number, bytes: number): Buffer =>
  Buffer.from(Array.from({ length: bytes }, () => 16 + Math.floor(239 * random())));

/**
 * A picture of one slice of noise behind its length, as it lies in MP4, for the parameter sets of `mainSets`.
 * @param frameNum less than 16
 */
export function pictureBytes(
  random: () => number,
  { frameNum, isKey, sizeBytes }: { frameNum: number; isKey: boolean; sizeBytes: number },
): Buffer {
  const writer = createBitWriter();
  writer.bits(8, isKey ? 0x65 : 0x41);
  writer.ue(0);
  writer.ue(isKey ? 7 : 5);
  writer.ue(0);
  writer.bits(4, frameNum);
  if (isKey) writer.ue(0);
  writer.alignWithOnes();
  const head = writer.bytes();
  const length = Buffer.alloc(4);
  length.writeUInt32BE(sizeBytes);
  return Buffer.concat([length, head, noiseBytes(random, sizeBytes - head.length)]);
}
