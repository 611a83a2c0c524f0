import { longestRising } from '#server/media/longest-rising.ts';
import type { FileHandle } from 'node:fs/promises';
import type { Box } from '#server/media/mp4/box.ts';
import { type Edit, withEditList } from '#server/media/mp4/edit-list.ts';
import type { Movie, Track } from '#server/media/mp4/movie.ts';
import { readSamples, type Sample } from '#server/media/mp4/sample-table.ts';
import { carryTrack, retimeTrack, type OutTrack } from '#server/media/mp4/write-movie.ts';
import { median } from '#server/media/statistics.ts';
import type { MovedMedia } from './rebuild-index-move.ts';
import { readHeads } from './rebuild-index-heads.ts';
import { readTrackSettings } from './rebuild-index-settings.ts';
import { displayPlaces, isCertainOrder } from './rebuild-index-times.ts';

/**
 * Number of pictures examined from the beginning and from the middle on. A writer that does not know about reordering
 * gets every group wrong, and groups that reorder are shorter than this (the deepest reordering of H.264 and HEVC is 16
 * pictures).
 */
const LOOKED_AT = 48;
/** Most pictures that a list may hide as the reordering delay in use: x264, x265 and phone encoders delay by two. */
const MOST_WAIT = 2.5;
/** Intervals below this share of the usual one are no times at which a camera shows pictures. */
const LEAST_INTERVAL = 0.25;

/**
 * Checks whether the times in the index show the pictures in another order than their order counts (ITU-T H.264, 8.2.1;
 * H.265, 8.3.1), which every decoder follows. This happens if the index lost its table of composition times, or if its
 * writer used decode times as display times. The pictures then get times in the order of their counts: the listed ones,
 * or, if these are too close together to be true, the decode times, which every writer knows.
 * @param lookedAt number of pictures examined from the beginning and from the middle on
 * @returns the tracks with usable times; null if the order is right, or not every picture tells it
 * @throws Mp4Error when tables cannot be read
 */
export async function mendOrder(
  file: FileHandle,
  { tracks, timescale }: Pick<Movie, 'tracks' | 'timescale'>,
  signal?: AbortSignal,
  lookedAt = LOOKED_AT,
): Promise<MovedMedia | null> {
  const video = tracks.find(({ handler }) => handler === 'vide');
  const settings = video ? readTrackSettings(video) : null;
  if (!video || !settings || settings.coding.order.kind === 'untold') return null;
  const samples = readSamples(video.stbl);
  const { order } = settings.coding;
  const isWrong = async (part: readonly Sample[]) => {
    const pictures = await readHeads(file, part, settings, signal);
    return pictures !== null && countTurned(inDisplayOrder(part, displayPlaces(pictures, order))) > 0;
  };
  const middle = samples.findIndex(({ sync }, at) => sync && at >= samples.length / 2);
  const parts = (lookedAt < samples.length ? [0, middle] : [0])
    .filter((at) => at >= 0)
    .map((at) => samples.slice(at, at + lookedAt));
  const verdicts = await Promise.all(parts.map(isWrong));
  if (!verdicts.includes(true)) return null;
  const pictures = await readHeads(file, samples, settings, signal);
  if (!pictures || !isCertainOrder(pictures, order)) return null;
  const places = displayPlaces(pictures, order);
  const turned = countTurned(inDisplayOrder(samples, places));
  const timed = timeByOrder(samples, places);
  const trak = withStart(video, timescale, samples, timed);
  if (!trak) return null;
  return {
    tracks: tracks.map((track): OutTrack =>
      track === video ? retimeTrack(video, trak, timed, file) : carryTrack(track, file),
    ),
    notes: [
      `The index listed ${turned} of ${samples.length} frames in the wrong order; now all are in the order that their data tell.`,
    ],
  };
}

function inDisplayOrder(samples: readonly Sample[], places: readonly number[]): Sample[] {
  const shown: Sample[] = [];
  samples.forEach((sample, at) => {
    shown[places[at] ?? at] = sample;
  });
  return shown;
}

/** Number of pictures whose listed time is before that of the picture shown before them. */
function countTurned(shown: readonly Sample[]): number {
  return shown.filter(({ pts }, at) => at > 0 && pts < (shown[at - 1]?.pts ?? pts)).length;
}

/** The samples in decode order, with display times that rise in display order. */
function timeByOrder(samples: readonly Sample[], places: readonly number[]): Sample[] {
  const sorted = samples.map(({ pts }) => pts).sort((a, b) => a - b);
  const shown = inDisplayOrder(samples, places).map(({ pts }) => pts);
  const listed = withLoneMoved(shown, sorted) ?? sorted;
  const clock = isSpread(listed) && !strays(samples) ? listed : samples.map(({ dts }) => dts);
  const timeOf = (at: number) => clock[places[at] ?? at] ?? 0;
  const delay = samples.reduce((most, { dts }, at) => Math.max(most, dts - timeOf(at)), 0);
  return samples.map((sample, at) => ({ ...sample, pts: timeOf(at) + delay }));
}

/** No more than one picture of this many has a wrong time of its own; more are times of another order. */
const LEAST_PER_LONE = 16;
/** An interval is even up to this share of the usual one from it. */
const EVEN_SHARE = 0.25;

/**
 * Puts the few pictures whose listed time contradicts their order evenly between their neighbours. To sort the times
 * instead would give each picture up to there the time of its neighbour, and open a hole where none was lost.
 * @param listed times in display order, ticks
 * @param sorted the same, rising
 * @returns null if other times are more even when sorted, as after a mere exchange, or too many are wrong
 */
function withLoneMoved(listed: readonly number[], sorted: readonly number[]): number[] | null {
  const kept = longestRising(listed);
  const moved = listed.length - kept.length;
  if (moved === 0 || moved * LEAST_PER_LONE > listed.length) return null;
  if (kept[0] !== 0 || kept.at(-1) !== listed.length - 1) return null;
  const times = [...listed];
  kept.slice(1).forEach((to, at) => {
    const from = kept[at] ?? to;
    const [start, end] = [listed[from] ?? 0, listed[to] ?? 0];
    for (let place = from + 1; place < to; place += 1)
      times[place] = Math.round(start + ((end - start) * (place - from)) / (to - from));
  });
  return countUneven(times) < countUneven(sorted) ? times : null;
}

const intervalsOf = (times: readonly number[]): number[] =>
  times.slice(1).map((time, before) => time - (times[before] ?? time));

function countUneven(times: readonly number[]): number {
  const intervals = intervalsOf(times);
  const usual = median(intervals);
  return intervals.filter((interval) => Math.abs(interval - usual) > EVEN_SHARE * usual).length;
}

function isSpread(times: readonly number[]): boolean {
  const intervals = intervalsOf(times);
  const least = LEAST_INTERVAL * median(intervals);
  return intervals.every((interval) => interval >= least);
}

/** Most pictures by which one may be reordered (ITU-T H.264, A.3.1: a decoder holds 16). */
const MOST_REORDERED = 16;

/**
 * Whether a picture's listed time is farther from its decode time than reordering allows. Such an entry of the table is
 * damaged, and others may be too.
 */
function strays(samples: readonly Sample[]): boolean {
  const shifts = samples.map(({ pts, dts }) => pts - dts);
  const usual = median(shifts);
  const most = MOST_REORDERED * samples.reduce((longest, one) => Math.max(longest, one.durationTicks), 0);
  return shifts.some((shift) => Math.abs(shift - usual) > most);
}

const firstShown = (samples: readonly Sample[]) =>
  samples.reduce((first, { pts }) => Math.min(first, pts), Infinity);

/**
 * The track's box with an edit list under which the first shown picture stays the same.
 * @returns null if an edit list shows several stretches, or trims pictures whose clock has changed: the place of the
 * cut is unknown
 */
function withStart(
  { trak, timescale, edits }: Track,
  movieTimescale: number,
  listed: readonly Sample[],
  timed: readonly Sample[],
): Box | null {
  const [before, now] = [firstShown(listed), firstShown(timed)];
  const isShown = ({ mediaTime }: Edit) => mediaTime >= 0;
  if (edits.length === 0) {
    if (now === before) return trak;
    const mediaTicks = timed.reduce((sum, sample) => sum + sample.durationTicks, 0);
    const durationTicks = Math.round((mediaTicks * movieTimescale) / timescale);
    return withEditList(trak, [{ durationTicks, mediaTime: now - before, rate: 1 }]);
  }
  const [shown, another] = edits.filter(isShown);
  if (!shown || another) return null;
  const wait = MOST_WAIT * median(timed.map(({ durationTicks }) => durationTicks));
  if (now !== before && shown.mediaTime > Math.max(before, now, wait)) return null;
  const mediaTime = now === before ? shown.mediaTime : now;
  return withEditList(
    trak,
    edits.map((edit) => (edit === shown ? { ...edit, mediaTime } : edit)),
  );
}
