import { open, type FileHandle } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { readAacConfig } from '#server/media/aac/aac-config.ts';
import { gatherTrack, type GatheredTrack } from '#server/media/mp4/fragmented-track.ts';
import { findFragments, readFragmentDefaults } from '#server/media/mp4/fragments.ts';
import { type Movie, readMovie, type Track } from '#server/media/mp4/movie.ts';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';
import { type PcmLayout, readPcmLayout } from './rebuild-index-pcm-layout.ts';

/** A clip whose index supplies what a clip without an index lacks. */
export interface Reference {
  readonly path: string;
  readonly movie: Movie;
  readonly video: Track;
  /** Its sound track, or the first of several that are coded alike; null if it has none or others. */
  readonly sound: Track | null;
  /** All its sound tracks. */
  readonly sounds: readonly Track[];
  /** Usual interval of its pictures, ticks of its video track; null if it lists none. */
  readonly intervalTicks: number | null;
  /** Usual duration of a frame of its sound, ticks of that track. */
  readonly soundTicks: number;
  /** Where its sound lies; null for compressed sound. */
  readonly layout: PcmLayout | null;
}

/** Samples in an AAC frame; writers use one tick for each. */
export const FRAME_TICKS = 1024;

/**
 * What a healthy MP4 clip tells about its device; null for other files, or if its pictures have several descriptions.
 */
export async function readHealthyClip(path: string): Promise<Reference | null> {
  let file: FileHandle;
  try {
    file = await open(path, 'r');
  } catch {
    return null;
  }
  try {
    const movie = await readMovie(file);
    const video = movie.tracks.find(({ handler, entries }) => handler === 'vide' && entries.length === 1);
    if (!video) return null;
    const sounds = movie.tracks.filter(({ handler }) => handler === 'soun');
    const sound = areAlike(sounds) ? (sounds[0] ?? null) : null;
    const fragments = movie.fragmented
      ? await findFragments(file, movie.fileBytes, readFragmentDefaults(movie.moov))
      : [];
    const usualTicks = (track: Track) => usualDuration(gatherTrack(track, fragments, file, movie.fileBytes));
    const layout = sound && readPcmLayout(movie.tracks, sound);
    const soundTicks = (layout || !sound ? null : usualTicks(sound)) ?? FRAME_TICKS;
    return { path, movie, video, sound, sounds, intervalTicks: usualTicks(video), soundTicks, layout };
  } catch (error) {
    if (error instanceof Mp4Error) return null;
    throw error;
  } finally {
    await file.close();
  }
}

/** Whether one description fits the frames of all; several can be told apart only if they are AAC. */
function areAlike([first, ...others]: readonly Track[]): boolean {
  const configOf = ({ entries: [entry] }: Track) =>
    entry?.coding === 'mp4a' ? readAacConfig(entry.bytes) : null;
  const config = first && configOf(first);
  return others.every((track) => config && isDeepStrictEqual(configOf(track), config));
}

/** The median duration, which single stretched samples do not change; null if there are none. */
function usualDuration({ samples }: GatheredTrack): number | null {
  const durations = samples.map(({ durationTicks }) => durationTicks).sort((a, b) => a - b);
  return durations[durations.length >> 1] || null;
}
