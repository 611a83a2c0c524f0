import type { FileHandle } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { createSampleReader } from '#server/media/mp4/sample-reader.ts';
import type { MediaInfo } from '#server/media/probe/probe.ts';
import { MediaToolError } from '#server/media/ffmpeg/tools.ts';
import type { VideoPacket } from '../packets/read-packets.ts';

export interface ParseInput {
  readonly inputPath: string;
  readonly info: MediaInfo;
  /** In decode order. */
  readonly packets: readonly VideoPacket[];
  readonly signal?: AbortSignal;
}

export interface ParsedPictures {
  /** Places in `packets`, ascending, of pictures whose data cannot be read to their end. */
  readonly damaged: readonly number[];
  /** Number of pictures that were read to their end. */
  readonly whole: number;
}

/** Whether the coded bytes stay within a limit. */
export function isWithin({ packets }: Pick<ParseInput, 'packets'>, mostBytes: number): boolean {
  return packets.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) <= mostBytes;
}

/**
 * Judges every coded picture of a clip by its bytes, in one pass over the file; one that is cut off is damaged.
 * @returns null when the place or the coding of a picture is unknown
 * @throws MediaToolError when the job is cancelled
 */
export async function parsePictures(
  { packets, signal }: Pick<ParseInput, 'packets' | 'signal'>,
  file: FileHandle,
  judge: (sample: Buffer) => 'whole' | 'damaged' | 'unknown',
): Promise<ParsedPictures | null> {
  const read = createSampleReader(
    file,
    packets.map(({ offsetBytes, sizeBytes }) => ({ offset: offsetBytes ?? 0, sizeBytes })),
  );
  const damaged: number[] = [];
  for (const [place, { offsetBytes, sizeBytes }] of packets.entries()) {
    if (signal?.aborted) throw new MediaToolError('cancelled', 'parse the coded pictures: cancelled.');
    if (offsetBytes === null) return null;
    const sample = await read(place);
    const verdict = sample.length < sizeBytes ? 'damaged' : judge(sample);
    if (verdict === 'unknown') return null;
    if (verdict === 'damaged') damaged.push(place);
    await setImmediate();
  }
  return { damaged, whole: packets.length - damaged.length };
}
