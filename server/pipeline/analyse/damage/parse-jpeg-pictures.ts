import { open } from 'node:fs/promises';
import { createJpegChecker } from '#server/media/jpeg/check-jpeg.ts';
import { isWithin, type ParsedPictures, type ParseInput, parsePictures } from './parse-pictures.ts';

/** Most coded bytes of the pictures of a clip that are read: half a minute of work. */
const MOST_BYTES = 500e6;

/**
 * Reads every picture of a Motion JPEG clip to its end (`createJpegChecker`), in one pass over the file.
 * @returns null for other clips, for larger ones, and when a picture is coded in an unsupported way
 * @throws MediaToolError when the job is cancelled
 */
export async function parseJpegPictures(input: ParseInput): Promise<ParsedPictures | null> {
  if (input.info.video[0]?.codec !== 'mjpeg' || !isWithin(input, MOST_BYTES)) return null;
  const file = await open(input.inputPath, 'r');
  try {
    return await parsePictures(input, file, createJpegChecker());
  } finally {
    await file.close();
  }
}
