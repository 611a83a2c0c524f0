import { open } from 'node:fs/promises';
import { type Box, findBox, needBox, replaceBox } from './box.ts';
import { type Edit, readEditList, withEdits } from './edit-list.ts';
import { clockFactor, refineMovie, refineTrack } from './movie-clock.ts';
import { readListedMovie } from './listed-movie.ts';
import type { Track } from './movie.ts';
import { Mp4Error } from './mp4-error.ts';
import { carryTrack, writeMovie } from './write-movie.ts';
import { readDuration, withDuration } from './write-tables.ts';

export interface ShiftAudioInput {
  readonly inputPath: string;
  readonly outputPath: string;
  /** Positive: the sound comes later; negative: earlier. */
  readonly shiftMs: number;
  readonly signal?: AbortSignal;
}

/** Finest clock used for edit lists here: 1/48000 s keeps a shift within 11 microseconds of the wanted one. */
const FINE_TIMESCALE = 48_000;

/**
 * Moves all sound tracks against the picture by edit lists alone: nothing is encoded, and every coded sample of every
 * track is carried byte for byte. Later sound gets a wait in front. Earlier sound first loses its own wait, then starts
 * inside its media (the skipped sound stays in the file, hidden).
 * @throws Mp4Error when the file has no sound track, has fragments that contradict each other, has unusual edits or a
 * hole behind its first packet, or when the shift would skip all sound.
 */
export async function shiftAudioTrack(input: ShiftAudioInput): Promise<void> {
  const file = await open(input.inputPath, 'r');
  try {
    const movie = await readListedMovie(file);
    if (movie.fragmented) throw new Mp4Error('The fragments of the file contradict each other.');
    if (!movie.tracks.some((track) => track.handler === 'soun')) {
      throw new Mp4Error('The file has no sound track.');
    }
    const factor = clockFactor(movie.timescale, FINE_TIMESCALE);
    const timescale = movie.timescale * factor;
    const tracks = movie.tracks.map((track) => {
      const trak = refineTrack(track.trak, factor);
      const carried = { ...carryTrack(track, file), trak };
      if (track.handler !== 'soun') return carried;
      if (hasHoleAtStart(track)) throw new Mp4Error('The sound has a hole behind its first packet.');
      const edits = shiftEdits(track, readEditList(trak), timescale, input.shiftMs);
      return { ...carried, trak: withEdits(trak, edits) };
    });
    const longest = Math.max(...tracks.map(({ trak }) => readDuration(needBox(trak, 'tkhd'))));
    const moov = refineMovie(movie.moov, factor);
    await writeMovie(input.outputPath, {
      ftyp: movie.ftyp,
      moov: replaceBox(moov, 'mvhd', (header) => withDuration(header, longest)),
      tracks,
      signal: input.signal,
    });
  } finally {
    await file.close();
  }
}

/**
 * Makes a track begin later by its edit list alone.
 * @param trak the track's box, its header and edits in ticks of the movie that it goes into
 * @param movieTimescale ticks per second of that movie
 * @returns the unchanged box where its edits are of an unusual kind
 */
export function beginLater(track: Track, trak: Box, movieTimescale: number, waitMs: number): Box {
  try {
    return withEdits(trak, shiftEdits(track, readEditList(trak), movieTimescale, waitMs));
  } catch (error) {
    if (error instanceof Mp4Error) return trak;
    throw error;
  }
}

/**
 * Whether the first packet of a sound track is listed as much longer than the second. Behind a wait, ffmpeg counts back
 * by that length, and all sound comes too early by the hole (measured with `ashowinfo`, ffmpeg 5.1).
 */
function hasHoleAtStart({ stbl }: Track): boolean {
  const stts = findBox(stbl, 'stts')?.payload;
  if (!stts || stts.length < 24 || stts.readUInt32BE(8) !== 1) return false;
  return stts.readUInt32BE(12) > 2 * stts.readUInt32BE(20);
}

/**
 * The edits of a sound track moved by `shiftMs`; exported for tests.
 * @param edits durations already in ticks of `movieTimescale`
 * @throws Mp4Error when the edits are no "wait, then play" or nothing would be left to play.
 */
function shiftEdits(track: Track, edits: readonly Edit[], movieTimescale: number, shiftMs: number): Edit[] {
  const shown = edits.filter((edit) => edit.mediaTime >= 0);
  if (shown.length > 1 || shown.some((edit) => edit.rate !== 1) || (shown[0] && edits.at(-1) !== shown[0])) {
    throw new Mp4Error('The sound track already has edits that cannot be moved.');
  }
  const mdhd = needBox(track.trak, 'mdia/mdhd');
  const mediaTicks = readDuration(mdhd);
  const toMovie = (ticks: number) => Math.round((ticks * movieTimescale) / track.timescale);
  const play = shown[0] ?? { durationTicks: toMovie(mediaTicks), mediaTime: 0, rate: 1 };
  const wait = edits.filter((edit) => edit !== shown[0]).reduce((sum, edit) => sum + edit.durationTicks, 0);
  const start = wait + Math.round((shiftMs * movieTimescale) / 1000);
  const skipTicks = Math.max(0, -start);
  const skipMedia = Math.round((skipTicks * track.timescale) / movieTimescale);
  const durationTicks = play.durationTicks === 0 ? toMovie(mediaTicks - play.mediaTime) : play.durationTicks;
  if (durationTicks - skipTicks <= 0) throw new Mp4Error('The sound would be moved out of the clip.');
  const moved = {
    ...play,
    mediaTime: play.mediaTime + skipMedia,
    durationTicks: durationTicks - skipTicks,
  };
  return start > 0 ? [{ durationTicks: start, mediaTime: -1, rate: 1 }, moved] : [moved];
}
