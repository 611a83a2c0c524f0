import { open, rm, writeFile, type FileHandle } from 'node:fs/promises';
import { container, needBox } from '#server/media/mp4/box.ts';
import { readExactly } from '#server/media/mp4/file-bytes.ts';
import { readSamples } from '#server/media/mp4/sample-table.ts';
import { rebuildTrack, writeMovie } from '#server/media/mp4/write-movie.ts';
import { withOwnMedia } from '#server/media/mp4/write-tables.ts';
import type { PictureOrder } from './rebuild-index-coding.ts';
import {
  findFramed,
  type FramedCoding,
  framedCodingOf,
  MJPEG,
  PRORES,
  type PictureSize,
  readPacking,
} from './rebuild-index-framed.ts';
import { readHealthyClip, type Reference } from './rebuild-index-reference.ts';
import { findMpeg4, MPEG4_ORDER } from './rebuild-index-mpeg4.ts';
import type { FoundMedia, FoundPicture } from './rebuild-index-scan.ts';
import { freshTrack, timePictures } from './rebuild-index-times.ts';
import { countRemarks, describeBy, type Description } from './rebuild-index-trial.ts';
import type { RebuildIndexInput } from './rebuild-index-types.ts';

/** The media of a clip without an index, and what is known about them. */
export interface FoundClip {
  readonly media: FoundMedia;
  /** The clip that supplies the rest; null if the file itself tells all that is known. */
  readonly reference: Reference | null;
  /** Stated pictures per second; null if not stated. */
  readonly pictureRate: number | null;
  /** Likely pictures per second; null or absent if nothing suggests any. */
  readonly likelyRate?: number | null;
  readonly order: PictureOrder;
  /** Where their settings come from, if neither from a reference nor from the file itself. */
  readonly source?: string;
  /** Notes on how they were found. */
  readonly notes?: readonly string[];
  /** Makes a description if there is no reference. */
  describe(): Promise<Description | null>;
}

interface Range {
  readonly start: number;
  readonly end: number;
}

/** This much of the media shows whether it holds such pictures. */
const TRIAL_BYTES = 64 << 20;
/** Fewer pictures are covers and thumbnails. */
const FEWEST = 3;
/** Least share of the media that such pictures fill; they are large. */
const LEAST_COVERED = 0.3;

/** Finds Motion JPEG or ProRes, whose pictures tell their own ends and need no settings; null if there are none. */
export async function findFramedClip(
  input: RebuildIndexInput,
  file: FileHandle,
  range: Range,
): Promise<FoundClip | null> {
  const trial = { start: range.start, end: Math.min(range.end, range.start + TRIAL_BYTES) };
  for (const coding of [MJPEG, PRORES]) {
    const { pictures } = await findFramed(file, trial, coding, null, undefined, input.signal);
    const covered = pictures.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    const [first] = pictures;
    if (!first || pictures.length < FEWEST || covered < LEAST_COVERED * (trial.end - trial.start)) continue;
    const size = coding.read(await readExactly(file, first.offset, first.sizeBytes), 0);
    if (!size) continue;
    const told = await findReference(input, coding, size);
    const media = told
      ? await findFramed(file, range, coding, told.size, told.packing, input.signal)
      : await findFramed(file, range, coding, size, undefined, input.signal);
    return {
      media,
      reference: told?.reference ?? null,
      pictureRate: null,
      order: { kind: 'coded' },
      describe: () => describeFramed(input, file, coding, size, media),
    };
  }
  return null;
}

/**
 * Finds MPEG-4 (part 2) with the help of an earlier clip, because its settings stand in the index alone; null if no
 * clip fits.
 */
export async function findMpeg4Clip(
  input: RebuildIndexInput,
  file: FileHandle,
  range: Range,
): Promise<FoundClip | null> {
  for (const path of [input.inputPath, ...input.referencePaths]) {
    const reference = await readHealthyClip(path);
    if (!reference || reference.video.entries[0]?.coding !== 'mp4v') continue;
    const media = await findMpeg4(file, range, reference, input.signal);
    const found = media.pictures.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    if (media.pictures.length < FEWEST || found < LEAST_COVERED * (range.end - range.start)) continue;
    if (!(await decodeUnder(input, file, reference, media.pictures))) continue;
    return {
      media,
      reference,
      pictureRate: null,
      order: MPEG4_ORDER,
      notes: [NO_BORDER],
      describe: () => Promise.resolve(null),
    };
  }
  return null;
}

const NO_BORDER =
  'Nothing marks where a picture of MPEG-4 ends and sound begins; single frames of sound there may be lost.';

/** Number of pictures decoded as a test, and the share of them that may cause complaints. */
const TRIED_PICTURES = 24;
const MOST_FAULTY = 0.5;

/** Whether the decoder accepts most of the first pictures under the settings of a reference. */
async function decodeUnder(
  input: RebuildIndexInput,
  file: FileHandle,
  { movie, video }: Reference,
  pictures: readonly FoundPicture[],
): Promise<boolean> {
  const first = Math.max(
    0,
    pictures.findIndex(({ isKey }) => isKey),
  );
  const tried = pictures.slice(first, first + TRIED_PICTURES);
  const path = `${input.outputPath}.trial.mp4`;
  const samples = timePictures(tried, { kind: 'coded' }, 1000, file);
  const trak = withOwnMedia(freshTrack(video, samples, movie.timescale));
  try {
    await writeMovie(path, {
      ftyp: movie.ftyp,
      moov: container('moov', [needBox(movie.moov, 'mvhd')]),
      tracks: [rebuildTrack(trak, video.timescale, samples)],
      temporary: true,
      signal: input.signal,
    });
    const faults = await countRemarks(input, { path, format: 'mov', decoder: 'mpeg4' });
    return faults <= MOST_FAULTY * tried.length;
  } finally {
    await rm(path, { force: true });
  }
}

/** The clip itself if its index is left, or an earlier one with pictures of the same coding and size. */
async function findReference(input: RebuildIndexInput, coding: FramedCoding, { width, height }: PictureSize) {
  for (const path of [input.inputPath, ...input.referencePaths]) {
    const reference = await readHealthyClip(path);
    const told = reference && framedCodingOf(reference.video);
    if (!reference || told?.coding !== coding || told.size.width !== width) continue;
    const other = await open(path, 'r');
    try {
      const samples = readSamples(reference.video.stbl);
      const packing = await readPacking(other, coding, samples);
      const isField = packing.perSample > 1 && 2 * height >= told.size.height;
      if (told.size.height === height || isField) return { reference, size: told.size, packing };
    } finally {
      await other.close();
    }
  }
  return null;
}

/**
 * A template for pictures that no clip describes: made from the first of them, or (ProRes has no raw form) from one of
 * the same size.
 */
async function describeFramed(
  input: RebuildIndexInput,
  file: FileHandle,
  { codec }: FramedCoding,
  { width, height }: PictureSize,
  { pictures }: FoundMedia,
): Promise<Description | null> {
  const [first] = pictures;
  if (!first) return null;
  if (codec === 'prores') {
    const coding = '-c:v prores_ks -profile:v 3 -frames:v 1'.split(' ');
    return describeBy(input, { path: `color=s=${width}x${height}:r=30:d=0.1`, lavfi: true }, coding, 'mov');
  }
  const rawPath = `${input.outputPath}.first.${codec}`;
  try {
    await writeFile(rawPath, await readExactly(file, first.offset, first.sizeBytes));
    return await describeBy(input, { path: rawPath, format: 'mjpeg' }, ['-c', 'copy'], 'mov');
  } finally {
    await rm(rawPath, { force: true });
  }
}
