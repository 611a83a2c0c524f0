import type { FileHandle } from 'node:fs/promises';
import { type Box, container, replaceBox } from './box.ts';
import { gatherTrack, type GatheredTrack, timeTrack } from './fragmented-track.ts';
import { type Fragment, readFragment, readFragmentDefaults } from './fragments.ts';
import { clockFactor, refineMovie, refineTrack } from './movie-clock.ts';
import { type Movie, readMovie, readTracks } from './movie.ts';
import { type NewSample, rebuildSampleTables, withChunkOffsets, withDuration } from './write-tables.ts';

/**
 * A movie that begins later than this is a piece of a longer one; under one index it would start with that much
 * emptiness.
 */
const MOST_WAIT_SECONDS = 60;

/**
 * Reads the index of an open MP4 or QuickTime file like `readMovie`. For a fragmented movie the fragments are read too,
 * and the tables list where their samples lie, as if the file had been written under one index.
 * @returns `fragmented` stays true where fragments contradict each other, or list what is not in the file
 * @throws Mp4Error when there is no readable index.
 */
export async function readListedMovie(file: FileHandle): Promise<Movie> {
  const movie = await readMovie(file);
  return movie.fragmented ? ((await listFragments(file, movie)) ?? movie) : movie;
}

async function listFragments(file: FileHandle, movie: Movie): Promise<Movie | null> {
  const { topLevel, fileBytes } = movie;
  const places = topLevel.boxes.filter(({ type }) => type === 'moof');
  if (topLevel.boxes.filter(({ type }) => type === 'moov').length !== 1) return null;
  const defaults = readFragmentDefaults(movie.moov);
  const fragments: Fragment[] = [];
  for (const { offset } of places) {
    const fragment = await readFragment(file, offset, fileBytes, defaults);
    if (!fragment) return null;
    fragments.push(fragment);
  }
  const gathered = movie.tracks.map((track) => gatherTrack(track, fragments, file, fileBytes));
  const waits = gathered.flatMap(({ track, samples }) => {
    const ticks = samples[0]?.dts ?? 0;
    return ticks > 0 ? [{ ticks, timescale: track.timescale }] : [];
  });
  if (gathered.some(({ missing, misplaced }) => missing + misplaced > 0)) return null;
  if (waits.some(({ ticks, timescale }) => ticks > MOST_WAIT_SECONDS * timescale)) return null;
  // A wait is stated in the movie's clock, which must be fine enough for the beginning of the track.
  let { timescale } = movie;
  for (const wait of waits) timescale *= clockFactor(timescale, wait.timescale);
  if (waits.some((wait) => wait.timescale > timescale)) return null;
  const refined = withClock(movie, timescale / movie.timescale);
  const tracks = readTracks(refined);
  const onClock = gathered.map((one, index) => ({ ...one, track: tracks[index] ?? one.track }));
  return underOneIndex({ ...movie, moov: refined, timescale }, onClock);
}

function withClock({ moov }: Movie, factor: number): Box {
  const refined = refineMovie(moov, factor);
  const children = (refined.children ?? []).map((box) =>
    box.type === 'trak' ? refineTrack(box, factor) : box,
  );
  return container('moov', children);
}

/**
 * The movie whose tracks list every sample where it lies.
 * @param originSeconds decode time at which the movie begins
 */
export function underOneIndex(movie: Movie, gathered: readonly GatheredTrack[], originSeconds = 0): Movie {
  const timed = gathered.map((one) => timeTrack(one, movie.timescale, originSeconds));
  const traks = timed.map((one, index) =>
    one ? withTables(one.trak, one.samples) : gathered[index]?.track.trak,
  );
  const longest = Math.max(0, ...timed.map((one) => one?.movieTicks ?? 0));
  const others = (movie.moov.children ?? []).filter(({ type }) => type !== 'mvex' && type !== 'trak');
  const children = [...others, ...traks.flatMap((trak) => trak ?? [])];
  const moov = replaceBox(container('moov', children), 'mvhd', (header) => withDuration(header, longest));
  return { ...movie, moov, tracks: readTracks(moov), fragmented: false };
}

/** A track whose tables list samples in their places; samples that lie end to end form one chunk. */
function withTables(trak: Box, samples: readonly NewSample[]): Box {
  const offsets: number[] = [];
  const perChunk: number[] = [];
  let end = -1;
  for (const { bytes } of samples) {
    if (bytes.offset === end) perChunk[perChunk.length - 1] = (perChunk.at(-1) ?? 0) + 1;
    else {
      offsets.push(bytes.offset);
      perChunk.push(1);
    }
    end = bytes.offset + bytes.sizeBytes;
  }
  return replaceBox(trak, 'mdia/minf/stbl', (old) =>
    withChunkOffsets(rebuildSampleTables(old, samples, perChunk), offsets),
  );
}
