import { open } from 'node:fs/promises';
import { AAC_RATES_HZ, readAacConfig, type AacConfig } from '#server/media/aac/aac-config.ts';
import { createAacFrameReader, type AacFrame } from '#server/media/aac/aac-frame.ts';
import { toSimpleEdit } from '#server/media/mp4/edit-list.ts';
import { readExactly } from '#server/media/mp4/file-bytes.ts';
import { readListedMovie } from '#server/media/mp4/listed-movie.ts';
import type { Movie, Track } from '#server/media/mp4/movie.ts';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';
import { readSamples, sampleCount, type Sample } from '#server/media/mp4/sample-table.ts';
import type { AudioStreamInfo } from '#server/media/probe/probe.ts';
import type { SoundClock } from '#server/media/signal/pcm-clock.ts';
import type { Filling } from '../repair-audio-holes.ts';
import { LC_FRAME } from '../../../analyse/audio-sync/detect-audio-sync-start.ts';

/**
 * The coded frames of a sound by place. Places count frames: their samples follow each other, whatever the times say.
 */
export interface SoundGrid {
  readonly config: AacConfig;
  /** Samples in a frame: 1024, or twice that with spectral band replication. */
  readonly frameSamples: number;
  /**
   * The frame at each place, up to the last decoded one; null if there is none, no decoder accepts it, or it is
   * incomplete.
   */
  readonly frames: readonly (AacFrame | null)[];
  /** Number of coded frames, up to where an edit list ends the sound. */
  readonly listed: number;
  /** Sample of the repaired sound at which the first frame's output begins; negative for what an edit list hides. */
  readonly firstSample: number;
  /** Samples missing before decoded ones: whole frames. */
  readonly fillings: readonly Filling[];
  /** When each place is played, in ticks of the track on the container's axis; negative where an edit list hides it. */
  readonly ticks: readonly number[];
  /** Where an edit list ends the sound, on the same axis; Infinity if none does. */
  readonly endTicks: number;
  /** The rest of the sound's description: its track, and the movie around it. */
  readonly track: Track;
  readonly movie: Pick<Movie, 'ftyp' | 'moov' | 'timescale'>;
}

/** Most rounding difference between the decoder's times or sample numbers and the list's, which count other ticks. */
const MOST_ASIDE = 2;
/** A first frame that is stated to last up to this many is encoder warm-up, and nothing is missing after it. */
const MOST_WARM_UP_FRAMES = 8;
/** All coded sound is held in memory; an hour at 128 kbit/s is less. */
const MOST_BYTES = 64 << 20;
const MOST_FRAMES = 1_000_000;
/** Largest share of frames that are decoded but not complete: damage that decoders do not notice. */
const MOST_BROKEN_SHARE = 0.1;

/**
 * Reads the coded frames of an AAC-LC sound, and which of them were decoded.
 * @param clock of the decoded sound, each frame with its time
 * @param counted by times, unlisted frames count as missing too; by the list alone, a gap in the times stays a gap
 * @returns null if the decoder's samples do not match the frames, or these are of another kind: then the whole sound
 * must be encoded again
 */
export async function readSoundGrid(
  inputPath: string,
  stream: AudioStreamInfo,
  clock: SoundClock,
  counted: 'by times' | 'by list',
): Promise<SoundGrid | null> {
  const file = await open(inputPath, 'r');
  try {
    const movie = await readListedMovie(file);
    const listed = listFrames(movie, stream);
    const places = listed && (counted === 'by times' ? placesOf(listed) : [...listed.ticks.keys()]);
    const heard = places && heardPlaces(listed, places, clock);
    const reader = listed && createAacFrameReader(listed.config);
    if (!heard || !reader) return null;
    const frames = Array.from({ length: heard.last + 1 }, (): AacFrame | null => null);
    let broken = 0;
    for (const [at, { offset, sizeBytes }] of listed.samples.entries()) {
      const place = places[at] ?? 0;
      if (!heard.isDecoded(place)) continue;
      const frame = reader.read(await readExactly(file, offset, sizeBytes));
      frames[place] = frame;
      if (!frame) broken += 1;
    }
    // If too many frames look broken, the encoder is one that this code does not understand.
    if (broken > MOST_BROKEN_SHARE * listed.samples.length) return null;
    const { config, frameSamples, track, endTicks } = listed;
    return {
      config,
      frameSamples,
      frames,
      listed: listed.samples.length,
      firstSample: heard.firstSample,
      fillings: heard.fillings,
      ticks: ticksOf(listed, places, frames.length, heard.firstTicks),
      endTicks,
      track,
      movie,
    };
  } catch (error) {
    if (error instanceof Mp4Error) return null;
    throw error;
  } finally {
    await file.close();
  }
}

interface ListedFrames extends Pick<SoundGrid, 'config' | 'frameSamples' | 'track' | 'endTicks'> {
  readonly samples: readonly Sample[];
  /** When each is played, in ticks of the track on the container's axis. */
  readonly ticks: readonly number[];
  /** Samples played in a tick. */
  readonly perTick: number;
}

/**
 * The coded frames as the index lists them; null if they are no AAC of one kind, or their times do not count samples.
 */
function listFrames(movie: Movie, stream: AudioStreamInfo): ListedFrames | null {
  const track = movie.tracks[stream.index];
  const entry = track?.entries[0];
  if (!track || !entry || track.entries.length > 1 || track.handler !== 'soun' || movie.fragmented)
    return null;
  const config = entry.coding === 'mp4a' ? readAacConfig(entry.bytes) : null;
  const edit = toSimpleEdit(track.edits, movie.timescale, track.timescale);
  const frameSamples = config && samplesOf(config, stream);
  const perTick = stream.sampleRateHz / track.timescale;
  if (!config || !edit || !frameSamples) return null;
  if (sampleCount(track.stbl) > MOST_FRAMES) return null;
  // Decoders never output what lies after the end of the edit list.
  const samples = readSamples(track.stbl).filter(({ pts }) => pts < edit.endTicks);
  if (samples.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) > MOST_BYTES) return null;
  const ticks = samples.map(({ pts }) => pts + edit.offsetTicks);
  const endTicks = edit.endTicks + edit.offsetTicks;
  return { config, frameSamples, track, samples, ticks, endTicks, perTick };
}

/** Output samples of a frame; null for more than two channels, whose elements are not distinguished. */
function samplesOf(
  { objectType, frequencyIndex, channels }: AacConfig,
  stream: AudioStreamInfo,
): number | null {
  if (objectType !== 2 || (channels !== 1 && channels !== 2)) return null;
  const times = stream.sampleRateHz / (AAC_RATES_HZ[frequencyIndex] ?? 0);
  // Two channels from one coded channel (parametric stereo) imply spectral band replication.
  if (times === 1) return channels === stream.channels ? LC_FRAME : null;
  return times === 2 ? 2 * LC_FRAME : null;
}

/**
 * Places of the coded frames, ascending: times tell how many frames are missing between two. Recorders state when each
 * frame arrived, some samples early or late.
 * @returns null if two are played at once
 */
function placesOf({ ticks, perTick, frameSamples }: ListedFrames): number[] | null {
  const places: number[] = [];
  let before = ticks[0] ?? 0;
  for (const tick of ticks) {
    const frames = Math.round(((tick - before) * perTick) / frameSamples);
    const last = places.at(-1);
    if (last === undefined) places.push(0);
    else if (frames < 1) return null;
    else places.push(last + (places.length === 1 && frames <= MOST_WARM_UP_FRAMES ? 1 : frames));
    before = tick;
  }
  return places.length > 0 ? places : null;
}

interface HeardPlaces extends Pick<SoundGrid, 'firstSample' | 'fillings'> {
  /** When the first frame is played: an encoder warm-up frame later than listed, right before the second. */
  readonly firstTicks: number;
  readonly last: number;
  readonly isDecoded: (place: number) => boolean;
}

/** Which places were decoded; null if the decoder's times or sample numbers contradict the list. */
function heardPlaces(
  { ticks, perTick, frameSamples }: ListedFrames,
  places: readonly number[],
  { startMs, firstSample, rateHz }: SoundClock,
): HeardPlaces | null {
  const aside = MOST_ASIDE / perTick;
  const timeOf = (frame: number) => ((startMs[frame] ?? 0) * rateHz) / 1000 / perTick;
  const startTicks = timeOf(0);
  const start = ticks.findLastIndex((tick) => tick <= startTicks + aside);
  if (start < 0) return null;
  const first = places[start] ?? 0;
  // Encoder warm-up is played later than listed, but completely.
  const isWhole = (firstSample[1] ?? 0) >= frameSamples;
  const skipped = isWhole ? 0 : Math.round((startTicks - (ticks[start] ?? 0)) * perTick);
  const decoded = new Set([first]);
  const fillings: Filling[] = [];
  let at = start;
  let before = first;
  for (let frame = 1; frame < startMs.length; frame += 1) {
    const time = timeOf(frame);
    while (at + 1 < ticks.length && (ticks[at] ?? 0) < time - aside) at += 1;
    const place = places[at] ?? 0;
    const beforeSample = firstSample[frame] ?? 0;
    const isAside = Math.abs((ticks[at] ?? 0) - time) > aside;
    if (isAside || place <= before || Math.abs(frame * frameSamples - skipped - beforeSample) > MOST_ASIDE)
      return null;
    if (place - before > 1) fillings.push({ beforeSample, sampleCount: (place - before - 1) * frameSamples });
    decoded.add(place);
    before = place;
  }
  const listed = new Set(places);
  let last = first;
  for (const place of decoded) if (place > last && listed.has(place)) last = place;
  // Decoders do not output what an edit list hides at the start; it belongs to the sound.
  const isDecoded = (place: number) => listed.has(place) && (place < first || decoded.has(place));
  const listedTicks = ticks[0] ?? 0;
  const isWarmUp = start === 0 && isWhole && startTicks - listedTicks > aside;
  const firstTicks = isWarmUp ? Math.round(startTicks) : listedTicks;
  return { firstSample: -first * frameSamples - skipped, fillings, firstTicks, last, isDecoded };
}

/** When each place is played: as listed, or right after the previous one if nothing is listed. */
function ticksOf(
  { ticks, perTick, frameSamples }: ListedFrames,
  places: readonly number[],
  count: number,
  firstTicks: number,
): number[] {
  const listed = new Map(places.map((place, at) => [place, ticks[at] ?? 0]));
  const out = [firstTicks];
  for (let place = 1; place < count; place += 1) {
    out.push(listed.get(place) ?? Math.round((out.at(-1) ?? 0) + frameSamples / perTick));
  }
  return out;
}
