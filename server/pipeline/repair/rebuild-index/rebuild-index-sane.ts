import type { FileHandle } from 'node:fs/promises';
import { container, needBox, type Box } from '#server/media/mp4/box.ts';
import type { Movie, Track } from '#server/media/mp4/movie.ts';
import { endOfSamples, readSamples, type Sample } from '#server/media/mp4/sample-table.ts';
import { carryTrack, retimeTrack, type OutTrack } from '#server/media/mp4/write-movie.ts';
import { readDuration } from '#server/media/mp4/write-tables.ts';
import type { MovedMedia } from './rebuild-index-move.ts';

/** No camera shows one picture for an hour. */
export const LONGEST_SECONDS = 3600;
/** A share of pictures without any length that no recorder writes; single ones occur at joins. */
const MOST_EMPTY = 0.5;

/**
 * Looks for times that no clip can have, in the pictures' track: an edit list that shows nothing of the media, pictures
 * that last no time at all or for hours. What the track header says its media last stands in for the table.
 * @returns the tracks with usable times; null when there is nothing to be said against the times
 * @throws Mp4Error when tables cannot be read
 */
export function mendTimes(file: FileHandle, movie: Pick<Movie, 'tracks' | 'timescale'>): MovedMedia | null {
  const video = movie.tracks.find(({ handler }) => handler === 'vide');
  if (!video) return null;
  const samples = readSamples(video.stbl);
  if (samples.length < 2) return null;
  const notes: string[] = [];
  const timed = hasTimes(video, samples) ? null : evenTimes(video, samples, movie.timescale);
  if (timed)
    notes.push('The times of the pictures in the index made no sense; even ones were set by its header.');
  const ends = endOfSamples(timed ?? samples);
  const blind =
    video.edits.length > 0 && !video.edits.some(({ mediaTime }) => mediaTime >= 0 && mediaTime < ends);
  if (blind) notes.push('An edit list showed nothing of the pictures; it was taken out.');
  if (notes.length === 0) return null;
  const tracks = movie.tracks.map((track): OutTrack => {
    const trak = blind ? withoutEdits(track.trak) : track.trak;
    if (track !== video || !timed) return { ...carryTrack(track, file), trak };
    return retimeTrack(track, trak, timed, file);
  });
  return { tracks, notes };
}

function hasTimes({ timescale }: Track, samples: readonly Sample[]): boolean {
  const longest = LONGEST_SECONDS * timescale;
  if (
    samples.some(({ durationTicks, pts, dts }) => durationTicks > longest || Math.abs(pts - dts) > longest)
  ) {
    return false;
  }
  return samples.filter(({ durationTicks }) => durationTicks === 0).length <= MOST_EMPTY * samples.length;
}

/** Even times of the length that the track tells; null when it tells none. */
function evenTimes(track: Track, samples: readonly Sample[], movieTimescale: number): Sample[] | null {
  const { timescale } = track;
  const interval = Math.round(mediaTicks(track, samples.length, movieTimescale) / samples.length);
  if (interval < 1 || interval > LONGEST_SECONDS * timescale) return null;
  return samples.map((sample, index) => {
    const shift = sample.pts - sample.dts;
    const dts = index * interval;
    const usable = Math.abs(shift) <= LONGEST_SECONDS * timescale;
    return { ...sample, dts, pts: dts + (usable ? shift : 0), durationTicks: interval };
  });
}

/** ffmpeg 8.0 counts what an edit list hides in front of a first picture with B pictures behind it to the length of the media. */
const MOST_COUNTED_TWICE = 2.5;

/** Length of the media: what the edits show of it, where its header tells hardly another. */
function mediaTicks({ trak, timescale, edits }: Track, pictures: number, movieTimescale: number): number {
  const told = readDuration(needBox(trak, 'mdia/mdhd'));
  const shown = edits.reduce((sum, { mediaTime, durationTicks }) => {
    return mediaTime < 0 ? sum : sum + durationTicks;
  }, 0);
  const ticks = (shown * timescale) / movieTimescale;
  return Math.abs(told - ticks) <= (MOST_COUNTED_TWICE * told) / pictures ? ticks : told;
}

function withoutEdits(trak: Box): Box {
  return container(
    'trak',
    (trak.children ?? []).filter((box) => box.type !== 'edts'),
  );
}
