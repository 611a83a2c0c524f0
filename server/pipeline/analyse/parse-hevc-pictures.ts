import { open } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { H264Error } from '#server/media/h264/h264-error.ts';
import { splitSample } from '#server/media/h264/nal.ts';
import { createHevcSliceChecker, type HevcSliceChecker } from '#server/media/hevc/check-hevc-slices.ts';
import { isHevcParameterSet } from '#server/media/hevc/hevc-nal.ts';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';
import { createSampleReader } from '#server/media/mp4/sample-reader.ts';
import type { MediaInfo } from '#server/media/probe.ts';
import { MediaToolError } from '#server/media/tools.ts';
import { readHevcSettings } from './read-hevc-settings.ts';
import type { VideoPacket } from './read-packets.ts';

export interface ParseInput {
  readonly inputPath: string;
  readonly info: MediaInfo;
  /** Decode order. */
  readonly packets: readonly VideoPacket[];
  readonly signal?: AbortSignal;
}

export interface ParsedPictures {
  /** Places in the packets, rising, of pictures whose data cannot be read to their end. */
  readonly damaged: readonly number[];
  /** Number of pictures that were read to their end. */
  readonly whole: number;
  /** Whether the stream may hold syntax that was written from the standard alone: no clip at hand has it. */
  readonly isRare: boolean;
}

/** Coded bytes of the pictures of a clip that are parsed at most: half a minute of work. */
const MOST_BYTES = 150e6;

/**
 * Parses the slices of every HEVC picture of an MP4 to their end (`createHevcSliceChecker`), in one pass over the file.
 * @returns null for other clips, for larger ones, and where anything is coded in a way that is not supported
 * @throws MediaToolError when the job is cancelled
 */
export async function parseHevcPictures(input: ParseInput): Promise<ParsedPictures | null> {
  const { packets, info } = input;
  const stream = info.video[0];
  if (info.format !== 'mov' || stream?.codec !== 'hevc') return null;
  if (packets.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) > MOST_BYTES) return null;
  const file = await open(input.inputPath, 'r');
  try {
    const settings = await readHevcSettings(file, stream.index);
    if (!settings || settings.fragmented) return null;
    const { lengthSize, parameterSets } = settings;
    const checker = createHevcSliceChecker(parameterSets.filter(isHevcParameterSet));
    const read = createSampleReader(
      file,
      packets.map(({ offsetBytes, sizeBytes }) => ({ offset: offsetBytes ?? 0, sizeBytes })),
    );
    const damaged: number[] = [];
    for (const [place, { offsetBytes, sizeBytes }] of packets.entries()) {
      if (input.signal?.aborted)
        throw new MediaToolError('cancelled', 'parse the coded pictures: cancelled.');
      if (offsetBytes === null) return null;
      const sample = await read(place);
      const verdict = sample.length < sizeBytes ? 'damaged' : judge(checker, sample, lengthSize);
      if (verdict === 'unknown') return null;
      if (verdict === 'damaged') damaged.push(place);
      await setImmediate();
    }
    return { damaged, whole: packets.length - damaged.length, isRare: checker.maySeeRareSyntax() };
  } catch (error) {
    if (error instanceof Mp4Error) return null;
    throw error;
  } finally {
    await file.close();
  }
}

function judge(checker: HevcSliceChecker, sample: Buffer, lengthSize: number) {
  try {
    return checker.check(splitSample(sample, lengthSize));
  } catch (error) {
    if (error instanceof H264Error) return 'damaged';
    throw error;
  }
}
