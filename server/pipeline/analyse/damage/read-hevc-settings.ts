import type { FileHandle } from 'node:fs/promises';
import { readListedMovie } from '#server/media/mp4/listed-movie.ts';
import { findVideoTrack } from '#server/media/mp4/movie.ts';
import { readHevcConfig } from '#server/media/mp4/sample-entry.ts';

export interface HevcSettings {
  /** Bytes of the length before each unit. */
  readonly lengthSize: number;
  readonly parameterSets: readonly Buffer[];
  /** Whether the samples lie in fragments. */
  readonly fragmented: boolean;
}

/**
 * Reads the decoder settings of an HEVC track.
 * @returns null when there are none, or when there are several sample descriptions
 * @throws Mp4Error when the index cannot be read
 */
export async function readHevcSettings(file: FileHandle, streamIndex: number): Promise<HevcSettings | null> {
  const movie = await readListedMovie(file);
  const { entries } = findVideoTrack(movie, streamIndex);
  const hvcC = entries[0]?.boxes.find(({ type }) => type === 'hvcC');
  if (!hvcC || entries.length > 1) return null;
  return { ...readHevcConfig(hvcC.payload), fragmented: movie.fragmented };
}
