const VOP_START = Buffer.from([0, 0, 1, 0xb6]);
/** `vop_coding_type` of a picture that is predicted from the one before it. */
const PREDICTED = 1;
/** Luma samples in each direction of a macroblock. */
const BLOCK = 16;

/** Most bytes of a packet that can be too short for a picture of this size. */
export const shortestPicture = (width: number, height: number): number =>
  Math.floor((Math.ceil(width / BLOCK) * Math.ceil(height / BLOCK) - 1) / 8);

/**
 * Whether a packet says that no picture is coded (`vop_coded` 0, ISO/IEC 14496-2, 6.3.5): the one before it stays. Its
 * size tells, as each macroblock of a predicted picture takes a bit at least (6.2.6). Recorders of screens and Xvid
 * write them where nothing moves.
 * @param packet its bytes
 * @param mostBytes as by `shortestPicture`
 */
export function isUncoded(packet: Buffer, mostBytes: number): boolean {
  if (packet.length > mostBytes || !packet.subarray(0, VOP_START.length).equals(VOP_START)) return false;
  return (packet[VOP_START.length] ?? 0) >> 6 === PREDICTED;
}

/** How many pictures begin in a packet: two where a B picture is packed with the one that it refers to. */
export function countPictures(packet: Buffer): number {
  let count = 0;
  for (let at = packet.indexOf(VOP_START); at >= 0; at = packet.indexOf(VOP_START, at + 1)) count += 1;
  return count;
}
