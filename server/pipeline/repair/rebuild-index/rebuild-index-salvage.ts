import type { FileHandle } from 'node:fs/promises';
import { type Box, findBox, needBox, replaceBox } from '#server/media/mp4/box.ts';
import { readUpTo } from '#server/media/mp4/file-bytes.ts';
import type { Movie, Track } from '#server/media/mp4/movie.ts';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';
import { MAX_SAMPLES, readChunks, readSamples } from '#server/media/mp4/sample-table.ts';
import { carryTrack, type OutTrack, rebuildTrack } from '#server/media/mp4/write-movie.ts';
import {
  isSelfContained,
  type NewSample,
  withDuration,
  withOwnMedia,
} from '#server/media/mp4/write-tables.ts';
import { firstAbove, median } from '#server/media/statistics.ts';
import type { MovedMedia } from './rebuild-index-move.ts';
import { LONGEST_SECONDS } from './rebuild-index-sane.ts';
import { sampleName } from './rebuild-index-types.ts';
import { unitRulesOf } from './rebuild-index-units.ts';

export interface SalvagedMedia extends MovedMedia {
  /** Tracks with listed samples that have no place. */
  readonly incomplete: readonly Track[];
}

/**
 * Reads all that damaged sample tables still tell, and writes new ones. Table lengths come from their boxes if their
 * counts contradict them, chunks end where the next one of any track begins, and what has no place in the file is left
 * out. Tracks with intact tables are carried over as they are.
 * @param every also write new tables for intact ones, because something else in them stops a reader
 * @returns the tracks; null if none has pictures, or the tables do not lead to pictures
 */
export async function salvageTracks(
  file: FileHandle,
  { tracks, fileBytes }: Movie,
  every = false,
): Promise<SalvagedMedia | null> {
  const starts = startsOf(tracks);
  const kept: OutTrack[] = [];
  const notes = ['The tables of the index were damaged; new ones were made of what they still tell.'];
  const incomplete: Track[] = [];
  let hasPictures = false;
  for (const track of tracks) {
    const others = tracks.filter((other) => other !== track);
    if (!every && hasReadableTables(track) && hasOwnBytes(track, others, fileBytes)) {
      hasPictures ||= track.handler === 'vide';
      kept.push(carryTrack(track, file));
      continue;
    }
    const { samples, listed } = readLeniently(track, { file, fileBytes, starts });
    const lost = listed - samples.length;
    if (lost > 0 || samples.length === 0) incomplete.push(track);
    if (samples.length === 0) continue;
    if (track.handler === 'vide') {
      if (!(await arePictures(file, track, samples))) return null;
      hasPictures = true;
    }
    if (lost > 0) notes.push(`${lost} of ${listed} ${sampleName(track)} have no place in it.`);
    const ticks = samples.reduce((sum, { durationTicks }) => sum + durationTicks, 0);
    const trak = replaceBox(withWholeDescriptions(track), 'mdia/mdhd', (box) => withDuration(box, ticks));
    kept.push(rebuildTrack(trak, track.timescale, samples));
  }
  return hasPictures ? { tracks: kept, notes, incomplete } : null;
}

/** Whether a track's tables can be read and its header says what it is. */
export function hasReadableTables({ trak, stbl, handler, entries }: Track): boolean {
  try {
    if (handlerOf(needBox(trak, 'mdia/hdlr')) !== handler) return false;
    if (handler === 'vide') readSamples(stbl);
    else readChunks(stbl);
    // Sound without descriptions cannot be played, whatever its tables say.
    const described = findBox(stbl, 'stsd')?.payload;
    return !described || described.readUInt32BE(4) === entries.length;
  } catch (error) {
    if (error instanceof Mp4Error) return false;
    throw error;
  }
}

/**
 * Whether a readable track has bytes of its own: none lie outside the file (except after its end, if it is cut off) or
 * where chunks of another track begin.
 */
export function hasOwnBytes({ trak, stbl }: Track, others: readonly Track[], fileBytes: number): boolean {
  const minf = findBox(trak, 'mdia/minf');
  if (minf && !isSelfContained(minf)) return true;
  const chunks = readChunks(stbl).filter(({ sizeBytes }) => sizeBytes > 0);
  const cut = chunks.findIndex(({ offset, sizeBytes }) => offset + sizeBytes > fileBytes);
  if (cut >= 0 && chunks.slice(cut + 1).some(({ offset }) => offset < fileBytes)) return false;
  const starts = startsOf(others);
  return chunks.every(({ offset, sizeBytes }) => offset + sizeBytes <= firstAbove(starts, offset));
}

/** Starts of chunks, ascending; one that does not lie between its neighbours in its own list is left out. */
const startsOf = (tracks: readonly Track[]) =>
  tracks
    .flatMap(({ stbl }) => {
      const own = chunkStarts(stbl);
      return own.filter((start, at) => start > (own[at - 1] ?? -1) && start < (own[at + 1] ?? Infinity));
    })
    .sort((a, b) => a - b);

/** Offset in `hdlr` of the kind of its track. */
const HANDLER_AT = 8;
const handlerOf = ({ payload }: Box) => payload.toString('latin1', HANDLER_AT, HANDLER_AT + 4);

/** Number of pictures checked to tell whether a table leads to pictures at all, and largest share that may be wrong. */
const LOOKED_AT = 60;
const MOST_WRONG = 0.2;

/** Whether most samples are intact pictures, if that can be told without decoding (H.264 and HEVC). */
async function arePictures(file: FileHandle, track: Track, samples: readonly NewSample[]): Promise<boolean> {
  const units = unitRulesOf(track);
  if (!units) return true;
  const step = Math.max(1, Math.floor(samples.length / LOOKED_AT));
  const looked = samples.filter((_, index) => index % step === 0);
  let wrong = 0;
  for (const { bytes } of looked) {
    if (!units.isWhole(await readUpTo(file, bytes.offset, bytes.sizeBytes))) wrong += 1;
  }
  return wrong <= MOST_WRONG * looked.length;
}

interface Places {
  readonly file: FileHandle;
  readonly fileBytes: number;
  /** Starts of the chunks of all tracks, ascending. */
  readonly starts: readonly number[];
}

/** Samples of a track in decode order, and how many its tables list. */
function readLeniently(
  track: Track,
  places: Places,
): { readonly samples: NewSample[]; readonly listed: number } {
  const { stbl, timescale } = track;
  const sizes = lenientSizes(stbl);
  const listed = Math.min(sizes.count, MAX_SAMPLES);
  const durations = lenientRuns(stbl, 'stts', (ticks) => ticks >= 0 && ticks <= LONGEST_SECONDS * timescale);
  const shifts = lenientRuns(stbl, 'ctts', (ticks) => Math.abs(ticks) <= LONGEST_SECONDS * timescale);
  const usual = median(durations.slice(0, listed)) || Math.round(timescale / 30);
  const keys = findBox(stbl, 'stss')
    ? new Set(lenientWords(stbl, 'stss', 1).map((number) => number - 1))
    : null;
  const samples: NewSample[] = [];
  const dtsOf: number[] = [];
  let dts = 0;
  for (let index = 0; index < listed; index += 1) {
    dtsOf.push(dts);
    dts += durations[index] ?? usual;
  }
  for (const { index, offset, sizeBytes } of placeSamples(stbl, sizes.sizeOf, listed, places)) {
    const at = dtsOf[index] ?? 0;
    samples.push({
      bytes: { file: places.file, offset, sizeBytes },
      dts: at,
      pts: at + (shifts[index] ?? 0),
      durationTicks: durations[index] ?? usual,
      sync: keys === null || keys.has(index),
    });
  }
  return { samples, listed };
}

interface Place {
  readonly index: number;
  readonly offset: number;
  readonly sizeBytes: number;
}

/** Places of samples, chunk by chunk. */
function placeSamples(
  stbl: Box,
  sizeOf: (index: number) => number,
  count: number,
  { fileBytes, starts }: Places,
): Place[] {
  const chunks = chunkStarts(stbl);
  const perChunk = lenientPerChunk(stbl, chunks.length, count);
  const rooms = chunks.map((offset) => Math.min(fileBytes, firstAbove(starts, offset)) - offset);
  // If other tracks lack their places, a chunk's room also holds their bytes, and pictures may fill it by chance.
  const fits = addsUp(sizeOf, count, { perChunk, rooms });
  const placed: Place[] = [];
  let first = 0;
  for (const [chunk, offset] of chunks.entries()) {
    const room = rooms[chunk] ?? 0;
    const filled = fits ? null : filling(sizeOf, first, count, room);
    const wanted = filled ?? Math.min(perChunk[chunk] ?? 1, count - first);
    const sizes = Array.from({ length: Math.max(0, wanted) }, (_, at) => sizeOf(first + at));
    let at = offset;
    for (const [place, sizeBytes] of fitted(sizes, room).entries()) {
      if (sizeBytes > 0) placed.push({ index: first + place, offset: at, sizeBytes });
      at += sizeBytes;
    }
    first += sizes.length;
  }
  return placed;
}

/** Whether the listed numbers of samples cover all samples, and each chunk has room for its own. */
function addsUp(
  sizeOf: (index: number) => number,
  count: number,
  { perChunk, rooms }: { readonly perChunk: readonly number[]; readonly rooms: readonly number[] },
): boolean {
  let first = 0;
  for (const [chunk, room] of rooms.entries()) {
    const end = first + (perChunk[chunk] ?? 0);
    // Damaged numbers of samples list more than there are sizes for.
    if (end > count) return false;
    let used = 0;
    for (let index = first; index < end; index += 1) used += sizeOf(index);
    if (used > room) return false;
    first = end;
  }
  return first === count;
}

/** How many samples from `first` on exactly fill the room of a chunk, whatever is listed; null if none do. */
function filling(
  sizeOf: (index: number) => number,
  first: number,
  count: number,
  room: number,
): number | null {
  let used = 0;
  for (let index = first; index < count && used < room; index += 1) {
    used += sizeOf(index);
    if (used === room) return index + 1 - first;
  }
  return null;
}

/**
 * Sizes of a chunk that fit its room. One that exceeds the room gets what the others leave; otherwise the rest is cut.
 */
function fitted(sizes: readonly number[], room: number): number[] {
  const total = sizes.reduce((sum, size) => sum + size, 0);
  if (total <= room) return [...sizes];
  const excessive = sizes.flatMap((size, place) => (size > room ? [place] : []));
  const [place] = excessive;
  if (excessive.length === 1 && place !== undefined) {
    const left = room - (total - (sizes[place] ?? 0));
    if (left > 0) return sizes.map((size, at) => (at === place ? left : size));
  }
  let used = 0;
  return sizes.map((size) => {
    if (used + size > room) used = Infinity;
    else used += size;
    return used === Infinity ? 0 : size;
  });
}

/** Numbers of a table with `perEntry` of them in each entry, as many as its box holds. */
function lenientWords(stbl: Box, type: string, perEntry: number): number[] {
  const bytes = findBox(stbl, type)?.payload;
  if (!bytes || bytes.length < 8) return [];
  const entries = Math.min(MAX_SAMPLES, Math.floor((bytes.length - 8) / (4 * perEntry)));
  return Array.from({ length: entries * perEntry }, (_, at) => bytes.readUInt32BE(8 + 4 * at));
}

function chunkStarts(stbl: Box): number[] {
  const wide = findBox(stbl, 'co64') ? lenientWords(stbl, 'co64', 2) : null;
  if (!wide) return lenientWords(stbl, 'stco', 1);
  return wide.flatMap((high, at) => (at % 2 === 0 ? [high * 2 ** 32 + (wide[at + 1] ?? 0)] : []));
}

/** A fixed size is only used if the box holds no table. */
function lenientSizes(stbl: Box): { readonly count: number; readonly sizeOf: (index: number) => number } {
  const bytes = findBox(stbl, 'stsz')?.payload;
  if (!bytes || bytes.length < 12) return { count: 0, sizeOf: () => 0 };
  const listed = Math.floor((bytes.length - 12) / 4);
  if (listed > 0) return { count: listed, sizeOf: (index) => bytes.readUInt32BE(12 + 4 * index) };
  return { count: bytes.readUInt32BE(8), sizeOf: () => bytes.readUInt32BE(4) };
}

/** Number of samples in each chunk; entries that do not ascend or are empty are skipped. */
function lenientPerChunk(stbl: Box, chunks: number, samples: number): number[] {
  const words = lenientWords(stbl, 'stsc', 3);
  const perChunk: number[] = [];
  let usual = Math.max(1, Math.round(samples / Math.max(1, chunks)));
  for (let at = 0; at < words.length; at += 3) {
    const [first = 0, count = 0] = words.slice(at, at + 2);
    if (count < 1 || count > samples || first - 1 < perChunk.length || first > chunks) continue;
    while (perChunk.length < first - 1) perChunk.push(usual);
    usual = count;
    perChunk.push(usual);
  }
  while (perChunk.length < chunks) perChunk.push(usual);
  return perChunk;
}

/** Values of a run-length table, one for each sample; impossible ones are replaced by the one before. */
function lenientRuns(stbl: Box, type: 'stts' | 'ctts', isPossible: (value: number) => boolean): number[] {
  const words = lenientWords(stbl, type, 2);
  const values: number[] = [];
  for (let at = 0; at < words.length && values.length < MAX_SAMPLES; at += 2) {
    const [count = 0, word = 0] = words.slice(at, at + 2);
    const value = word | 0;
    const last = values.at(-1) ?? 0;
    for (let left = Math.min(count, MAX_SAMPLES - values.length); left > 0; left -= 1) {
      values.push(isPossible(value) ? value : last);
    }
  }
  return values;
}

/** The track's box with its handler name, its media in its own file, and the sample descriptions that could be read. */
function withWholeDescriptions({ trak, handler, entries }: Track): Box {
  const named = replaceBox(trak, 'mdia/hdlr', (hdlr) => {
    const payload = Buffer.from(hdlr.payload);
    payload.write(handler, HANDLER_AT, 'latin1');
    return { ...hdlr, payload };
  });
  return replaceBox(withOwnMedia(named), 'mdia/minf/stbl/stsd', (stsd) => {
    const head = Buffer.from(stsd.payload.subarray(0, 8));
    head.writeUInt32BE(entries.length, 4);
    return { ...stsd, payload: Buffer.concat([head, ...entries.map(({ bytes }) => bytes)]) };
  });
}
