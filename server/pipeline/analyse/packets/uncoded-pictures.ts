import { open } from 'node:fs/promises';
import { createSampleReader } from '#server/media/mp4/sample-reader.ts';
import { countPictures, isUncoded, shortestPicture } from '#server/media/mpeg4/uncoded-picture.ts';
import type { MediaInfo } from '#server/media/probe/probe.ts';
import type { VideoPacket } from './read-packets.ts';

/**
 * Leaves out MPEG-4 packets that code no picture: none comes out of a decoder for them, as for empty chunks. Where B
 * pictures are packed with the ones that they refer to, such a packet holds the place of the one that lies in an earlier
 * packet, and stays.
 * @param packets in decode order
 */
export async function withoutUncoded(
  inputPath: string,
  { video: [stream] }: Pick<MediaInfo, 'video'>,
  packets: readonly VideoPacket[],
): Promise<readonly VideoPacket[]> {
  if (stream?.codec !== 'mpeg4') return packets;
  const mostBytes = shortestPicture(stream.width, stream.height);
  if (packets.every(({ sizeBytes }) => sizeBytes > mostBytes)) return packets;
  const places = packets.map(({ offsetBytes, sizeBytes }) => ({ offset: offsetBytes ?? 0, sizeBytes }));
  const file = await open(inputPath, 'r');
  try {
    const read = createSampleReader(file, places);
    const coded: VideoPacket[] = [];
    let packed = 0;
    for (const [place, packet] of packets.entries()) {
      const bytes = packet.offsetBytes === null ? Buffer.alloc(0) : await read(place);
      const uncoded = isUncoded(bytes, mostBytes);
      if (uncoded && packed === 0) continue;
      coded.push(packet);
      packed += uncoded ? -1 : Math.max(0, countPictures(bytes) - 1);
    }
    return coded;
  } finally {
    await file.close();
  }
}
