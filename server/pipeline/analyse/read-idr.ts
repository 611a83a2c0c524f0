import { open } from 'node:fs/promises';
import type { VideoStreamInfo } from '#server/media/probe.ts';
import type { VideoPacket } from './read-packets.ts';

/** Bytes at the head of a coded picture in which its first slice is looked for. */
const HEAD_BYTES = 8192;
/** Of the length in front of each unit, as all writers make it; a shorter one makes no sense of what follows. */
const LENGTH_BYTES = 4;

interface Syntax {
  readonly typeOf: (firstByte: number) => number;
  readonly isSlice: (type: number) => boolean;
  readonly isIdr: (type: number) => boolean;
}

/** NAL unit types: ITU-T H.264, table 7-1, and ITU-T H.265, table 7-1. */
const SYNTAX: Readonly<Record<string, Syntax>> = {
  h264: {
    typeOf: (byte) => byte & 31,
    isSlice: (type) => type >= 1 && type <= 5,
    isIdr: (type) => type === 5,
  },
  hevc: {
    typeOf: (byte) => (byte >> 1) & 63,
    isSlice: (type) => type < 32,
    isIdr: (type) => type === 19 || type === 20,
  },
};

/**
 * Whether a coded picture of an MP4 file clears the decoder (IDR), so that nothing behind it refers to anything
 * before it. Anything unsure counts as not.
 */
export async function isIdr(
  inputPath: string,
  stream: VideoStreamInfo,
  packet: VideoPacket,
): Promise<boolean> {
  const syntax = SYNTAX[stream.codec];
  if (!syntax || packet.offsetBytes === null) return false;
  const head = Buffer.alloc(Math.min(HEAD_BYTES, packet.sizeBytes));
  const file = await open(inputPath, 'r');
  try {
    const { bytesRead } = await file.read(head, 0, head.length, packet.offsetBytes);
    for (let at = 0; at + LENGTH_BYTES < bytesRead;) {
      const length = head.readUInt32BE(at);
      const type = syntax.typeOf(head[at + LENGTH_BYTES] ?? 0);
      if (length < 1 || at + LENGTH_BYTES + length > packet.sizeBytes) return false;
      if (syntax.isSlice(type)) return syntax.isIdr(type);
      at += LENGTH_BYTES + length;
    }
    return false;
  } finally {
    await file.close();
  }
}
