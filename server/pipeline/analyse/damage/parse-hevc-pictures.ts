import { open } from 'node:fs/promises';
import { H264Error } from '#server/media/h264/h264-error.ts';
import { splitSample } from '#server/media/h264/nal.ts';
import { createHevcSliceChecker, type HevcSliceChecker } from '#server/media/hevc/check-hevc-slices.ts';
import { isHevcParameterSet } from '#server/media/hevc/hevc-nal.ts';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';
import { isWithin, type ParsedPictures, type ParseInput, parsePictures } from './parse-pictures.ts';
import { readHevcSettings } from './read-hevc-settings.ts';

export interface ParsedHevc extends ParsedPictures {
  /** Whether the stream may use syntax that was implemented from the standard alone, because no clip at hand has it. */
  readonly isRare: boolean;
}

/** Most coded bytes of the pictures of a clip that are parsed: half a minute of work. */
const MOST_BYTES = 150e6;

/**
 * Parses the slices of every HEVC picture of an MP4 to their end (`createHevcSliceChecker`), in one pass over the file.
 * @returns null for other clips, for larger ones, and when anything is coded in an unsupported way
 * @throws MediaToolError when the job is cancelled
 */
export async function parseHevcPictures(input: ParseInput): Promise<ParsedHevc | null> {
  const stream = input.info.video[0];
  if (input.info.format !== 'mov' || stream?.codec !== 'hevc' || !isWithin(input, MOST_BYTES)) return null;
  const file = await open(input.inputPath, 'r');
  try {
    const settings = await readHevcSettings(file, stream.index);
    if (!settings || settings.fragmented) return null;
    const { lengthSize, parameterSets } = settings;
    const checker = createHevcSliceChecker(parameterSets.filter(isHevcParameterSet));
    const parsed = await parsePictures(input, file, (sample) => judge(checker, sample, lengthSize));
    return parsed && { ...parsed, isRare: checker.maySeeRareSyntax() };
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
