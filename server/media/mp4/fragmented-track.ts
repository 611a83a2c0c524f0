import type { FileHandle } from 'node:fs/promises';
import { type Box, container, needBox, replaceBox } from './box.ts';
import { type Edit, writeEditList } from './edit-list.ts';
import type { Fragment } from './fragments.ts';
import type { Track } from './movie.ts';
import { Mp4Error } from './mp4-error.ts';
import { endOfSamples, readSamples } from './sample-table.ts';
import { type NewSample, withDuration } from './write-tables.ts';

/** Samples of one track, gathered from its tables and all fragments. */
export interface GatheredTrack {
  readonly track: Track;
  /** In decode order, with the times that the fragments state. */
  readonly samples: NewSample[];
  /** Media time at which the samples of the tables, in front of all fragments, end; 0 where the tables list none. */
  readonly listedTicks: number;
  /** Decode time at which the next fragment continues. */
  nextTicks: number;
  /** Samples that are listed but not in the file. */
  missing: number;
  /** Fragments that are left out because their time goes back: repeated or damaged ones. */
  misplaced: number;
  /** Time that no fragment covers, ticks. */
  holeTicks: number;
}

/** A gap longer than this comes from a damaged time and not from a loss. */
const MOST_HOLE_SECONDS = 3600;

/**
 * All samples of a track of a fragmented movie that are in the file.
 * @param fragments in file order
 * @param reach with `file`, a sample may also be listed behind the next fragment: where bytes are missing, or places
 * count from the start of the file, it may be anywhere
 */
export function gatherTrack(
  track: Track,
  fragments: readonly Fragment[],
  file: FileHandle,
  fileBytes: number,
  reach: 'fragment' | 'file' = 'fragment',
): GatheredTrack {
  const listed = readInitialSamples(track);
  const listedTicks = endOfSamples(listed);
  const counts = { nextTicks: 0, missing: 0, misplaced: 0, holeTicks: 0 };
  const all: GatheredTrack = { track, samples: [], listedTicks, ...counts };
  for (const { offset, sizeBytes, dts, pts, durationTicks, sync } of listed) {
    if (offset + sizeBytes > fileBytes) all.missing += 1;
    else all.samples.push({ bytes: { file, offset, sizeBytes }, dts, pts, durationTicks, sync });
    all.nextTicks = dts + durationTicks;
  }
  for (const [index, fragment] of fragments.entries()) {
    const next = reach === 'file' ? undefined : fragments[index + 1];
    const end = Math.min(fileBytes, next?.offset ?? fileBytes);
    for (const { trackId, startTicks, samples } of fragment.runs) {
      if (trackId !== track.trackId) continue;
      let dts = startTicks ?? all.nextTicks;
      const rise = dts - all.nextTicks;
      // A repeated fragment, or one whose time is damaged, has no place.
      if (all.samples.length > 0 && (rise < 0 || rise > MOST_HOLE_SECONDS * track.timescale)) {
        all.misplaced += 1;
        continue;
      }
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
            // Every sound packet can be decoded by itself, whatever its flags say.
            sync: sync || track.handler === 'soun',
          });
        dts += durationTicks;
      }
      all.nextTicks = dts;
    }
  }
  return { ...all, samples: withClosedTimes(all.samples) };
}

/** The samples of a track that the tables in front of the fragments list; mostly none. */
export function readInitialSamples({ stbl }: Track) {
  try {
    return readSamples(stbl);
  } catch (error) {
    // Writers of fragments leave out empty tables.
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

/** A track whose headers and edits state the times found in its fragments. */
export interface TimedTrack {
  /** Its sample tables are still those of the fragmented movie. */
  readonly trak: Box;
  /** Decode times start at 0. */
  readonly samples: readonly NewSample[];
  /** Length on the movie's time axis, movie timescale ticks. */
  readonly movieTicks: number;
}

/**
 * A track for a movie without fragments: its decode times begin at 0, and a later beginning becomes a wait.
 * @param movieTimescale ticks per second of the edits, to which the wait is rounded
 * @param originSeconds decode time at which the movie begins
 * @returns null for a track without samples
 */
export function timeTrack(
  { track, samples, listedTicks }: GatheredTrack,
  movieTimescale: number,
  originSeconds: number,
): TimedTrack | null {
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
  const endTicks = endOfSamples(moved);
  const waitTicks = Math.round((first.dts / track.timescale - originSeconds) * movieTimescale);
  const edits = toEdits(track, { endTicks, listedTicks, waitTicks, toMovie });
  const total = edits.reduce((sum, { durationTicks }) => sum + durationTicks, 0);
  const movieTicks = edits.length > 0 ? total : toMovie(mediaTicks);
  let trak = replaceBox(track.trak, 'tkhd', (header) => withDuration(header, movieTicks));
  trak = replaceBox(trak, 'mdia/mdhd', (header) => withDuration(header, mediaTicks));
  const boxes = (trak.children ?? []).filter(({ type }) => type !== 'edts');
  const at = boxes.findIndex(({ type }) => type === 'tkhd') + 1;
  const edts: Box[] = edits.length > 0 ? [writeEditList(edits)] : [];
  needBox(trak, 'tkhd');
  trak = container('trak', [...boxes.slice(0, at), ...edts, ...boxes.slice(at)]);
  return { trak, samples: moved, movieTicks };
}

interface EditTimes {
  readonly endTicks: number;
  readonly listedTicks: number;
  readonly waitTicks: number;
  readonly toMovie: (ticks: number) => number;
}

/**
 * The edits of the header with the lengths that are known now. A length of 0 means to the end. So does the length of a
 * last edit that ends where the samples in front of all fragments end: Apple's recorders write that while they record.
 */
function toEdits({ edits }: Track, { endTicks, listedTicks, waitTicks, toMovie }: EditTimes): Edit[] {
  const known = edits.map((edit, at) => {
    const isLast = at === edits.length - 1;
    const listed = toMovie(Math.max(0, listedTicks - edit.mediaTime));
    const goesOn = isLast && Math.abs(edit.durationTicks - listed) <= MOST_ROUNDING_TICKS;
    if (edit.mediaTime < 0 || (edit.durationTicks > 0 && !goesOn)) return edit;
    return { ...edit, durationTicks: toMovie(Math.max(0, endTicks - edit.mediaTime)) };
  });
  if (waitTicks <= 0) return known;
  const wait: Edit = { durationTicks: waitTicks, mediaTime: -1, rate: 1 };
  const shown: Edit = { durationTicks: toMovie(endTicks), mediaTime: 0, rate: 1 };
  return known.length > 0 ? [wait, ...known] : [wait, shown];
}

/** By how much the length of an edit may be rounded, movie ticks. */
const MOST_ROUNDING_TICKS = 1;
