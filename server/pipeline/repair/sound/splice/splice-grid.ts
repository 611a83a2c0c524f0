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
import type { Filling } from '../repair-audio-render.ts';
import { LC_FRAME } from '../../../analyse/audio-sync/detect-audio-sync-start.ts';

/** The coded frames of a sound by their places, which count frames: their samples follow on each other, whatever the times say. */
export interface SoundGrid {
  readonly config: AacConfig;
  /** Samples that a frame lasts: 1024, or twice that where spectral bands are replicated. */
  readonly frameSamples: number;
  /** What stands at each place, up to the last that was decoded; null where nothing does, no decoder takes it, or it is no whole frame. */
  readonly frames: readonly (AacFrame | null)[];
  /** How many coded frames the sound has, up to where an edit ends it. */
  readonly listed: number;
  /** Sample of the mended sound at which the decoder's answer to the first frame begins; negative for what an edit hides. */
  readonly firstSample: number;
  /** Samples that are missing in front of decoded ones: whole frames. */
  readonly fillings: readonly Filling[];
  /** When each place is played, in ticks of the track on the container's axis; negative where an edit hides it. */
  readonly ticks: readonly number[];
  /** Where an edit ends the sound, counted alike; Infinity where none does. */
  readonly endTicks: number;
  /** What else describes the sound: its track, and the movie around it. */
  readonly track: Track;
  readonly movie: Pick<Movie, 'ftyp' | 'moov' | 'timescale'>;
}

/** The decoder's times and numbers of samples differ by as many from those of the list at most, which count other ticks. */
const MOST_ASIDE = 2;
/** A first frame that is said to last this many is a coder's warm-up: none is missing behind it. */
const MOST_WARM_UP_FRAMES = 8;
/** All coded sound is held in memory: an hour at 128 kbit/s is less. */
const MOST_BYTES = 64 << 20;
const MOST_FRAMES = 1_000_000;
/** Frames that are decoded and yet no whole ones, of all: damage that decoders do not notice. */
const MOST_BROKEN_SHARE = 0.1;

/**
 * Reads the coded frames of an AAC-LC sound and which of them were decoded.
 * @param clock of the decoded sound, each frame with its time
 * @param counted by their times, frames that are not listed are missing as well; by the list alone, a gap in the times stays one
 * @returns null where the decoder's samples are not those of the frames, or these are of another kind: then only coding all of the sound
 * anew is left
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
    // An encoder whose frames are none by our reading is one that we do not know.
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
  /** Samples that are played in a tick. */
  readonly perTick: number;
}

/** The coded frames as the index lists them; null where they are no AAC of one kind, or their times do not count samples. */
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
  // What lies behind the end of what an edit shows is never handed over.
  const samples = readSamples(track.stbl).filter(({ pts }) => pts < edit.endTicks);
  if (samples.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) > MOST_BYTES) return null;
  const ticks = samples.map(({ pts }) => pts + edit.offsetTicks);
  const endTicks = edit.endTicks + edit.offsetTicks;
  return { config, frameSamples, track, samples, ticks, endTicks, perTick };
}

/** Samples of a frame as it is heard; null for more than two channels, whose elements are not told apart. */
function samplesOf(
  { objectType, frequencyIndex, channels }: AacConfig,
  stream: AudioStreamInfo,
): number | null {
  if (objectType !== 2 || (channels !== 1 && channels !== 2)) return null;
  const times = stream.sampleRateHz / (AAC_RATES_HZ[frequencyIndex] ?? 0);
  // Two channels made of one come with bands that are replicated.
  if (times === 1) return channels === stream.channels ? LC_FRAME : null;
  return times === 2 ? 2 * LC_FRAME : null;
}

/**
 * Places of the coded frames, ascending: as many are missing between two of them as their times leave room for. Recorders tell when each
 * frame came, some samples early or late.
 * @returns null where two are played at once
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
  /** When the first frame is played: a coder's warm-up later than listed, right in front of the second. */
  readonly firstTicks: number;
  readonly last: number;
  readonly isDecoded: (place: number) => boolean;
}

/** Which places were decoded; null where the decoder's times or numbers of samples say otherwise than the list. */
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
  // One that is a coder's warm-up is played later than it is listed, but as a whole.
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
  // What an edit hides in front is not handed over by a decoder, and goes with the sound.
  const isDecoded = (place: number) => listed.has(place) && (place < first || decoded.has(place));
  const listedTicks = ticks[0] ?? 0;
  const isWarmUp = start === 0 && isWhole && startTicks - listedTicks > aside;
  const firstTicks = isWarmUp ? Math.round(startTicks) : listedTicks;
  return { firstSample: -first * frameSamples - skipped, fillings, firstTicks, last, isDecoded };
}

/** When each place is played: as listed, or behind the one before where none is. */
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
