import { open } from 'node:fs/promises';
import { clearsDecoder } from '#server/media/h264/unreferred.ts';
import type { VideoStreamInfo } from '#server/media/probe/probe.ts';
import type { VideoPacket } from '../packets/read-packets.ts';

/** Bytes of the length before each unit, as all writers use it; with a shorter one the rest makes no sense. */
const LENGTH_BYTES = 4;

/**
 * Whether a coded picture of an MP4 file is an IDR picture of H.264, which clears the decoder, so that nothing after it
 * depends on anything before it. When unsure, false. Always false for HEVC: if its data are damaged without a message,
 * parts that were not decoded show what was in the decoder's memory.
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
