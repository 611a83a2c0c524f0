import { open, rm, writeFile, type FileHandle } from 'node:fs/promises';
import type { Box } from '#server/media/mp4/box.ts';
import { readExactly } from '#server/media/mp4/file-bytes.ts';
import { readMovie, type Track } from '#server/media/mp4/movie.ts';
import { readSamples } from '#server/media/mp4/sample-table.ts';
import { runFfmpeg } from '#server/media/run-ffmpeg.ts';
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
import type { FoundMedia } from './rebuild-index-scan.ts';
import type { RebuildIndexInput } from './rebuild-index-types.ts';

/** An index with a description of the pictures, and nothing in its tables that is used. */
export interface Description {
  readonly moov: Box;
  readonly ftyp: Buffer | null;
  readonly video: Track;
}

/** The media of a clip without an index, and what is known of them. */
export interface FoundClip {
  readonly media: FoundMedia;
  /** The clip that tells the rest; null where the file itself tells all that is known. */
  readonly reference: Reference | null;
  /** Pictures per second that they state; null when they state none. */
  readonly pictureRate: number | null;
  readonly order: PictureOrder;
  /** Makes a description where there is no reference. */
  describe(): Promise<Description | null>;
}

interface Range {
  readonly start: number;
  readonly end: number;
}

/** As much of the media tells whether they are such pictures. */
const TRIAL_BYTES = 64 << 20;
/** Single pictures are covers and thumbnails. */
const FEWEST = 3;
/** Share of the media that pictures of these codings fill: they are large. */
const LEAST_COVERED = 0.3;

/** Motion JPEG and ProRes, whose pictures tell their own ends and need no settings; null where there are none. */
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

/** The clip itself, if its index is left, or an earlier one with pictures of the same coding and size. */
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

/** A template for pictures that no clip describes: from the first of them, or (ProRes has no raw form) from one of the same size. */
async function describeFramed(
  input: RebuildIndexInput,
  file: FileHandle,
  { codec }: FramedCoding,
  { width, height }: PictureSize,
  { pictures }: FoundMedia,
): Promise<Description | null> {
  const [first] = pictures;
  if (!first) return null;
  const rawPath = `${input.outputPath}.first.${codec}`;
  const moviePath = `${input.outputPath}.first.mov`;
  const source =
    codec === 'mjpeg'
      ? { path: rawPath, format: 'mjpeg' }
      : { path: `color=s=${width}x${height}:r=30:d=0.1`, lavfi: true };
  const coded = codec === 'mjpeg' ? '-c copy' : '-c:v prores_ks -profile:v 3 -frames:v 1';
  try {
    await writeFile(rawPath, await readExactly(file, first.offset, first.sizeBytes));
    await runFfmpeg(
      {
        label: 'describe the pictures',
        inputs: [source],
        outputs: [
          { path: moviePath, options: `-map 0:v:0 ${coded} -video_track_timescale 90000`.split(' ') },
        ],
        expectedDurationMs: null,
      },
      { tools: input.tools, signal: input.signal },
    );
    const template = await open(moviePath, 'r');
    try {
      const movie = await readMovie(template);
      const [video] = movie.tracks;
      return video ? { moov: movie.moov, ftyp: movie.ftyp, video } : null;
    } finally {
      await template.close();
    }
  } finally {
    await rm(rawPath, { force: true });
    await rm(moviePath, { force: true });
  }
}
