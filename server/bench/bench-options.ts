import { stat } from 'node:fs/promises';
import { findTools } from '#server/media/ffmpeg/find-tools.ts';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';

/** The options of a benchmark ask for something impossible; the message says why and what to do. */
export class BenchInputError extends Error {
  override readonly name = 'BenchInputError';
}

/** @throws BenchInputError unless the option is a whole number of at least `least` */
export function wholeNumber(option: string, text: string, least: number): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isSafeInteger(value) || value < least)
    throw new BenchInputError(`${option} takes a whole number from ${least} on, not "${text}".`);
  return value;
}

/** Some machines keep real clips in this folder beside the project. */
const REAL_MEDIA = '../shared/media';

/**
 * Returns the requested folder of clips, or the real clips beside the project; null when the benchmark has to make
 * clips.
 * @throws BenchInputError when the requested path is not a folder
 */
export async function mediaFolder(asked: string | undefined): Promise<string | null> {
  const folder = asked ?? REAL_MEDIA;
  const isFolder = await stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (isFolder) return folder;
  if (asked === undefined) return null;
  throw new BenchInputError(`--media takes a folder of clips; "${asked}" is none.`);
}

/** @throws BenchInputError when ffmpeg or ffprobe is not found */
export async function benchTools(): Promise<ToolPaths> {
  const found = await findTools({
    ffmpegPath: process.env.FFMPEG_PATH ?? null,
    ffprobePath: process.env.FFPROBE_PATH ?? null,
    searchPath: process.env.PATH ?? '',
  });
  if (found) return found.paths;
  throw new BenchInputError(
    'ffmpeg and ffprobe were not found. Install them, or set FFMPEG_PATH and FFPROBE_PATH.',
  );
}
