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
import type { MovedMedia } from './rebuild-index-move.ts';
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
  const chain = await readChain(input, file, movie);
  const { gathered } = chain;
  if (chain.isWhole && !every) return mendWholeOrder(input, file);
  const pictures = gathered.find(({ track }) => track.handler === 'vide');
  if (!pictures || pictures.samples.length === 0)
    return { rebuilt: false, reason: 'No part of the file with frames in it can be read.' };
  const originSeconds = Math.min(...gathered.flatMap((one) => startSeconds(one) ?? []));
  const moved = await moveFragments(file, movie, chain.fragments, originSeconds, input.signal);
  const index =
    (moved && { moov: moved.moov, ...moved.media }) ??
    (await inMendedOrder(input, file, underOneIndex(movie, gathered, originSeconds))) ??
    asListed(movie, gathered, originSeconds);
  await writeMovie(input.outputPath, {
    ftyp: movie.ftyp,
    moov: index.moov,
    tracks: index.tracks,
    signal: input.signal,
  });
  const notes = [
    joinedNote(chain.listed.length, every),
    ...(chain.mended > 0
      ? ['Times that fragments tell made no sense; those of their neighbours stand in for them.']
      : []),
    ...foundNotes(movie, chain.listed, chain.fragments),
    ...(chain.hasSecond ? ['A second movie that follows in the file was left out.'] : []),
    // What moved bytes hid has its place again.
    ...gathered.flatMap((one) => lossesOf(moved ? { ...one, missing: 0 } : one)),
  ];
  return { rebuilt: true, notes: [...notes, ...index.notes] };
}

/** What the fragments of a file hold. */
interface Chain {
  /** Fragments that were found by their own bytes, in file order, up to a second movie. */
  readonly listed: readonly Fragment[];
  /** The same, and what lies between them although none lists it. */
  readonly fragments: readonly Fragment[];
  /** The samples of all these, track by track. */
  readonly gathered: readonly GatheredTrack[];
  /** How often times were replaced. */
  readonly mended: number;
  /** Whether another movie follows in the file. */
  readonly hasSecond: boolean;
  /** Whether players can follow the fragments to the end of the file, and find all that they list. */
  readonly isWhole: boolean;
}

async function readChain(input: RebuildIndexInput, file: FileHandle, movie: Movie): Promise<Chain> {
  const { fileBytes, topLevel, tracks } = movie;
  const defaults = readFragmentDefaults(movie.moov);
  const { fragments: all, mended } = mendFragmentTimes(
    await findFragments(file, fileBytes, defaults, input.signal),
    tracks,
  );
  const second = topLevel.boxes.filter(({ type }) => type === 'moov')[1];
  const listed = second ? all.filter(({ offset }) => offset < second.offset) : all;
  const fragments = await withUnlisted(input, file, movie, listed, second?.offset ?? fileBytes);
  const gathered = tracks.map((track) => gatherTrack(track, fragments, file, fileBytes));
  const isFollowed =
    areOnTop(all, topLevel) &&
    !gathered.some(({ missing }) => missing > 0) &&
    !(isBrokenSequence(fragments) && gathered.some(({ holeTicks }) => holeTicks > 0));
  const isWhole = isFollowed && fragments.length === listed.length && !second && mended === 0;
  return { listed, fragments, gathered, mended, hasSecond: second !== undefined, isWhole };
}

/** Whether players that walk from box to box meet all fragments that were found, and no others. */
function areOnTop(fragments: readonly Fragment[], { boxes }: Movie['topLevel']): boolean {
  const met = new Set(boxes.flatMap(({ type, offset }) => (type === 'moof' ? [offset] : [])));
  const hidden = fragments.filter(({ offset }) => !met.has(offset)).length;
  const unread = met.size - (fragments.length - hidden);
  return hidden === 0 && unread <= 0;
}

/** Fragments of a clip with pictures and at most one sound, with those that stand for what no fragment lists. */
async function withUnlisted(
  input: RebuildIndexInput,
  file: FileHandle,
  { tracks }: Movie,
  fragments: readonly Fragment[],
  endBytes: number,
): Promise<readonly Fragment[]> {
  const video = tracks.find(({ handler }) => handler === 'vide');
  if (!video) return fragments;
  const sounds = tracks.filter(({ handler }) => handler === 'soun');
  const sound = sounds.length === 1 ? (sounds[0] ?? null) : null;
  return findUnlisted({ ...input, file, fileBytes: endBytes, video, sound, fragments });
}

/** An index, its tracks, and what is to be said about them. */
interface NewIndex extends MovedMedia {
  readonly moov: Movie['moov'];
}

/** An index in which pictures have the times of their order; null if they have them already. */
async function inMendedOrder(
  input: RebuildIndexInput,
  file: FileHandle,
  movie: Movie,
): Promise<NewIndex | null> {
  const ordered = await mendOrder(file, movie, input.signal);
  return ordered && { moov: movie.moov, ...ordered };
}

/** An index with the times that the fragments tell. */
function asListed(movie: Movie, gathered: readonly GatheredTrack[], originSeconds: number): NewIndex {
  const tracks = gathered.flatMap((track) => toOutTrack(track, movie.timescale, originSeconds) ?? []);
  const longest = Math.max(...tracks.map(({ movieTicks }) => movieTicks));
  const children = (movie.moov.children ?? []).filter(({ type }) => type !== 'mvex');
  return {
    moov: replaceBox(container('moov', children), 'mvhd', (header) => withDuration(header, longest)),
    tracks: tracks.map(({ out }) => out),
    notes: [],
  };
}

/** An intact chain gets one index only if its times contradict the order of its pictures. */
async function mendWholeOrder(input: RebuildIndexInput, file: FileHandle): Promise<RebuildIndexResult> {
  const movie = await readListedMovie(file);
  const index = movie.fragmented ? null : await inMendedOrder(input, file, movie);
  if (!index) return { rebuilt: false, reason: 'The fragments of the file follow one another.' };
  const { moov, tracks, notes } = index;
  await writeMovie(input.outputPath, { ftyp: movie.ftyp, moov, tracks, signal: input.signal });
  return { rebuilt: true, notes };
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

/** Decode time of a track's first sample; null if it has none. */
const startSeconds = ({ samples, track }: GatheredTrack) => {
  const [first] = samples;
  return first ? first.dts / track.timescale : null;
};

/** A track under the single index; null if it has no samples. */
function toOutTrack(one: GatheredTrack, movieTimescale: number, originSeconds: number) {
  const timed = timeTrack(one, movieTimescale, originSeconds);
  if (!timed) return null;
  const out: OutTrack = rebuildTrack(timed.trak, one.track.timescale, timed.samples);
  return { out, movieTicks: timed.movieTicks };
}

/** Notes on samples that the file lacks. */
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
