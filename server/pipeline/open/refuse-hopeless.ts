import { open } from 'node:fs/promises';
import { type Box, findBox } from '#server/media/mp4/box.ts';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';
import { type Movie, readMovie, type Track } from '#server/media/mp4/movie.ts';
import { readSamples } from '#server/media/mp4/sample-table.ts';
import { isSelfContained } from '#server/media/mp4/write-tables.ts';
import type { MediaInfo } from '#server/media/probe/probe.ts';
import { MediaFailure } from '../media-failure.ts';

/** Sample entries with encrypted data: of ISO/IEC 23001-7 (Common Encryption) and of Apple's stores. */
const ENCRYPTED = new Set(['encv', 'enca', 'drmi', 'drms']);

/**
 * Codecs newer than the decoders here, which do not know their names. Pictures of `dav1` have colours that only a
 * decoder of Dolby Vision knows.
 */
const NEWER = new Map([
  ['vvc1', 'VVC'],
  ['vvi1', 'VVC'],
  ['evc1', 'EVC'],
  ['apv1', 'APV'],
  ['dav1', 'Dolby Vision in AV1'],
]);

/** Handlers of subtitles, captions and chapters, of MPEG-4 scenes (ISO/IEC 14496-14, 3.2.4), and of what shows nothing. */
const TEXT = new Set(['text', 'sbtl', 'subt', 'clcp']);
const SCENE = new Set(['sdsm']);
const DATA = new Set(['meta', 'tmcd', 'hint', 'odsm', 'ocsm']);

/**
 * Refuses movies that no repair can help, by their own declaration: with encrypted pictures or sound, whose data look
 * like damage from end to end and decode to noise; with codecs that no decoder here knows; with nothing but sound, text,
 * a scene or data; with pictures in other files; and with nothing at all but the head of a stream or an index. A file
 * without a readable index passes.
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
  if (movie && refersToOthers(movie)) throw new MediaFailure('damaged_beyond_repair', REFERS_TO_OTHERS);
  if (movie && isIndexAlone(movie)) throw new MediaFailure('damaged_beyond_repair', INDEX_ALONE);
}

/**
 * Refuses a movie with a whole index whose pictures are in a codec that no decoder knows.
 * @param info how ffprobe reads it: a stream without a codec
 * @throws MediaFailure with the name of the codec
 */
export async function refuseUnknown(inputPath: string, info: MediaInfo): Promise<void> {
  if (info.video.length > 0 || !info.others.includes('video')) return;
  const movie = await tryMovie(inputPath);
  const track = movie?.tracks.find(({ handler }) => handler === 'vide');
  const coding = track?.entries[0]?.coding;
  if (coding !== undefined) throw unsupportedPictures(coding);
}

/**
 * What a movie without pictures has, by the handlers of its tracks (ISO/IEC 14496-12, 8.4.3); null if it may have
 * pictures, also where a handler is unknown and may be a damaged one.
 */
function withoutPictures(handlers: readonly string[]): string | null {
  const isSound = (handler: string) => handler === 'soun';
  const isText = (handler: string) => TEXT.has(handler);
  const isScene = (handler: string) => SCENE.has(handler);
  const isKnown = (handler: string) =>
    isSound(handler) || isText(handler) || isScene(handler) || DATA.has(handler);
  if (handlers.length === 0 || !handlers.every(isKnown)) return null;
  const has = [
    ...(handlers.some(isSound) ? ['sound'] : []),
    ...(handlers.some(isText) ? ['text'] : []),
    ...(handlers.some(isScene) ? ['a drawn scene'] : []),
  ];
  return `It has ${has.join(' and ') || 'data'} only.`;
}

/** Why pictures of a codec are not taken, with what to do. */
export function unsupportedPictures(codec: string): MediaFailure {
  const name = NEWER.get(codec);
  const format = name === undefined ? codec : `${codec} (${name})`;
  return new MediaFailure(
    'unsupported_codec',
    `The video is in the format ${format}, which cannot be repaired here. Export the clip as H.264 and try again.`,
  );
}

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

const REFERS_TO_OTHERS =
  'This clip cannot be repaired: its pictures are in other files, to which it only refers. Open it where those files are, save it as a self-contained movie, and try again.';

const MEDIA_BOXES = new Set(['mdat', 'moof']);

/** Whether a movie without media of its own says that its pictures are elsewhere, as QuickTime's reference movies. */
function refersToOthers({ tracks, topLevel }: Movie): boolean {
  if (topLevel.boxes.some(({ type }) => MEDIA_BOXES.has(type))) return false;
  return tracks.some(({ handler, trak }) => {
    const minf = findBox(trak, 'mdia/minf');
    return handler === 'vide' && minf !== null && !isSelfContained(minf);
  });
}

const INDEX_ALONE =
  'This clip cannot be repaired: only the index of the file is there, and none of the picture and sound that it lists. The file was not copied in full: copy or upload the whole of it again.';

/** Boxes of an index (ISO/IEC 14496-12, 8.2, and QuickTime) in which no media can be hidden. */
const INDEX_BOXES = new Set(['mvhd', 'iods', 'trak', 'udta', 'meta', 'mvex', 'ctab']);

/** Where all other boxes together have less room than this share of the listed bytes, no media stand under another name. */
const LEAST_ROOM = 0.01;

/** Whether a movie lists pictures, but no box has room for them, whatever its name. */
function isIndexAlone({ topLevel, moov, tracks }: Movie): boolean {
  if (topLevel.brokenAt !== null || topLevel.boxes.some(({ type }) => MEDIA_BOXES.has(type))) return false;
  const sizes = [
    ...topLevel.boxes.filter(({ type }) => type !== 'ftyp' && type !== 'moov').map((box) => box.sizeBytes),
    ...(moov.children ?? []).filter(({ type }) => !INDEX_BOXES.has(type)).map((box) => box.payload.length),
  ];
  const room = sizes.reduce((sum, sizeBytes) => sum + sizeBytes, 0);
  return room < LEAST_ROOM * countPictureBytes(tracks);
}

/** Bytes of all pictures that tracks list; 0 where a table is damaged. */
function countPictureBytes(tracks: readonly Track[]): number {
  try {
    const pictures = tracks
      .filter(({ handler }) => handler === 'vide')
      .flatMap(({ stbl }) => readSamples(stbl));
    return pictures.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  } catch (error) {
    if (error instanceof Mp4Error) return 0;
    throw error;
  }
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
