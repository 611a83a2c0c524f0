import type { FileHandle } from 'node:fs/promises';
import type { Fragment, FragmentSample } from '#server/media/mp4/fragments.ts';
import type { Track } from '#server/media/mp4/movie.ts';
import { median } from '#server/media/statistics.ts';
import { findPictures, type FoundPicture } from './rebuild-index-scan.ts';
import { type PictureSettings, readTrackSettings } from './rebuild-index-settings.ts';
import { timePictures } from './rebuild-index-times.ts';

export interface UnlistedInput {
  readonly file: FileHandle;
  readonly fileBytes: number;
  readonly video: Track;
  /** Decode time at which the fragments begin, media timescale ticks. */
  readonly startTicks: number;
  /** In file order. */
  readonly fragments: readonly Fragment[];
  readonly signal?: AbortSignal;
}

/** Fewer bytes between fragments are padding, or headers of the file. */
const MIN_REGION_BYTES = 4096;
/** Share by which the distance of pictures may differ from the usual one so that they fill a hole exactly. */
const FITTING = 0.34;

/**
 * Fragments for the pictures of those whose own lists are lost: found by their structure in the data that no fragment
 * lists, one interval apart in the time that none accounts for. Their sound stays lost.
 * @returns all fragments in file order, the made ones among them; only H.264 and HEVC pictures are found
 * @throws the signal's reason when aborted
 */
export async function findUnlisted(input: UnlistedInput): Promise<Fragment[]> {
  const { file, fileBytes, video, fragments } = input;
  const settings = readTrackSettings(video);
  const usual = median(samplesOf(fragments, video).map(({ durationTicks }) => durationTicks));
  if (!settings || !(usual > 0)) return [...fragments];
  const shown = shownTimes(fragments, video, input.startTicks);
  const all: Fragment[] = [];
  let nextTicks = input.startTicks;
  for (const [index, fragment] of fragments.entries()) {
    all.push(fragment);
    const run = fragment.runs.find(({ trackId }) => trackId === video.trackId);
    if (run) {
      const ticks = run.samples.reduce((sum, { durationTicks }) => sum + durationTicks, 0);
      nextTicks = (run.startTicks ?? nextTicks) + ticks;
    }
    const next = fragments[index + 1];
    const from = endOf(fragment);
    const end = next?.offset ?? fileBytes;
    const hole = next ? holeBefore(fragments.slice(index + 1), video, nextTicks) : Infinity;
    if (end - from < MIN_REGION_BYTES || hole < usual) continue;
    const { pictures } = await findPictures(file, from, end, settings, input.signal);
    if (pictures.length === 0) continue;
    const exact = hole / pictures.length;
    const interval = Math.abs(exact - usual) < FITTING * usual ? Math.floor(exact) : usual;
    if (interval * pictures.length > hole) continue;
    const slots = freeSlots(shown, { near: nextTicks, interval, count: pictures.length });
    const samples = toSamples(pictures, settings, { interval, slots, nextTicks, file });
    const runs = [{ trackId: video.trackId, startTicks: nextTicks, samples }];
    all.push({ offset: from, sizeBytes: 0, sequence: fragment.sequence + 1, runs });
    nextTicks += interval * pictures.length;
  }
  return all;
}

const samplesOf = (fragments: readonly Fragment[], { trackId }: Track): FragmentSample[] =>
  fragments.flatMap(({ runs }) => runs.flatMap((run) => (run.trackId === trackId ? run.samples : [])));

/** Where the data of a fragment end, or its own box where it lists none behind it. */
function endOf({ offset, sizeBytes, runs }: Fragment): number {
  return runs.reduce(
    (end, { samples }) => samples.reduce((most, one) => Math.max(most, one.offset + one.sizeBytes), end),
    offset + sizeBytes,
  );
}

/** Ticks that are missing until the next fragment with pictures; 0 where it tells no time. */
function holeBefore(later: readonly Fragment[], { trackId }: Track, nextTicks: number): number {
  for (const { runs } of later) {
    const run = runs.find((one) => one.trackId === trackId);
    if (run) return run.startTicks === null ? 0 : run.startTicks - nextTicks;
  }
  return 0;
}

/** Rising presentation times of the pictures that fragments list. */
function shownTimes(fragments: readonly Fragment[], { trackId }: Track, startTicks: number): number[] {
  const times: number[] = [];
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

/** Pictures that may be shown earlier than those decoded before them (deepest usual B-pyramid). */
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
  /** Presentation times for the pictures, rising. */
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
