import { open } from 'node:fs/promises';
import { type Box, findBox } from '#server/media/mp4/box.ts';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';
import { type Movie, readMovie } from '#server/media/mp4/movie.ts';
import { MediaFailure } from '../media-failure.ts';

/** Sample entries with encrypted data: of ISO/IEC 23001-7 (Common Encryption) and of Apple's stores. */
const ENCRYPTED = new Set(['encv', 'enca', 'drmi', 'drms']);

/** Codecs newer than the decoders here (VVC, EVC, APV), which do not know their names. */
const NEWER = new Set(['vvc1', 'vvi1', 'evc1', 'apv1']);

/** Handlers of subtitles, captions and chapters, and of other tracks that show nothing. */
const TEXT = new Set(['text', 'sbtl', 'subt', 'clcp']);
const DATA = new Set(['meta', 'tmcd', 'hint']);

/**
 * Refuses movies that no repair can help, by their own declaration: with encrypted pictures or sound, whose data look
 * like damage from end to end and decode to noise; with codecs that no decoder here knows; with nothing but sound, text
 * or data; and with nothing at all but the head of a stream. A file without a readable index passes.
 * @throws MediaFailure with the reason
 */
export async function refuseHopeless(inputPath: string): Promise<void> {
  const movie = await tryMovie(inputPath);
  const tracks = movie?.tracks ?? [];
  if (movie && isHeadAlone(movie)) throw new MediaFailure('damaged_beyond_repair', HEAD_ALONE);
  if (tracks.some(({ entries }) => entries.some(({ coding }) => ENCRYPTED.has(coding)))) {
    throw new MediaFailure(
      'unsupported_codec',
      'This clip is encrypted (copy protection) and cannot be read without its key. Export or save it without protection and try again.',
    );
  }
  const newer = tracks
    .flatMap(({ entries }) => entries.map(({ coding }) => coding))
    .find((coding) => NEWER.has(coding));
  if (newer !== undefined) {
    throw unsupportedPictures(newer);
  }
  const without = withoutPictures(tracks.map(({ handler }) => handler));
  if (without !== null) throw noVideo(without);
}

/**
 * What a movie without pictures has, by the handlers of its tracks (ISO/IEC 14496-12, 8.4.3); null if it may have
 * pictures, also where a handler is unknown and may be a damaged one.
 */
function withoutPictures(handlers: readonly string[]): string | null {
  const isSound = (handler: string) => handler === 'soun';
  const isText = (handler: string) => TEXT.has(handler);
  const known = handlers.filter((handler) => isSound(handler) || isText(handler) || DATA.has(handler));
  if (handlers.length === 0 || known.length < handlers.length) return null;
  const has = [...(known.some(isSound) ? ['sound'] : []), ...(known.some(isText) ? ['text'] : [])];
  return `It has ${has.join(' and ') || 'data'} only.`;
}

/** Why pictures of a codec are not taken, with what to do. */
export const unsupportedPictures = (codec: string): MediaFailure =>
  new MediaFailure(
    'unsupported_codec',
    `The video is in the format ${codec}, which cannot be repaired here. Export the clip as H.264 and try again.`,
  );

/** Why a file without pictures is not taken. */
export const noVideo = (what: string): MediaFailure =>
  new MediaFailure('no_video_track', `There is no video in this file. ${what}`);

const HEAD_ALONE =
  'This clip cannot be repaired: the file holds only the head of a stream, and none of the pieces with picture and sound. If they were saved as other files, save the whole stream as one file and try again.';

/** Boxes of a file without media. */
const HEAD_BOXES = new Set(['ftyp', 'styp', 'moov', 'free', 'skip', 'sidx', 'uuid']);

/** Whether a movie lists no sample and holds none, but says that fragments follow (`mvex`), as the first piece of DASH. */
function isHeadAlone({ fragmented, tracks, topLevel }: Movie): boolean {
  const isWhole = topLevel.brokenAt === null && topLevel.boxes.every(({ type }) => HEAD_BOXES.has(type));
  return fragmented && isWhole && tracks.every(({ stbl }) => countSamples(stbl) === 0);
}

/** Number of samples in the size table (`stsz` or `stz2`, ISO/IEC 14496-12, 8.7.3). */
function countSamples(stbl: Box): number {
  const sizes = findBox(stbl, 'stsz') ?? findBox(stbl, 'stz2');
  return sizes && sizes.payload.length >= 12 ? sizes.payload.readUInt32BE(8) : 0;
}

async function tryMovie(inputPath: string): Promise<Movie | null> {
  const file = await open(inputPath, 'r');
  try {
    return await readMovie(file);
  } catch (error) {
    if (error instanceof Mp4Error) return null;
    throw error;
  } finally {
    await file.close();
  }
}
