import { open, rename, type FileHandle } from 'node:fs/promises';
import { H264Error } from '#server/media/h264/h264-error.ts';
import { findSampleFault } from '#server/media/h264/check-sample.ts';
import { type Box, container, findBox, needBox } from '#server/media/mp4/box.ts';
import { readUpTo } from '#server/media/mp4/file-bytes.ts';
import { findHiddenMoov } from '#server/media/mp4/find-moov.ts';
import { healMovie } from '#server/media/mp4/heal-movie.ts';
import {
  type Movie,
  readMoov,
  readMovie,
  readMovieTimescale,
  readTracks,
  toMovie,
  toRenamedMovie,
  type Track,
} from '#server/media/mp4/movie.ts';
import { Mp4Error, readable } from '#server/media/mp4/mp4-error.ts';
import { readAvcConfig } from '#server/media/mp4/sample-entry.ts';
import { readChunks, readSamples } from '#server/media/mp4/sample-table.ts';
import { scanTopLevel, type TopLevel } from '#server/media/mp4/top-level.ts';
import { writeMovie } from '#server/media/mp4/write-movie.ts';
import { withMissingSound } from './rebuild-index-missing-sound.ts';
import {
  hasOwnBytes,
  hasReadableTables,
  type SalvagedMedia,
  salvageTracks,
} from './rebuild-index-salvage.ts';
import { mendOrder } from './rebuild-index-order.ts';
import { mendTimes } from './rebuild-index-sane.ts';
import { rebuildFragments } from './rebuild-index-fragments.ts';
import { writeTrimmed } from './rebuild-index-trimmed.ts';
import { rebuildFromMedia } from './rebuild-index-media.ts';
import { moveMedia, type MovedMedia } from './rebuild-index-move.ts';
import { formatSize, type RebuildIndexInput, type RebuildIndexResult } from './rebuild-index-types.ts';

export type { RebuildIndexInput, RebuildIndexResult } from './rebuild-index-types.ts';

/** The reason if an attempt has nothing to work with. */
export const NO_INDEX = 'The index of the file is damaged beyond reading.';
/** The reason why an index is left alone. */
export const WHOLE_INDEX = 'The index of the file is whole.';

const refuse = (reason: string): RebuildIndexResult => ({ rebuilt: false, reason });

/**
 * Gives an MP4 or QuickTime file with a damaged, hidden, cut-off or lost index a new one. Coded samples are copied byte
 * for byte; samples whose bytes are missing from the file are dropped and reported. A file with an intact index is left
 * alone (`rebuilt: false`), which only costs reading its index.
 * @throws the signal's reason when aborted.
 */
export async function rebuildIndex(input: RebuildIndexInput): Promise<RebuildIndexResult> {
  return withFile(input, async (file) => {
    const fileBytes = (await file.stat()).size;
    const topLevel = await scanTopLevel(file, fileBytes);
    const index = await readable(() => readMoov(file));
    const renamed = index && (await readable(() => toRenamedMovie(index)));
    if (renamed?.fragmented) return await rebuildFragments(input, file, renamed, true);
    if (renamed) return await repairListed(input, file, renamed, 'Parts of the index had lost their names.');
    const listed = index && (await readable(() => toMovie(index)));
    if (listed?.fragmented) return await rebuildFragments(input, file, listed);
    if (listed && listsPictures(listed.tracks)) return await repairListed(input, file, listed);
    const hidden = await findHiddenMoov(file, fileBytes, input.signal);
    // An index without pictures may be the draft of another one.
    if (listed && !(hidden && listsPictures(readTracks(hidden))))
      return await repairListed(input, file, listed);
    if (hidden && findBox(hidden, 'mvex')) return await joinHidden(input, file, hidden, topLevel);
    if (hidden) return await repairHidden(input, file, hidden, topLevel);
    const movie = await readable(() => healMovie(file));
    // Fragments may stand under an index whose boxes cannot be read as they are.
    const joined = movie?.fragmented && (await readable(() => rebuildFragments(input, file, movie, true)));
    if (joined && joined.rebuilt) return joined;
    const healed = movie && (await salvageHealed(file, movie));
    if (healed) return await writeHealed(input, file, healed);
    return await rebuildFromMedia(input, file, topLevel);
  });
}

/** Fragments under an index that is hidden in the file. */
async function joinHidden(
  input: RebuildIndexInput,
  file: FileHandle,
  moov: Box,
  topLevel: TopLevel,
): Promise<RebuildIndexResult> {
  const fileBytes = (await file.stat()).size;
  const [tracks, timescale] = [readTracks(moov), readMovieTimescale(moov)];
  const movie = { topLevel, fileBytes, ftyp: null, moov, timescale, tracks, fragmented: true };
  return rebuildFragments(input, file, movie, true);
}

interface Healed {
  readonly movie: Movie;
  readonly media: SalvagedMedia;
}

/** What an index tells whose boxes cannot be read as they are; null if it leads to no pictures. */
async function salvageHealed(file: FileHandle, movie: Movie): Promise<Healed | null> {
  const media = await readable(() => salvageTracks(file, movie, true));
  return media && { movie, media };
}

/** Writes what an index told, with the sound that it did not tell. */
async function writeHealed(
  input: RebuildIndexInput,
  file: FileHandle,
  { movie, media }: Healed,
): Promise<RebuildIndexResult> {
  const moov = container('moov', [needBox(movie.moov, 'mvhd')]);
  const sounded = await withMissingSound(input, file, movie, media);
  try {
    return await withOrder(input, await writeMoved(input, { ftyp: movie.ftyp, moov }, sounded));
  } finally {
    await sounded.release();
  }
}

/**
 * Checks the times from damaged tables, which may be damaged too. Impossible ones are corrected, and pictures get
 * display times in the order of their data wherever these contradict it.
 */
async function withOrder(input: RebuildIndexInput, written: RebuildIndexResult): Promise<RebuildIndexResult> {
  if (!written.rebuilt) return written;
  const orderedPath = `${input.outputPath}.ordered`;
  const file = await open(input.outputPath, 'r');
  try {
    const movie = await readable(() => readMovie(file));
    const timed = movie && (await readable(() => mendTimes(file, movie)));
    const ordered = movie && (timed ?? (await mendOrder(file, movie, input.signal, Infinity)));
    if (!ordered) return written;
    await writeMoved({ ...input, outputPath: orderedPath }, movie, ordered);
    await rename(orderedPath, input.outputPath);
    return { rebuilt: true, notes: [...written.notes, ...ordered.notes] };
  } finally {
    await file.close();
  }
}

/**
 * Rewrites an index from its sample tables, without anything else in it. For an index that seems readable, but that
 * ffmpeg cannot read.
 * @throws the signal's reason when aborted
 */
export async function rewriteIndex(input: RebuildIndexInput): Promise<RebuildIndexResult> {
  return withFile(input, async (file) => {
    const movie = await readable(() => readMovie(file));
    const media = movie && !movie.fragmented ? await salvageTracks(file, movie, true) : null;
    if (movie && media) return writeHealed(input, file, { movie, media });
    const other = await readable(() => healMovie(file));
    const healed = other && (await salvageHealed(file, other));
    return healed ? writeHealed(input, file, healed) : refuse(NO_INDEX);
  });
}

/**
 * Ignores what an index lists; pictures are found by their structure.
 * @throws the signal's reason when aborted
 */
export async function replaceIndex(input: RebuildIndexInput): Promise<RebuildIndexResult> {
  return withFile(input, async (file) => {
    const fileBytes = (await file.stat()).size;
    return rebuildFromMedia(input, file, await scanTopLevel(file, fileBytes));
  });
}

async function withFile(
  input: RebuildIndexInput,
  attempt: (file: FileHandle) => Promise<RebuildIndexResult>,
): Promise<RebuildIndexResult> {
  const file = await open(input.inputPath, 'r');
  try {
    return await attempt(file);
  } catch (error) {
    if (error instanceof Mp4Error || error instanceof H264Error) return refuse(error.message);
    throw error;
  } finally {
    await file.close();
  }
}

const listsPictures = (tracks: readonly Track[]) =>
  tracks.some((track) => track.handler === 'vide' && tryChunks(track).length > 0);

/**
 * Checks whether the file holds all that an index in its proper place lists.
 * @param fault why it is written again even if the file does
 */
async function repairListed(
  input: RebuildIndexInput,
  file: FileHandle,
  movie: Movie,
  fault: string | null = null,
): Promise<RebuildIndexResult> {
  const { fileBytes, topLevel } = movie;
  if (!movie.tracks.every(hasReadableTables)) {
    const salvaged = await salvageTracks(file, movie);
    if (salvaged) return withOrder(input, await writeMoved(input, movie, salvaged));
  }
  const moved = await tryTables(() => moveMedia(file, movie, input.signal));
  if (moved === 'lost') {
    const found = await rebuildFromMedia(input, file, topLevel);
    if (found.rebuilt) return found;
  } else if (moved) return withOrder(input, await writeMoved(input, movie, moved));
  const timed = mendTimes(file, movie);
  if (timed) return writeMoved(input, movie, timed);
  const others = (track: Track) => movie.tracks.filter((other) => other !== track);
  if (!movie.tracks.every((track) => hasOwnBytes(track, others(track), fileBytes))) {
    const salvaged = await salvageTracks(file, movie);
    if (salvaged) return withOrder(input, await writeMoved(input, movie, salvaged));
  }
  let reach = 0;
  for (const { offset, sizeBytes } of movie.tracks.flatMap(tryChunks)) {
    if (sizeBytes > 0) reach = Math.max(reach, offset + sizeBytes);
  }
  const tooLong = topLevel.boxes.find((box) => box.type === 'mdat' && box.offset + box.sizeBytes > fileBytes);
  if (reach <= fileBytes && !tooLong) {
    const ordered = await mendOrder(file, movie, input.signal);
    if (ordered) return writeMoved(input, movie, ordered);
    return fault === null ? refuse(WHOLE_INDEX) : writeTrimmed(input, file, { ...movie, notes: [fault] });
  }
  const missing = tooLong ? tooLong.offset + tooLong.sizeBytes - fileBytes : reach - fileBytes;
  const note = `The file is ${formatSize(missing)} shorter than it says.`;
  return writeTrimmed(input, file, { ...movie, notes: [note] });
}

/** Tables that contradict each other place nothing. */
async function tryTables<T>(read: () => Promise<T>): Promise<T | 'lost'> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof Mp4Error) return 'lost';
    throw error;
  }
}

async function writeMoved(
  input: RebuildIndexInput,
  { ftyp, moov }: Pick<Movie, 'ftyp' | 'moov'>,
  { tracks, notes }: MovedMedia,
): Promise<RebuildIndexResult> {
  await writeMovie(input.outputPath, { ftyp, moov, tracks, signal: input.signal });
  return { rebuilt: true, notes };
}

/** Damaged tables are no error here; the track is checked again when it is written. */
function tryChunks(track: Track) {
  try {
    return readChunks(track.stbl);
  } catch (error) {
    if (error instanceof Mp4Error) return [];
    throw error;
  }
}

async function repairHidden(
  input: RebuildIndexInput,
  file: FileHandle,
  moov: Box,
  topLevel: TopLevel,
): Promise<RebuildIndexResult> {
  const tracks = readTracks(moov);
  const fileBytes = (await file.stat()).size;
  const moved = await moveMedia(file, { tracks, fileBytes, topLevel }, input.signal);
  if (moved === 'lost') {
    const found = await rebuildFromMedia(input, file, topLevel);
    if (found.rebuilt) return found;
  }
  const fault = moved && moved !== 'lost' ? null : await findMisplacement(file, tracks);
  if (fault) return refuse(fault);
  const ftyp = topLevel.boxes.find((box) => box.type === 'ftyp' && box.sizeBytes <= 4096);
  const brand = ftyp ? await readUpTo(file, ftyp.offset, ftyp.sizeBytes) : null;
  const note = hiddenBy(topLevel);
  if (moved && moved !== 'lost')
    return writeMoved(input, { ftyp: brand, moov }, { ...moved, notes: [note, ...moved.notes] });
  return writeTrimmed(input, file, { moov, ftyp: brand, notes: [note] });
}

function hiddenBy({ boxes, brokenAt }: TopLevel): string {
  if (brokenAt !== null) return `A box with a wrong length at byte ${brokenAt} hid the index.`;
  return boxes.some(({ type }) => type === 'moov')
    ? 'An index without frames stood in front of the true one.'
    : 'The index stood inside a box of another kind, which hid it.';
}

/** Why a hidden index cannot be used; null if it points at coded pictures. */
async function findMisplacement(file: FileHandle, tracks: readonly Track[]): Promise<string | null> {
  const video = tracks.find((track) => track.handler === 'vide');
  const avcC = video?.entries[0]?.boxes.find((box) => box.type === 'avcC');
  if (!video || !avcC) return null;
  const { lengthSize } = readAvcConfig(avcC.payload);
  const probes = readSamples(video.stbl).slice(0, 8);
  let faults = 0;
  for (const sample of probes) {
    const bytes = await readUpTo(file, sample.offset, Math.min(sample.sizeBytes, 64 << 20));
    if (bytes.length < sample.sizeBytes || findSampleFault(bytes, lengthSize)) faults++;
  }
  return probes.length > 0 && faults === probes.length
    ? 'The index was found, but it does not fit the video data of the file.'
    : null;
}
