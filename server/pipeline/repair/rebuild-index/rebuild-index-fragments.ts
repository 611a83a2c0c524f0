import type { FileHandle } from 'node:fs/promises';
import { type Box, container, needBox, replaceBox } from '#server/media/mp4/box.ts';
import { type Edit, writeEditList } from '#server/media/mp4/edit-list.ts';
import { findFragments, type Fragment, readFragmentDefaults } from '#server/media/mp4/fragments.ts';
import type { Movie, Track } from '#server/media/mp4/movie.ts';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';
import { readSamples } from '#server/media/mp4/sample-table.ts';
import { type OutTrack, rebuildTrack, writeMovie } from '#server/media/mp4/write-movie.ts';
import { type NewSample, withDuration } from '#server/media/mp4/write-tables.ts';
import { findUnlisted } from './rebuild-index-unlisted.ts';
import type { RebuildIndexInput, RebuildIndexResult } from './rebuild-index-types.ts';

/** Samples of one track, gathered from its tables and all fragments. */
interface Gathered {
  readonly track: Track;
  readonly samples: NewSample[];
  /** Decode time at which the next fragment goes on. */
  nextTicks: number;
  /** Listed, but not in the file. */
  missing: number;
  /** Time that no fragment accounts for, ticks. */
  holeTicks: number;
}

/**
 * Writes a damaged fragmented movie with one index for all that its fragments list. Players stop at the first fragment
 * that they cannot follow; here each is found by its own bytes, so that only what is listed nowhere or cut off is
 * lost, and that is said. A movie whose fragments follow one another to the end of the file is left alone.
 * @throws Mp4Error when the movie header or its tables cannot be used; the signal's reason when aborted
 */
export async function rebuildFragments(
  input: RebuildIndexInput,
  file: FileHandle,
  movie: Movie,
): Promise<RebuildIndexResult> {
  const { fileBytes, topLevel, moov } = movie;
  const all = await findFragments(file, fileBytes, readFragmentDefaults(moov), input.signal);
  const second = topLevel.boxes.filter(({ type }) => type === 'moov')[1];
  const read = second ? all.filter(({ offset }) => offset < second.offset) : all;
  const video = movie.tracks.find(({ handler }) => handler === 'vide');
  const end = second?.offset ?? fileBytes;
  const fragments = video
    ? await findUnlisted({
        ...input,
        file,
        fileBytes: end,
        video,
        startTicks: endOfTables(video),
        fragments: read,
      })
    : read;
  const found = fragments.length - read.length;
  const gathered = movie.tracks.map((track) => gather(track, fragments, file, fileBytes));
  const listed = new Set(topLevel.boxes.flatMap(({ type, offset }) => (type === 'moof' ? [offset] : [])));
  const hidden = all.filter(({ offset }) => !listed.has(offset)).length;
  const unread = listed.size - (all.length - hidden);
  const missing = gathered.some((one) => one.missing > 0);
  const hasHole = isBrokenSequence(fragments) && gathered.some((one) => one.holeTicks > 0);
  if (hidden === 0 && unread <= 0 && found === 0 && !missing && !hasHole && !second)
    return { rebuilt: false, reason: 'The fragments of the file follow one another.' };
  const pictures = gathered.find(({ track }) => track.handler === 'vide');
  if (!pictures || pictures.samples.length === 0)
    return { rebuilt: false, reason: 'No fragment with pictures can be read.' };
  const origin = Math.min(...gathered.flatMap((one) => startSeconds(one) ?? []));
  const tracks = gathered.flatMap((one) => toOutTrack(one, movie.timescale, origin) ?? []);
  const longest = Math.max(...tracks.map(({ movieTicks }) => movieTicks));
  const children = (moov.children ?? []).filter(({ type }) => type !== 'mvex');
  await writeMovie(input.outputPath, {
    ftyp: movie.ftyp,
    moov: replaceBox(container('moov', children), 'mvhd', (header) => withDuration(header, longest)),
    tracks: tracks.map(({ out }) => out),
    signal: input.signal,
  });
  const notes = [
    `The chain of fragments is broken; ${read.length} ${read.length === 1 ? 'was' : 'were'} found and joined under one index.`,
    ...(found > 0
      ? [
          `${countPictures(fragments) - countPictures(read)} pictures that no fragment lists were found by their structure; their sound could not be restored.`,
        ]
      : []),
    ...(second ? ['A second movie that follows in the file was left out.'] : []),
    ...gathered.flatMap((one) => lossesOf(one)),
  ];
  return { rebuilt: true, notes };
}

const countPictures = (fragments: readonly Fragment[]) =>
  fragments.reduce((sum, { runs }) => runs.reduce((all, { samples }) => all + samples.length, sum), 0);

function endOfTables(track: Track): number {
  const last = readInitial(track).at(-1);
  return last ? last.dts + last.durationTicks : 0;
}

function gather(track: Track, fragments: readonly Fragment[], file: FileHandle, fileBytes: number): Gathered {
  const all: Gathered = { track, samples: [], nextTicks: 0, missing: 0, holeTicks: 0 };
  for (const { offset, sizeBytes, dts, pts, durationTicks, sync } of readInitial(track)) {
    if (offset + sizeBytes > fileBytes) all.missing += 1;
    else all.samples.push({ bytes: { file, offset, sizeBytes }, dts, pts, durationTicks, sync });
    all.nextTicks = dts + durationTicks;
  }
  for (const [index, fragment] of fragments.entries()) {
    const end = Math.min(fileBytes, fragments[index + 1]?.offset ?? fileBytes);
    for (const { trackId, startTicks, samples } of fragment.runs) {
      if (trackId !== track.trackId) continue;
      let dts = startTicks ?? all.nextTicks;
      const rise = dts - all.nextTicks;
      // A fragment told a second time, or one whose time is damaged, has no place.
      if (all.samples.length > 0 && (rise < 0 || rise > MOST_HOLE_SECONDS * track.timescale)) continue;
      const last = all.samples.at(-1);
      if (last && rise > 0) {
        all.holeTicks += rise;
        all.samples[all.samples.length - 1] = { ...last, durationTicks: dts - last.dts };
      }
      for (const { offset, sizeBytes, durationTicks, shiftTicks, sync } of samples) {
        if (sizeBytes === 0 || offset < 0 || offset + sizeBytes > end) all.missing += 1;
        else
          all.samples.push({
            bytes: { file, offset, sizeBytes },
            dts,
            pts: dts + shiftTicks,
            durationTicks,
            sync,
          });
        dts += durationTicks;
      }
      all.nextTicks = dts;
    }
  }
  return { ...all, samples: withClosedTimes(all.samples) };
}

/** A longer hole than this is a damaged time, no loss. */
const MOST_HOLE_SECONDS = 3600;

function readInitial({ stbl }: Track) {
  try {
    return readSamples(stbl);
  } catch (error) {
    // Writers of fragments leave tables out that hold nothing.
    if (error instanceof Mp4Error) return [];
    throw error;
  }
}

/** Each sample lasts until the next one's decode time, whatever was left out between them. */
function withClosedTimes(samples: readonly NewSample[]): NewSample[] {
  return samples.map((sample, index) => {
    const next = samples[index + 1];
    return next ? { ...sample, durationTicks: next.dts - sample.dts } : sample;
  });
}

/** Whether a number is missing between two fragments; tracks may be counted apart from each other. */
function isBrokenSequence(fragments: readonly Fragment[]): boolean {
  return fragments.some(({ sequence }, index) => {
    const before = fragments[index - 1];
    return before !== undefined && sequence > before.sequence + 1;
  });
}

const startSeconds = ({ samples, track }: Gathered) => {
  const [first] = samples;
  return first ? first.dts / track.timescale : null;
};

/** A track under one index: its times begin at the start of the movie, a later begin is a wait. */
function toOutTrack(one: Gathered, movieTimescale: number, origin: number) {
  const { track, samples } = one;
  const [first] = samples;
  const last = samples.at(-1);
  if (!first || !last) return null;
  const moved = samples.map((sample) => ({
    ...sample,
    dts: sample.dts - first.dts,
    pts: sample.pts - first.dts,
  }));
  const toMovie = (ticks: number) => Math.round((ticks * movieTimescale) / track.timescale);
  const mediaTicks = last.dts + last.durationTicks - first.dts;
  const endTicks = moved.reduce((end, { pts, durationTicks }) => Math.max(end, pts + durationTicks), 0);
  const waitTicks = Math.round((first.dts / track.timescale - origin) * movieTimescale);
  const edits = toEdits(track, { endTicks, waitTicks, toMovie });
  const total = edits.reduce((sum, { durationTicks }) => sum + durationTicks, 0);
  const movieTicks = edits.length > 0 ? total : toMovie(mediaTicks);
  let trak = replaceBox(track.trak, 'tkhd', (header) => withDuration(header, movieTicks));
  trak = replaceBox(trak, 'mdia/mdhd', (header) => withDuration(header, mediaTicks));
  const boxes = (trak.children ?? []).filter(({ type }) => type !== 'edts');
  const at = boxes.findIndex(({ type }) => type === 'tkhd') + 1;
  const edts: Box[] = edits.length > 0 ? [writeEditList(edits)] : [];
  needBox(trak, 'tkhd');
  const edited = container('trak', [...boxes.slice(0, at), ...edts, ...boxes.slice(at)]);
  const out: OutTrack = rebuildTrack(edited, track.timescale, moved);
  return { out, movieTicks };
}

interface EditTimes {
  readonly endTicks: number;
  readonly waitTicks: number;
  readonly toMovie: (ticks: number) => number;
}

/** The edits of the header with the lengths that are known now; a length of 0 there means to the end. */
function toEdits({ edits }: Track, { endTicks, waitTicks, toMovie }: EditTimes): Edit[] {
  const known = edits.map((edit) => {
    if (edit.mediaTime < 0 || edit.durationTicks > 0) return edit;
    return { ...edit, durationTicks: toMovie(Math.max(0, endTicks - edit.mediaTime)) };
  });
  if (waitTicks <= 0) return known;
  const wait: Edit = { durationTicks: waitTicks, mediaTime: -1, rate: 1 };
  const shown: Edit = { durationTicks: toMovie(endTicks), mediaTime: 0, rate: 1 };
  return known.length > 0 ? [wait, ...known] : [wait, shown];
}

function lossesOf({ track, samples, missing, holeTicks }: Gathered): string[] {
  const name = { vide: 'picture', soun: 'sound' }[track.handler] ?? 'data';
  const hole = (holeTicks / track.timescale).toFixed(2);
  return [
    ...(missing > 0
      ? [`${missing} of ${samples.length + missing} ${name} samples are not in the file.`]
      : []),
    ...(holeTicks > 0 && track.handler === 'vide'
      ? [`Fragments with ${hole} s of pictures have lost their index or are not in the file.`]
      : []),
  ];
}
