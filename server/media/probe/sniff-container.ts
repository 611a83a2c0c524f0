import { open } from 'node:fs/promises';

/** Demuxers with which uploaded bytes may be opened (ffmpeg names). */
export type ContainerFormat = 'mov' | 'avi' | 'matroska' | 'mpegts' | 'mpeg';

const MOV_BOXES = new Set(['ftyp', 'moov', 'mdat', 'wide', 'free', 'skip', 'pnot', 'styp', 'moof', 'uuid']);

/**
 * Recognises the container by its first bytes, so that we choose the demuxer and the content never does: a playlist
 * named clip.mp4 must not be able to open other files. Signatures: ISO/IEC 14496-12 box types, RIFF/AVI, EBML (RFC
 * 8794), MPEG-TS sync bytes (ISO/IEC 13818-1).
 * @param head the first bytes of the file, 192 or more where the file has them
 * @returns null when the bytes are none of these
 */
export function sniffContainer(head: Buffer): ContainerFormat | null {
  if (head.length < 12) return null;
  if (MOV_BOXES.has(head.toString('latin1', 4, 8))) return 'mov';
  const riff = head.toString('latin1', 0, 4);
  if (riff === 'RIFF' && head.toString('latin1', 8, 12) === 'AVI ') return 'avi';
  const magic = head.readUInt32BE(0);
  if (magic === 0x1a45dfa3) return 'matroska';
  if (magic === 0x000001ba) return 'mpeg';
  if (head[0] === 0x47 && head.length > 188 && head[188] === 0x47) return 'mpegts';
  return null;
}

/** `sniffContainer` on a file. */
export async function sniffFile(path: string): Promise<ContainerFormat | null> {
  const file = await open(path, 'r');
  try {
    const head = Buffer.alloc(192);
    const { bytesRead } = await file.read(head, 0, head.length, 0);
    return sniffContainer(head.subarray(0, bytesRead));
  } finally {
    await file.close();
  }
}
