/** Bytes of a header without checksum (ISO/IEC 14496-3, 1.A.3.2.1 and 1.A.3.2.2). */
const HEADER_BYTES = 7;
/**
 * The raw AAC frames of an ADTS stream, without the headers that each frame has there.
 * @returns null where the bytes are not such a stream from start to end
 */
export function readAdts(bytes: Buffer): Buffer[] | null {
  const frames: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    if (at + HEADER_BYTES > bytes.length || bytes.readUInt16BE(at) >> 4 !== 0xfff) return null;
    const hasChecksum = ((bytes[at + 1] ?? 0) & 1) === 0;
    const sizeBytes = (bytes.readUIntBE(at + 3, 3) >> 5) & 0x1fff;
    const headBytes = HEADER_BYTES + (hasChecksum ? 2 : 0);
    if (sizeBytes < headBytes || at + sizeBytes > bytes.length) return null;
    frames.push(bytes.subarray(at + headBytes, at + sizeBytes));
    at += sizeBytes;
  }
  return frames;
}
