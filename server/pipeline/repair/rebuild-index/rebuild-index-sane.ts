import type { FileHandle } from 'node:fs/promises';
import { container, needBox, type Box } from '#server/media/mp4/box.ts';
import type { Movie, Track } from '#server/media/mp4/movie.ts';
import { endOfSamples, readSamples, type Sample } from '#server/media/mp4/sample-table.ts';
import { carryTrack, retimeTrack, type OutTrack } from '#server/media/mp4/write-movie.ts';
import { readDuration } from '#server/media/mp4/write-tables.ts';
import type { MovedMedia } from './rebuild-index-move.ts';

/** No camera shows one picture for an hour. */
export const LONGEST_SECONDS = 3600;
/** Share of pictures without duration that no recorder writes; single ones occur at joins. */
const MOST_EMPTY = 0.5;

/**
 * Finds impossible times in the pictures' track: an edit list that shows nothing of the media, or pictures that have no
 * duration at all or last for hours. The duration in the track header then replaces the table.
 * @returns the tracks with usable times; null if the times are possible
 * @throws Mp4Error when tables cannot be read
 */
export function mendTimes(file: FileHandle, movie: Pick<Movie, 'tracks' | 'timescale'>): MovedMedia | null {
  const video = movie.tracks.find(({ handler }) => handler === 'vide');
  if (!video) return null;
  const samples = readSamples(video.stbl);
  if (samples.length < 2) return null;
  const notes: string[] = [];
  const told = mediaTicks(video, samples.length, movie.timescale);
  const likely = withoutStrays(samples, told);
  const even = hasTimes(video, likely ?? samples) ? null : evenTimes(video, samples, told);
  const timed = even ?? likely;
  if (even) notes.push('The frame times in the index made no sense; even ones were set from its header.');
  else if (likely)
    notes.push('Single frames were listed as longer than the whole clip; they were shortened to fit.');
  const ends = endOfSamples(timed ?? samples);
  const blind =
    video.edits.length > 0 && !video.edits.some(({ mediaTime }) => mediaTime >= 0 && mediaTime < ends);
  if (blind) notes.push('An edit list hid every frame; it was removed.');
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

/** Largest share of pictures that may be listed as too long; more are not single damaged entries of a table. */
const MOST_STRAYS = 0.1;
/**
 * The sum of the other durations may exceed the stated one by this factor, because headers leave out the last one, or
 * round.
 */
const MOST_TOLD = 1.05;

/**
 * Corrects pictures that are listed as longer than all together, because of a damaged entry in the table of times. They
 * get what the others leave of the stated duration; otherwise everything after them would be shown that much later.
 * @param told duration of the media
 * @returns null if there are none, or the others contradict the stated duration as well
 */
function withoutStrays(samples: readonly Sample[], told: number): Sample[] | null {
  const isStray = ({ durationTicks }: Sample) => durationTicks > told;
  const strays = samples.filter(isStray).length;
  const others = samples.reduce((sum, one) => sum + (isStray(one) ? 0 : one.durationTicks), 0);
  if (strays === 0 || strays > MOST_STRAYS * samples.length || others > MOST_TOLD * told) return null;
  const usual = others / (samples.length - strays);
  const left = Math.max(usual, (told - others) / strays);
  let dts = samples[0]?.dts ?? 0;
  return samples.map((sample) => {
    const later = dts - sample.dts;
    const durationTicks = isStray(sample) ? Math.round(left) : sample.durationTicks;
    dts += durationTicks;
    return { ...sample, dts: sample.dts + later, pts: sample.pts + later, durationTicks };
  });
}

/** Even times with the total duration that the track states; null if it states none. */
function evenTimes({ timescale }: Track, samples: readonly Sample[], told: number): Sample[] | null {
  const interval = Math.round(told / samples.length);
  if (interval < 1 || interval > LONGEST_SECONDS * timescale) return null;
  return samples.map((sample, index) => {
    const shift = sample.pts - sample.dts;
    const dts = index * interval;
    const usable = Math.abs(shift) <= LONGEST_SECONDS * timescale;
    return { ...sample, dts, pts: dts + (usable ? shift : 0), durationTicks: interval };
  });
}

/**
 * ffmpeg 8.0 adds what an edit list hides to the media's duration, if B pictures follow a first picture; most pictures
 * that may be.
 */
const MOST_COUNTED_TWICE = 2.5;

/** Duration of the media: what the edits show of it, if its header hardly differs. */
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
