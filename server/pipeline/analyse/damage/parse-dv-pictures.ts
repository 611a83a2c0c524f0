import { open } from 'node:fs/promises';
import { checkDv } from '#server/media/dv/check-dv.ts';
import { isWithin, type ParsedPictures, type ParseInput, parsePictures } from './parse-pictures.ts';

/** Most coded bytes of the pictures of a clip that are read: the largest upload. */
const MOST_BYTES = 2 ** 31;

/**
 * Checks whether each picture of a DV clip has all its blocks (`checkDv`), in one pass over the file. The decoder
 * replaces missing blocks without a message, or with messages that it also prints for intact pictures.
 * @returns null for other clips, and when a picture is of another kind
 * @throws MediaToolError when the job is cancelled
 */
export async function parseDvPictures(input: ParseInput): Promise<ParsedPictures | null> {
  if (input.info.video[0]?.codec !== 'dvvideo' || !isWithin(input, MOST_BYTES)) return null;
  const file = await open(input.inputPath, 'r');
  try {
    return await parsePictures(input, file, checkDv);
  } finally {
    await file.close();
  }
}
