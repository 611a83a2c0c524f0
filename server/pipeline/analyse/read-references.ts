import { open, type FileHandle } from 'node:fs/promises';
import type { VideoStreamInfo } from '#server/media/probe.ts';
import type { VideoPacket } from './read-packets.ts';

/** Bytes read at the head of a coded picture: parameter sets and messages come before its first slice. */
const HEAD_BYTES = 4096;
/** NAL unit types of coded slices (ITU-T H.264, table 7-1). */
const SLICE_TYPES = new Set([1, 2, 5]);
/** Codecs whose B pictures are never referred to. */
const PLAIN_B = new Set(['mpeg1video', 'mpeg2video', 'mpeg4', 'msmpeg4v2', 'h263']);

/**
 * Which of some coded pictures no other picture refers to, so that damage in them stays in them. H.264 says
 * it in each slice (`nal_ref_idc` 0, ITU-T H.264 7.4.1); in older codecs every B picture is such.
 * Anything unsure counts as referred to.
 * @param wanted places in `packets`
 * @param typeOf coding type of a packet's picture as the decoder named it, or null
 */
export async function readDisposable(
  inputPath: string,
  stream: VideoStreamInfo,
  packets: readonly VideoPacket[],
  wanted: Iterable<number>,
  typeOf: (packet: number) => string | null,
): Promise<Set<number>> {
  const disposable = new Set<number>();
  const places = new Set(wanted);
  if (places.size === 0) return disposable;
  if (PLAIN_B.has(stream.codec)) {
    for (const packet of places) if (typeOf(packet) === 'B') disposable.add(packet);
    return disposable;
  }
  if (stream.codec !== 'h264') return disposable;
  const file = await open(inputPath, 'r');
  try {
    for (const place of places) {
      const packet = packets[place];
      if (packet && (await isDisposableH264(file, packet))) disposable.add(place);
    }
  } finally {
    await file.close();
  }
  return disposable;
}

async function isDisposableH264(file: FileHandle, packet: VideoPacket): Promise<boolean> {
  if (packet.offsetBytes === null || packet.keyframe) return false;
  const head = Buffer.alloc(Math.min(HEAD_BYTES, packet.sizeBytes));
  const { bytesRead } = await file.read(head, 0, head.length, packet.offsetBytes);
  return firstSliceReference(head.subarray(0, bytesRead), packet.sizeBytes) === 0;
}

/**
 * `nal_ref_idc` of the first slice in a length-prefixed (four bytes) H.264 sample; null when none is found
 * or the lengths make no sense.
 */
export function firstSliceReference(head: Buffer, sampleBytes: number): number | null {
  let at = 0;
  while (at + 5 <= head.length) {
    const length = head.readUInt32BE(at);
    const header = head[at + 4] ?? 0;
    if (length < 1 || at + 4 + length > sampleBytes || (header & 0x80) !== 0) return null;
    if (SLICE_TYPES.has(header & 0x1f)) return (header >> 5) & 3;
    at += 4 + length;
  }
  return null;
}
