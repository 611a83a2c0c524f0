import { open } from 'node:fs/promises';
import type { VideoStreamInfo } from '#server/media/probe.ts';
import type { VideoPacket } from './read-packets.ts';

/** Bytes at the head of a coded picture in which its first slice is looked for. */
const HEAD_BYTES = 8192;
/** Of the length in front of each unit, as all writers make it; a shorter one makes no sense of what follows. */
const LENGTH_BYTES = 4;
/** NAL unit types of slices, and that of IDR pictures among them (ITU-T H.264, table 7-1). */
const LAST_SLICE_TYPE = 5;
const IDR_TYPE = 5;

/**
 * Whether a coded picture of an MP4 file is an IDR picture of H.264: it clears the decoder, so that nothing behind it
 * depends on anything before it. Anything unsure counts as not. So does HEVC: where its data are damaged in silence, what
 * was not decoded shows what the decoder's memory held before.
 */
export async function isIdr(
  inputPath: string,
  stream: VideoStreamInfo,
  packet: VideoPacket,
): Promise<boolean> {
  if (stream.codec !== 'h264' || packet.offsetBytes === null) return false;
  const head = Buffer.alloc(Math.min(HEAD_BYTES, packet.sizeBytes));
  const file = await open(inputPath, 'r');
  try {
    const { bytesRead } = await file.read(head, 0, head.length, packet.offsetBytes);
    for (let at = 0; at + LENGTH_BYTES < bytesRead;) {
      const length = head.readUInt32BE(at);
      const type = (head[at + LENGTH_BYTES] ?? 0) & 31;
      if (length < 1 || at + LENGTH_BYTES + length > packet.sizeBytes) return false;
      if (type >= 1 && type <= LAST_SLICE_TYPE) return type === IDR_TYPE;
      at += LENGTH_BYTES + length;
    }
    return false;
  } finally {
    await file.close();
  }
}
