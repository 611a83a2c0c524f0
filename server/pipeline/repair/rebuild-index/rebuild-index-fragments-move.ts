import type { FileHandle } from 'node:fs/promises';
import { gatherTrack } from '#server/media/mp4/fragmented-track.ts';
import type { Fragment } from '#server/media/mp4/fragments.ts';
import { underOneIndex } from '#server/media/mp4/listed-movie.ts';
import type { Movie } from '#server/media/mp4/movie.ts';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';
import { moveMedia, type MovedMedia } from './rebuild-index-move.ts';

/** The listed samples of fragments at their true places, and the index above them. */
export interface MovedFragments {
  readonly moov: Movie['moov'];
  readonly media: MovedMedia;
}

/**
 * Finds the true places of what fragments list. Bytes that were added to or removed from a file move everything after
 * them, up to the end of their fragment, or of the file if places count from its start.
 * @param fragments in file order
 * @param originSeconds decode time at which the movie begins
 * @returns null if everything is in its place, as far as known
 * @throws the signal's reason when aborted
 */
export async function moveFragments(
  file: FileHandle,
  movie: Movie,
  fragments: readonly Fragment[],
  originSeconds: number,
  signal?: AbortSignal,
): Promise<MovedFragments | null> {
  const { fileBytes } = movie;
  const offset = fragments[0]?.offset ?? 0;
  const media = { type: 'mdat', offset, headerBytes: 0, sizeBytes: fileBytes - offset };
  const topLevel = { boxes: [media], brokenAt: null };
  const gathered = movie.tracks.map((track) => gatherTrack(track, fragments, file, fileBytes, 'file'));
  try {
    const { moov, tracks } = underOneIndex(movie, gathered, originSeconds);
    const moved = await moveMedia(file, { tracks, fileBytes, topLevel }, signal);
    return moved === null || moved === 'lost' ? null : { moov, media: moved };
  } catch (error) {
    // Tables that cannot be built place nothing.
    if (error instanceof Mp4Error) return null;
    throw error;
  }
}
