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
import { LC_FRAME } from '../../../analyse/audio-sync/detect-audio-sync-start.ts';

/** The coded frames of a sound by their places: all last as long, and each begins where the one before ends. */
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
  /** When the first frame is played, in samples of the container's axis; negative where an edit hides it. */
  readonly firstTicks: number;
  /** Where an edit ends the sound, counted alike; Infinity where none does. */
  readonly endTicks: number;
  /** What else describes the sound: its track, and the movie around it. */
  readonly track: Track;
  readonly movie: Pick<Movie, 'ftyp' | 'moov' | 'timescale'>;
}

/** Times are counted in samples; more than this beside a place they are told otherwise than by the samples. */
const MOST_ASIDE = 1;
/** All coded sound is held in memory: an hour at 128 kbit/s is less. */
const MOST_BYTES = 64 << 20;
const MOST_FRAMES = 1_000_000;
/** Frames that are decoded and yet no whole ones, of all: damage that decoders do not notice. */
const MOST_BROKEN_SHARE = 0.1;

/**
 * Reads the coded frames of an AAC-LC sound and which of them were decoded.
 * @param clock of the decoded sound, each frame with its time
 * @param filled how many samples are put in before a decoded sample, in all
 * @returns null where frames do not lie on one grid, or are of another kind: then only coding all of the sound anew is left
 */
export async function readSoundGrid(
  inputPath: string,
  stream: AudioStreamInfo,
  clock: SoundClock,
  filled: (sample: number) => number,
): Promise<SoundGrid | null> {
  const file = await open(inputPath, 'r');
  try {
    const movie = await readListedMovie(file);
    const listed = listFrames(movie, stream);
    const places = listed && placesOf(listed.ticks, listed.frameSamples);
    const heard = places && heardPlaces(places, listed.frameSamples, clock, filled);
    const reader = listed && createAacFrameReader(listed.config);
    if (!heard || !reader) return null;
    const frames = Array.from({ length: heard.last + 1 }, (): AacFrame | null => null);
    let broken = 0;
    for (const [at, { offset, sizeBytes }] of listed.samples.entries()) {
      const place = places.places[at] ?? 0;
      if (!heard.isDecoded(place)) continue;
      const frame = reader.read(await readExactly(file, offset, sizeBytes));
      frames[place] = frame;
      if (!frame) broken += 1;
    }
    // An encoder whose frames are none by our reading is one that we do not know.
    if (broken > MOST_BROKEN_SHARE * listed.samples.length) return null;
    const { firstTicks } = places;
    const { config, frameSamples, track, endTicks } = listed;
    const firstSample = firstTicks - heard.startTicks;
    return {
      config,
      frameSamples,
      frames,
      listed: listed.samples.length,
      firstSample,
      firstTicks,
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
  /** When each is played, in samples of the container's axis. */
  readonly ticks: readonly number[];
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
  if (!config || !edit || !frameSamples || !Number.isInteger(perTick)) return null;
  if (sampleCount(track.stbl) > MOST_FRAMES) return null;
  // What lies behind the end of what an edit shows is never handed over.
  const samples = readSamples(track.stbl).filter(({ pts }) => pts < edit.endTicks);
  if (samples.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) > MOST_BYTES) return null;
  const ticks = samples.map(({ pts }) => (pts + edit.offsetTicks) * perTick);
  const endTicks = (edit.endTicks + edit.offsetTicks) * perTick;
  return { config, frameSamples, track, samples, ticks, endTicks };
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

interface Places {
  readonly firstTicks: number;
  /** Of each coded frame, ascending. */
  readonly places: readonly number[];
}

/** Where frames lie on their grid by their times in samples; null where one lies beside it. */
function placesOf(ticks: readonly number[], frameSamples: number): Places | null {
  const [firstTicks] = ticks;
  if (firstTicks === undefined) return null;
  const places: number[] = [];
  for (const tick of ticks) {
    const place = Math.round((tick - firstTicks) / frameSamples);
    const isAside = Math.abs(tick - firstTicks - place * frameSamples) > MOST_ASIDE;
    if (isAside || place <= (places.at(-1) ?? -1)) return null;
    places.push(place);
  }
  return { firstTicks, places };
}

interface HeardPlaces {
  /** Time of the first decoded sample, in samples. */
  readonly startTicks: number;
  readonly last: number;
  readonly isDecoded: (place: number) => boolean;
}

/** Which places were decoded; null where the decoder's times or numbers of samples say otherwise than the grid. */
function heardPlaces(
  { firstTicks, places }: Places,
  frameSamples: number,
  { startMs, firstSample, rateHz }: SoundClock,
  filled: (sample: number) => number,
): HeardPlaces | null {
  const timeOf = (frame: number) => Math.round(((startMs[frame] ?? 0) * rateHz) / 1000);
  const startTicks = timeOf(0);
  const first = Math.floor((startTicks - firstTicks) / frameSamples);
  if (first < 0) return null;
  const decoded = new Set([first]);
  for (let frame = 1; frame < startMs.length; frame += 1) {
    const ticks = timeOf(frame);
    const sample = firstSample[frame] ?? 0;
    const place = Math.round((ticks - firstTicks) / frameSamples);
    const isAside = Math.abs(ticks - firstTicks - place * frameSamples) > MOST_ASIDE;
    if (isAside || Math.abs(sample + filled(sample) - (ticks - startTicks)) > MOST_ASIDE) return null;
    decoded.add(place);
  }
  const listed = new Set(places);
  let last = first;
  for (const place of decoded) if (place > last && listed.has(place)) last = place;
  // What an edit hides in front is not handed over by a decoder, and goes with the sound.
  const isDecoded = (place: number) => listed.has(place) && (place < first || decoded.has(place));
  return { startTicks, last, isDecoded };
}
