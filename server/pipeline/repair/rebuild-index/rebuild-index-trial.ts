import { open, rm, writeFile, type FileHandle } from 'node:fs/promises';
import type { Box } from '#server/media/mp4/box.ts';
import { readExactly } from '#server/media/mp4/file-bytes.ts';
import { readMovie, type Track } from '#server/media/mp4/movie.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { MediaToolError } from '#server/media/ffmpeg/tools.ts';
import type { FoundPicture } from './rebuild-index-scan.ts';
import type { PictureSettings } from './rebuild-index-settings.ts';
import type { RebuildIndexInput } from './rebuild-index-types.ts';

/** Enough to meet every kind of picture of a stream, and quick to decode. */
const TRIAL_PICTURES = 24;
const START_CODE = Buffer.from([0, 0, 0, 1]);

/** Writes pictures as a raw stream (ITU-T H.264 and H.265, annex B) behind their parameter sets. */
async function writeRawStream(
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
  await writeFile(outputPath, Buffer.concat(units.flatMap((unit) => [START_CODE, unit])));
}

/**
 * How many complaints the decoder has about the first found pictures: slice headers alone cannot tell wrong
 * settings of similar shape from the right ones.
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
  const { codec } = settings.coding;
  const rawPath = `${input.outputPath}.trial.${codec}`;
  let complaints = 0;
  try {
    await writeRawStream(file, settings, pictures.slice(firstKey, firstKey + TRIAL_PICTURES), rawPath);
    await runFfmpeg(
      {
        label: 'try the settings',
        logLevel: 'repeat+warning',
        inputs: [{ path: rawPath, format: codec, options: ['-threads', '1', '-err_detect', 'aggressive'] }],
        outputs: [{ path: 'pipe:1', options: ['-map', '0:v:0', '-f', 'null'] }],
        expectedDurationMs: null,
      },
      {
        tools: input.tools,
        signal: input.signal,
        onStdout: () => undefined,
        onStderrLine: (line) => {
          if (line.includes(`${codec} @`)) complaints++;
        },
      },
    );
  } catch (error) {
    if (error instanceof MediaToolError && error.code === 'tool_failed') return Infinity;
    throw error;
  } finally {
    await rm(rawPath, { force: true });
  }
  return complaints;
}

/** An index for the first picture, made by ffmpeg from a raw stream: a template with the right descriptions. */
export async function describePictures(
  input: RebuildIndexInput,
  file: FileHandle,
  settings: PictureSettings,
  pictures: readonly FoundPicture[],
): Promise<{ moov: Box; ftyp: Buffer | null; video: Track } | null> {
  const { codec } = settings.coding;
  const rawPath = `${input.outputPath}.first.${codec}`;
  const mp4Path = `${input.outputPath}.first.mp4`;
  const options = '-map 0:v:0 -c copy -video_track_timescale 90000'.split(' ');
  // Apple's players know no other name.
  if (codec === 'hevc') options.push('-tag:v', 'hvc1');
  try {
    await writeRawStream(file, settings, pictures.slice(0, 1), rawPath);
    await runFfmpeg(
      {
        label: 'describe the pictures',
        inputs: [{ path: rawPath, format: codec }],
        outputs: [{ path: mp4Path, options }],
        expectedDurationMs: null,
      },
      { tools: input.tools, signal: input.signal },
    );
    const template = await open(mp4Path, 'r');
    try {
      const movie = await readMovie(template);
      const [video] = movie.tracks;
      return video ? { moov: movie.moov, ftyp: movie.ftyp, video } : null;
    } finally {
      await template.close();
    }
  } finally {
    await rm(rawPath, { force: true });
    await rm(mp4Path, { force: true });
  }
}
