import type { FileHandle } from 'node:fs/promises';
import { container, replaceBox } from '#server/media/mp4/box.ts';
import { gatherTrack, type GatheredTrack, timeTrack } from '#server/media/mp4/fragmented-track.ts';
import { findFragments, type Fragment, readFragmentDefaults } from '#server/media/mp4/fragments.ts';
import { readListedMovie, underOneIndex } from '#server/media/mp4/listed-movie.ts';
import type { Movie } from '#server/media/mp4/movie.ts';
import { type OutTrack, rebuildTrack, writeMovie } from '#server/media/mp4/write-movie.ts';
import { withDuration } from '#server/media/mp4/write-tables.ts';
import { moveFragments } from './rebuild-index-fragments-move.ts';
import { mendFragmentTimes } from './rebuild-index-fragment-times.ts';
import { mendOrder } from './rebuild-index-order.ts';
import { findUnlisted } from './rebuild-index-unlisted.ts';
import { type RebuildIndexInput, type RebuildIndexResult, sampleName } from './rebuild-index-types.ts';

/**
 * Writes a damaged fragmented movie with one index for all that its fragments list. Players stop at the first fragment
 * that they cannot follow. Here each fragment is found by its own bytes, so that only what is listed nowhere or cut off
 * is lost and reported. A movie whose fragments follow one another to the end of the file is left alone, unless its
 * times contradict the order of its pictures.
 * @param every also write an index for an intact chain, because the index before it cannot be read as it is
 * @throws Mp4Error when the movie header or its tables cannot be used; the signal's reason when aborted
 */
export async function rebuildFragments(
  input: RebuildIndexInput,
  file: FileHandle,
  movie: Movie,
  every = false,
): Promise<RebuildIndexResult> {
  const { fileBytes, topLevel, moov } = movie;
  const listedTimes = await findFragments(file, fileBytes, readFragmentDefaults(moov), input.signal);
  const { fragments: all, mended } = mendFragmentTimes(listedTimes, movie.tracks);
  const second = topLevel.boxes.filter(({ type }) => type === 'moov')[1];
  const read = second ? all.filter(({ offset }) => offset < second.offset) : all;
  const video = movie.tracks.find(({ handler }) => handler === 'vide');
  const sounds = movie.tracks.filter(({ handler }) => handler === 'soun');
  const end = second?.offset ?? fileBytes;
  const fragments = video
    ? await findUnlisted({
        ...input,
        file,
        fileBytes: end,
        video,
        sound: sounds.length === 1 ? (sounds[0] ?? null) : null,
        fragments: read,
      })
    : read;
  const found = fragments.length - read.length;
  const gathered = movie.tracks.map((track) => gatherTrack(track, fragments, file, fileBytes));
  const listed = new Set(topLevel.boxes.flatMap(({ type, offset }) => (type === 'moof' ? [offset] : [])));
  const hidden = all.filter(({ offset }) => !listed.has(offset)).length;
  const unread = listed.size - (all.length - hidden);
  const missing = gathered.some((one) => one.missing > 0);
  const hasHole = isBrokenSequence(fragments) && gathered.some((one) => one.holeTicks > 0);
  const isWhole = hidden === 0 && unread <= 0 && found === 0 && !missing && !hasHole;
  if (isWhole && !second && mended === 0 && !every) return mendWholeOrder(input, file);
  const pictures = gathered.find(({ track }) => track.handler === 'vide');
  if (!pictures || pictures.samples.length === 0)
    return { rebuilt: false, reason: 'No part of the file with frames in it can be read.' };
  const origin = Math.min(...gathered.flatMap((one) => startSeconds(one) ?? []));
  const moved = await moveFragments(file, movie, fragments, origin, input.signal);
  const notes = [
    joinedNote(read.length, every),
    ...(mended > 0
      ? ['Times that fragments tell made no sense; those of their neighbours stand in for them.']
      : []),
    ...foundNotes(movie, read, fragments),
    ...(second ? ['A second movie that follows in the file was left out.'] : []),
    ...gathered.flatMap((one) => lossesOf(moved ? { ...one, missing: 0 } : one)),
  ];
  if (moved) {
    const { moov: index, media } = moved;
    const { ftyp } = movie;
    await writeMovie(input.outputPath, { ftyp, moov: index, tracks: media.tracks, signal: input.signal });
    return { rebuilt: true, notes: [...notes, ...media.notes] };
  }
  const one = underOneIndex(movie, gathered, origin);
  const ordered = await mendOrder(file, one, input.signal);
  if (ordered) {
    const { ftyp, moov: index } = one;
    await writeMovie(input.outputPath, { ftyp, moov: index, tracks: ordered.tracks, signal: input.signal });
    return { rebuilt: true, notes: [...notes, ...ordered.notes] };
  }
  const tracks = gathered.flatMap((track) => toOutTrack(track, movie.timescale, origin) ?? []);
  const longest = Math.max(...tracks.map(({ movieTicks }) => movieTicks));
  const children = (moov.children ?? []).filter(({ type }) => type !== 'mvex');
  await writeMovie(input.outputPath, {
    ftyp: movie.ftyp,
    moov: replaceBox(container('moov', children), 'mvhd', (header) => withDuration(header, longest)),
    tracks: tracks.map(({ out }) => out),
    signal: input.signal,
  });
  return { rebuilt: true, notes };
}

/** An intact chain gets one index only if its times contradict the order of its pictures. */
async function mendWholeOrder(input: RebuildIndexInput, file: FileHandle): Promise<RebuildIndexResult> {
  const movie = await readListedMovie(file);
  const ordered = movie.fragmented ? null : await mendOrder(file, movie, input.signal);
  if (!ordered) return { rebuilt: false, reason: 'The fragments of the file follow one another.' };
  const { ftyp, moov } = movie;
  await writeMovie(input.outputPath, { ftyp, moov, tracks: ordered.tracks, signal: input.signal });
  return { rebuilt: true, notes: ordered.notes };
}

function joinedNote(count: number, isIndexDamaged: boolean): string {
  const what = isIndexDamaged
    ? 'The index in front of the fragments was damaged'
    : 'The chain of fragments is broken';
  return `${what}; ${count} ${count === 1 ? 'was' : 'were'} found and joined under one index.`;
}

/** Notes on what was found although no fragment lists it. */
function foundNotes({ tracks }: Movie, read: readonly Fragment[], all: readonly Fragment[]): string[] {
  const countOf = (handler: string) => {
    const ids = new Set(tracks.flatMap((track) => (track.handler === handler ? [track.trackId] : [])));
    return countSamples(all, ids) - countSamples(read, ids);
  };
  const [pictures, sounds] = [countOf('vide'), countOf('soun')];
  if (pictures === 0 && sounds === 0) return [];
  const what = [
    ...(pictures > 0 ? [`${pictures} frames`] : []),
    ...(sounds > 0 ? [`${sounds} sound samples`] : []),
  ];
  const hasSilence = sounds === 0 && tracks.some(({ handler }) => handler === 'soun');
  return [
    `${what.join(' and ')} that no fragment lists were found by their structure${hasSilence ? '; their sound could not be restored' : ''}.`,
  ];
}

function countSamples(fragments: readonly Fragment[], trackIds: ReadonlySet<number>): number {
  const runs = fragments.flatMap((fragment) => fragment.runs);
  return runs.reduce((sum, { trackId, samples }) => sum + (trackIds.has(trackId) ? samples.length : 0), 0);
}

/** Whether a sequence number is missing between two fragments; tracks may be counted separately. */
function isBrokenSequence(fragments: readonly Fragment[]): boolean {
  return fragments.some(({ sequence }, index) => {
    const before = fragments[index - 1];
    return before !== undefined && sequence > before.sequence + 1;
  });
}

const startSeconds = ({ samples, track }: GatheredTrack) => {
  const [first] = samples;
  return first ? first.dts / track.timescale : null;
};

/** A track under the single index. */
function toOutTrack(one: GatheredTrack, movieTimescale: number, origin: number) {
  const timed = timeTrack(one, movieTimescale, origin);
  if (!timed) return null;
  const out: OutTrack = rebuildTrack(timed.trak, one.track.timescale, timed.samples);
  return { out, movieTicks: timed.movieTicks };
}

function lossesOf({ track, samples, missing, holeTicks }: GatheredTrack): string[] {
  const hole = (holeTicks / track.timescale).toFixed(2);
  return [
    ...(missing > 0
      ? [`${missing} of ${samples.length + missing} ${sampleName(track)} are not in the file.`]
      : []),
    ...(holeTicks > 0 && track.handler === 'vide'
      ? [`Fragments with ${hole} s of video have lost their index or are not in the file.`]
      : []),
  ];
}
