import type { FileHandle } from 'node:fs/promises';
import { readInitialSamples } from '#server/media/mp4/fragmented-track.ts';
import type { Fragment, FragmentRun, FragmentSample } from '#server/media/mp4/fragments.ts';
import type { Track } from '#server/media/mp4/movie.ts';
import { median } from '#server/media/statistics.ts';
import { findSoundFrames } from './rebuild-index-frames.ts';
import { findPictures } from './rebuild-index-pictures.ts';
import type { FoundMedia, FoundPicture } from './rebuild-index-scan.ts';
import { type PictureSettings, readTrackSettings } from './rebuild-index-settings.ts';
import { timePictures } from './rebuild-index-times.ts';

export interface UnlistedInput {
  readonly file: FileHandle;
  readonly fileBytes: number;
  readonly video: Track;
  /** The sound track; null if there is none or there are several. */
  readonly sound: Track | null;
  /** In file order. */
  readonly fragments: readonly Fragment[];
  readonly signal?: AbortSignal;
}

/** Fewer bytes between fragments are padding or headers of the file. */
const MIN_REGION_BYTES = 512;
/** Share by which the interval may differ from the usual one so that the pictures exactly fill a gap. */
const FITTING = 0.34;

/** State of a track while its fragments are processed. */
interface Progress {
  readonly track: Track;
  /** Usual duration of its samples, ticks. */
  readonly usual: number;
  /** Decode time at which it continues, media timescale ticks. */
  nextTicks: number;
}

/**
 * Makes fragments for samples whose own lists are lost. Pictures are found by their structure in the data that no
 * fragment lists, and placed one interval apart in the missing time; coded sound is found by reading it.
 * @returns all fragments in file order, including the made ones; only H.264 and HEVC pictures are found
 * @throws the signal's reason when aborted
 */
export async function findUnlisted(input: UnlistedInput): Promise<Fragment[]> {
  const { fileBytes, video, fragments } = input;
  const settings = readTrackSettings(video);
  const pictures = startProgress(video, fragments);
  const sound = input.sound && startProgress(input.sound, fragments);
  if (!settings || !(pictures.usual > 0)) return [...fragments];
  const shown = shownTimes(fragments, video, pictures.nextTicks);
  const all: Fragment[] = [];
  const search = async (from: number, before: Fragment | null, index: number) => {
    const later = fragments.slice(index);
    const end = later[0]?.offset ?? fileBytes;
    if (end - from < MIN_REGION_BYTES) return;
    const region = { from, end };
    const found = await findRegionPictures(input, region, { settings, shown, later, progress: pictures });
    const samples = sound ? await findRegionSound(input, found.gaps, sound, later) : null;
    const runs = [found.run, samples].filter((run) => run !== null);
    if (runs.length === 0) return;
    all.push({ offset: from, sizeBytes: 0, sequence: (before?.sequence ?? 0) + 1, runs });
  };
  const tablesEnd = endOfTables([video, ...(input.sound ? [input.sound] : [])]);
  if (tablesEnd !== null) await search(tablesEnd, null, 0);
  for (const [index, fragment] of fragments.entries()) {
    all.push(fragment);
    for (const one of sound ? [pictures, sound] : [pictures]) passOver(one, fragment);
    await search(endOf(fragment), fragment, index + 1);
  }
  return all;
}

function startProgress(track: Track, fragments: readonly Fragment[]): Progress {
  const listed = readInitialSamples(track);
  const last = listed.at(-1);
  const nextTicks = last ? last.dts + last.durationTicks : 0;
  const inFragments = samplesOf(fragments, track);
  const durations = (inFragments.length > 0 ? inFragments : listed).map(({ durationTicks }) => durationTicks);
  return { track, usual: median(durations), nextTicks };
}

function passOver(progress: Progress, { runs }: Fragment): void {
  const run = runs.find(({ trackId }) => trackId === progress.track.trackId);
  if (!run) return;
  const ticks = run.samples.reduce((sum, { durationTicks }) => sum + durationTicks, 0);
  progress.nextTicks = (run.startTicks ?? progress.nextTicks) + ticks;
}

/** End of the samples in the tables before all fragments; null if there are none. */
function endOfTables(tracks: readonly Track[]): number | null {
  const ends = tracks.flatMap((track) =>
    readInitialSamples(track).map(({ offset, sizeBytes }) => offset + sizeBytes),
  );
  return ends.length === 0 ? null : ends.reduce((most, end) => Math.max(most, end), 0);
}

interface PictureSearch {
  readonly settings: PictureSettings;
  /** Presentation times of listed pictures, ascending. */
  readonly shown: readonly number[];
  readonly later: readonly Fragment[];
  readonly progress: Progress;
}

/** Pictures of a region that fit into the missing time there, and what lies between them. */
async function findRegionPictures(
  { file, signal }: UnlistedInput,
  { from, end }: { readonly from: number; readonly end: number },
  { settings, shown, later, progress }: PictureSearch,
): Promise<{ readonly run: FragmentRun | null; readonly gaps: FoundMedia['gaps'] }> {
  const none = { run: null, gaps: [{ offset: from, sizeBytes: end - from }] };
  const { usual, nextTicks, track } = progress;
  const hole = holeBefore(later, track, nextTicks);
  if (hole < usual) return none;
  const { pictures, gaps } = await findPictures(file, from, end, settings, signal);
  if (pictures.length === 0) return none;
  const exact = hole / pictures.length;
  const interval = Math.abs(exact - usual) < FITTING * usual ? Math.floor(exact) : usual;
  if (interval * pictures.length > hole) return none;
  const slots = freeSlots(shown, { near: nextTicks, interval, count: pictures.length });
  const samples = toSamples(pictures, settings, { interval, slots, nextTicks, file });
  progress.nextTicks += interval * pictures.length;
  return { run: { trackId: track.trackId, startTicks: nextTicks, samples }, gaps };
}

/** Sound frames between pictures that fit into the missing time there; null if there are none. */
async function findRegionSound(
  { file, signal }: UnlistedInput,
  gaps: FoundMedia['gaps'],
  progress: Progress,
  later: readonly Fragment[],
): Promise<FragmentRun | null> {
  const { track, usual, nextTicks } = progress;
  const [entry] = track.entries;
  const room = Math.round(holeBefore(later, track, nextTicks) / usual);
  if (!entry || !(room >= 1)) return null;
  const frames = await findSoundFrames(file, gaps, entry.bytes, signal);
  if (!frames || frames.length === 0 || frames.length > room) return null;
  progress.nextTicks += frames.length * usual;
  const samples = frames.map(({ offset, sizeBytes }) => {
    return { offset, sizeBytes, durationTicks: usual, shiftTicks: 0, sync: true };
  });
  return { trackId: track.trackId, startTicks: nextTicks, samples };
}

const samplesOf = (fragments: readonly Fragment[], { trackId }: Track): FragmentSample[] =>
  fragments.flatMap(({ runs }) => runs.flatMap((run) => (run.trackId === trackId ? run.samples : [])));

/** End of a fragment's data, or of its own box if no data follow it. */
function endOf({ offset, sizeBytes, runs }: Fragment): number {
  return runs.reduce(
    (end, { samples }) => samples.reduce((most, one) => Math.max(most, one.offset + one.sizeBytes), end),
    offset + sizeBytes,
  );
}

/** Missing ticks until the next fragment of a track: 0 if that states no time, Infinity after the last one. */
function holeBefore(later: readonly Fragment[], { trackId }: Track, nextTicks: number): number {
  for (const { runs } of later) {
    const run = runs.find((one) => one.trackId === trackId);
    if (run) return run.startTicks === null ? 0 : run.startTicks - nextTicks;
  }
  return Infinity;
}

/** Ascending presentation times of the pictures listed in the tables before the fragments and in the fragments. */
function shownTimes(fragments: readonly Fragment[], track: Track, startTicks: number): number[] {
  const { trackId } = track;
  const times = readInitialSamples(track).map(({ pts }) => pts);
  let dts = startTicks;
  for (const run of fragments.flatMap(({ runs }) => runs)) {
    if (run.trackId !== trackId) continue;
    dts = run.startTicks ?? dts;
    for (const { durationTicks, shiftTicks } of run.samples) {
      times.push(dts + shiftTicks);
      dts += durationTicks;
    }
  }
  return times.sort((a, b) => a - b);
}

/** Most pictures that may be shown earlier than those decoded before them (deepest usual B pyramid). */
const MAX_REORDER = 16;

/** The first presentation times near a decode time at which no picture is listed. */
function freeSlots(
  shown: readonly number[],
  { near, interval, count }: { readonly near: number; readonly interval: number; readonly count: number },
): number[] {
  const from = shown.find((time) => time >= near - MAX_REORDER * interval) ?? near - interval;
  const slots: number[] = [];
  let at = shown.indexOf(from);
  for (let time = from; slots.length < count; time += interval) {
    while (at >= 0 && at < shown.length && (shown[at] ?? 0) < time - interval / 2) at += 1;
    const listed = at < 0 ? undefined : shown[at];
    if (listed === undefined || listed > time + interval / 2) slots.push(time);
    else time = listed;
  }
  return slots;
}

interface SampleTimes {
  readonly interval: number;
  /** Presentation times for the pictures, ascending. */
  readonly slots: readonly number[];
  readonly nextTicks: number;
  readonly file: FileHandle;
}

function toSamples(
  pictures: readonly FoundPicture[],
  { coding }: PictureSettings,
  { interval, slots, nextTicks, file }: SampleTimes,
): FragmentSample[] {
  const timed = timePictures(pictures, coding.order, interval, file);
  const inOrder = timed.map(({ pts }) => pts).sort((a, b) => a - b);
  return timed.map(({ bytes, pts, dts, durationTicks, sync }) => ({
    offset: bytes.offset,
    sizeBytes: bytes.sizeBytes,
    durationTicks,
    shiftTicks: (slots[inOrder.indexOf(pts)] ?? 0) - nextTicks - dts,
    sync,
  }));
}
