import type { FileHandle } from 'node:fs/promises';
import { type Box, needBox, replaceBox } from '#server/media/mp4/box.ts';
import { readMovieTimescale, readTracks, type Track } from '#server/media/mp4/movie.ts';
import { trimTrack } from '#server/media/mp4/trim-track.ts';
import { type OutTrack, writeMovie } from '#server/media/mp4/write-movie.ts';
import { readDuration, withDuration } from '#server/media/mp4/write-tables.ts';
import {
  cutOffNotes,
  formatSize,
  missingNotes,
  type RebuildIndexInput,
  type RebuildIndexResult,
  sampleName,
} from './rebuild-index-types.ts';

/** What a cut-off file still holds. */
export interface TrimmedMovie {
  readonly moov: Box;
  readonly ftyp: Buffer | null;
  /** What is said about the file. */
  readonly notes: readonly string[];
}

/**
 * Writes a movie with all that is in a file and no longer than that; refused when nothing of its pictures is.
 * @throws Mp4Error when its tables are damaged
 */
export async function writeTrimmed(
  input: RebuildIndexInput,
  file: FileHandle,
  { moov, ftyp, notes }: TrimmedMovie,
): Promise<RebuildIndexResult> {
  const fileBytes = (await file.stat()).size;
  const timescale = readMovieTimescale(moov);
  const tracks = readTracks(moov);
  const losses: string[] = [];
  const lostMs = new Map<string, number>();
  const kept = new Map<Track, OutTrack>();
  const keep = (track: Track, endMovieTicks?: number) => {
    const name = sampleName(track);
    const trimmed = trimTrack(track, file, {
      endOffset: fileBytes,
      movieTimescale: timescale,
      endMovieTicks,
    });
    if (!trimmed) return void losses.push(`None of the ${name} of a track are in the file.`);
    kept.set(track, trimmed.track);
    if (!lostMs.has(track.handler)) lostMs.set(track.handler, (trimmed.lostTicks * 1000) / track.timescale);
    losses.push(...missingNotes(trimmed, name));
  };
  const isPlayed = ({ handler }: Track) => handler === 'vide' || handler === 'soun';
  const lengthOf = ({ trak }: OutTrack) => readDuration(needBox(trak, 'tkhd'));
  tracks.filter(isPlayed).forEach((track) => keep(track));
  const lacksPicture = tracks.some((track) => track.handler === 'vide' && !kept.has(track));
  if (lacksPicture || kept.size === 0) return { rebuilt: false, reason: missingMedia(fileBytes) };
  const longest = Math.max(...[...kept.values()].map(lengthOf));
  // A time code or a subtitle that outlasts picture and sound would be the length of the clip.
  tracks.filter((track) => !isPlayed(track)).forEach((track) => keep(track, longest));
  await writeMovie(input.outputPath, {
    ftyp,
    moov: replaceBox(moov, 'mvhd', (header) => withDuration(header, longest)),
    tracks: tracks.flatMap((track) => kept.get(track) ?? []),
    signal: input.signal,
  });
  const lostEnds = { pictureMs: lostMs.get('vide') ?? 0, soundMs: lostMs.get('soun') ?? 0 };
  const isCutOff = lostEnds.pictureMs > 0 || lostEnds.soundMs > 0;
  return {
    rebuilt: true,
    notes: [...cutOffNotes(lostEnds), ...notes, ...losses],
    ...(isCutOff && { lostEnds }),
  };
}

const missingMedia = (fileBytes: number) =>
  `Only the index and the first ${formatSize(fileBytes)} of the file are there; the video data is missing.`;
