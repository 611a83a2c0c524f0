import { open } from 'node:fs/promises';
import { checkDv } from '#server/media/dv/check-dv.ts';
import { isWithin, type ParsedPictures, type ParseInput, parsePictures } from './parse-pictures.ts';

/** Coded bytes of the pictures of a clip that are read at most: the largest upload. */
const MOST_BYTES = 2 ** 31;

/**
 * Looks whether each picture of a DV clip has all its blocks (`checkDv`), in one pass over the file: its decoder shows what stands in their
 * place without a word, or with words that it says of whole pictures as well.
 * @returns null for other clips, and where a picture is of another kind
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
