import { open } from 'node:fs/promises';
import { clearsDecoder } from '#server/media/h264/unreferred.ts';
import type { VideoStreamInfo } from '#server/media/probe/probe.ts';
import type { VideoPacket } from '../packets/read-packets.ts';

/** Of the length in front of each unit, as all writers make it; a shorter one makes no sense of what follows. */
const LENGTH_BYTES = 4;

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
  const { offsetBytes: offset, sizeBytes } = packet;
  if (stream.codec !== 'h264' || offset === null) return false;
  const file = await open(inputPath, 'r');
  try {
    return await clearsDecoder(file, { offset, sizeBytes }, LENGTH_BYTES);
  } finally {
    await file.close();
  }
}
