import { open, rm, writeFile, type FileHandle } from 'node:fs/promises';
import type { Box } from '#server/media/mp4/box.ts';
import { readExactly } from '#server/media/mp4/file-bytes.ts';
import { readMovie, type Track } from '#server/media/mp4/movie.ts';
import type { FfmpegInput } from '#server/media/ffmpeg/ffmpeg-plan.ts';
import { annexB } from '#server/media/h264/nal.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { isToolFailure } from '#server/media/ffmpeg/tools.ts';
import type { FoundPicture } from './rebuild-index-scan.ts';
import type { PictureSettings } from './rebuild-index-settings.ts';
import type { RebuildIndexInput } from './rebuild-index-types.ts';

/** Enough pictures to meet every kind in a stream, and quick to decode. */
const TRIAL_PICTURES = 24;

/** Writes pictures as a raw stream (ITU-T H.264 and H.265, annex B) after their parameter sets. */
export async function writeRawStream(
  file: FileHandle,
  { coding, lengthSize }: PictureSettings,
  pictures: readonly FoundPicture[],
  outputPath: string,
): Promise<void> {
  const units: Buffer[] = [...coding.units];
  for (const picture of pictures) {
    const sample = await readExactly(file, picture.offset, picture.sizeBytes);
    for (let at = 0; at + lengthSize < sample.length;) {
      const length = sample.readUIntBE(at, lengthSize);
      units.push(sample.subarray(at + lengthSize, at + lengthSize + length));
      at += lengthSize + length;
    }
  }
  await writeFile(outputPath, annexB(units));
}

/**
 * Counts the decoder's complaints about the first pictures found. Slice headers alone cannot tell wrong settings of
 * similar shape from the right ones.
 */
export async function countComplaints(
  input: RebuildIndexInput,
  file: FileHandle,
  settings: PictureSettings,
  pictures: readonly FoundPicture[],
): Promise<number> {
  const firstKey = Math.max(
    0,
    pictures.findIndex((picture) => picture.isKey),
  );
  return tryPictures(input, file, settings, pictures.slice(firstKey, firstKey + TRIAL_PICTURES));
}

/** Key pictures that are tried alone: the first, the middle and the last one. */
const KEYS_TRIED = [0, 0.5, 1];

/**
 * Whether the decoder reads at least one key picture without a complaint. Under settings of another clip, its first
 * rows already contradict each other, while the pictures after it may be so short that they decode under any.
 */
export async function readsSomeKey(
  input: RebuildIndexInput,
  file: FileHandle,
  settings: PictureSettings,
  pictures: readonly FoundPicture[],
): Promise<boolean> {
  const keys = pictures.filter(({ isKey }) => isKey);
  const tried = new Set(KEYS_TRIED.map((share) => keys[Math.round(share * (keys.length - 1))]));
  for (const key of tried) {
    if (key && (await tryPictures(input, file, settings, [key])) === 0) return true;
  }
  return false;
}

/** Enough pictures to meet one with content after a beginning without. */
const MOST_PICTURES = 300;

/** Whether the decoder reads all tried pictures without a complaint. */
export async function readsAll(
  input: RebuildIndexInput,
  file: FileHandle,
  settings: PictureSettings,
  pictures: readonly FoundPicture[],
): Promise<boolean> {
  const firstKey = Math.max(
    0,
    pictures.findIndex((picture) => picture.isKey),
  );
  return (await tryPictures(input, file, settings, pictures.slice(firstKey, firstKey + MOST_PICTURES))) === 0;
}

/** Counts the decoder's complaints about pictures under these settings. */
async function tryPictures(
  input: RebuildIndexInput,
  file: FileHandle,
  settings: PictureSettings,
  pictures: readonly FoundPicture[],
): Promise<number> {
  const { codec } = settings.coding;
  const rawPath = `${input.outputPath}.trial.${codec}`;
  try {
    await writeRawStream(file, settings, pictures, rawPath);
    return await countRemarks(input, { path: rawPath, format: codec, decoder: codec });
  } finally {
    await rm(rawPath, { force: true });
  }
}

/**
 * Counts the decoder's complaints about the pictures of a trial file, under strict error detection.
 * @param trial with the name under which the decoder logs
 * @returns Infinity when ffmpeg gives the file up
 * @throws MediaToolError when ffmpeg cannot run or the job is cancelled
 */
export async function countRemarks(
  { tools, signal }: RebuildIndexInput,
  { path, format, decoder }: { readonly path: string; readonly format: string; readonly decoder: string },
): Promise<number> {
  let remarks = 0;
  try {
    await runFfmpeg(
      {
        label: 'try the settings',
        logLevel: 'repeat+warning',
        inputs: [{ path, format, options: ['-threads', '1', '-err_detect', 'aggressive'] }],
        outputs: [{ path: 'pipe:1', options: ['-map', '0:v:0', '-f', 'null'] }],
        expectedDurationMs: null,
      },
      {
        tools,
        signal,
        onStdout: () => undefined,
        onStderrLine: (line) => {
          // From version 7 on, ffmpeg repeats the decoder's messages itself, as `[dec:…`.
          if (line.includes(`[${decoder} @`)) remarks += 1;
        },
      },
    );
  } catch (error) {
    if (isToolFailure(error)) return Infinity;
    throw error;
  }
  return remarks;
}

/** An index of which only the description of the pictures is used. */
export interface Description {
  readonly moov: Box;
  readonly ftyp: Buffer | null;
  readonly video: Track;
}

/** An index for the first picture, made by ffmpeg from a raw stream: a template with the right descriptions. */
export async function describePictures(
  input: RebuildIndexInput,
  file: FileHandle,
  settings: PictureSettings,
  pictures: readonly FoundPicture[],
): Promise<Description | null> {
  const { codec } = settings.coding;
  const rawPath = `${input.outputPath}.first.${codec}`;
  // Apple's players know no other name.
  const tag = codec === 'hevc' ? ['-tag:v', 'hvc1'] : [];
  try {
    await writeRawStream(file, settings, pictures.slice(0, 1), rawPath);
    return await describeBy(input, { path: rawPath, format: codec }, ['-c', 'copy', ...tag], 'mp4');
  } finally {
    await rm(rawPath, { force: true });
  }
}

/**
 * A time base in which each usual rate has whole ticks for a picture, including television rates (24000, 30000, 60000
 * by 1001).
 */
const TICKS_PER_SECOND = '240000';

/**
 * The index that ffmpeg writes for the pictures of a source.
 * @param coding options for how they are put into the file
 * @param kind of file, by its extension
 * @throws MediaToolError when ffmpeg cannot write it
 */
export async function describeBy(
  { outputPath, tools, signal }: RebuildIndexInput,
  source: FfmpegInput,
  coding: readonly string[],
  kind: 'mp4' | 'mov',
): Promise<Description | null> {
  const path = `${outputPath}.first.${kind}`;
  const options = ['-map', '0:v:0', ...coding, '-video_track_timescale', TICKS_PER_SECOND];
  try {
    await runFfmpeg(
      {
        label: 'describe the pictures',
        inputs: [source],
        outputs: [{ path, options }],
        expectedDurationMs: null,
      },
      { tools, signal },
    );
    const template = await open(path, 'r');
    try {
      const movie = await readMovie(template);
      const [video] = movie.tracks;
      return video ? { moov: movie.moov, ftyp: movie.ftyp, video } : null;
    } finally {
      await template.close();
    }
  } finally {
    await rm(path, { force: true });
  }
}
