import { open } from 'node:fs/promises';
import { readUpTo } from '#server/media/mp4/file-bytes.ts';
import { findVideoTrack, readMovie } from '#server/media/mp4/movie.ts';
import type { MediaInfo } from '#server/media/probe.ts';
import type { ToolPaths } from '#server/media/tools.ts';
import { readPackets } from './analyse/read-packets.ts';
import { unitRulesOf, type UnitRules } from './repair/rebuild-index/rebuild-index-units.ts';

export interface ReadClip {
  readonly path: string;
  readonly info: MediaInfo;
}

/**
 * How many coded pictures of two readings of the same media show no fault without being decoded (H.264 and HEVC): decoders hand on
 * pictures whatever is read as one.
 * @param mended with an index of our own
 * @returns null for other codecs
 * @throws MediaToolError when ffprobe cannot run or the job is cancelled
 */
export async function countWholePictures(
  asItIs: ReadClip,
  mended: ReadClip,
  tools: ToolPaths,
  signal?: AbortSignal,
): Promise<{ readonly asItIs: number; readonly mended: number } | null> {
  const file = await open(mended.path, 'r');
  try {
    const units = unitRulesOf(findVideoTrack(await readMovie(file), 0));
    if (!units) return null;
    const count = (clip: ReadClip) => countWhole(clip, units, tools, signal);
    return { asItIs: await count(asItIs), mended: await count(mended) };
  } finally {
    await file.close();
  }
}

async function countWhole(
  { path, info }: ReadClip,
  units: UnitRules,
  tools: ToolPaths,
  signal: AbortSignal | undefined,
): Promise<number> {
  const { video } = await readPackets({ inputPath: path, info, tools, signal });
  const file = await open(path, 'r');
  try {
    let whole = 0;
    for (const { offsetBytes, sizeBytes } of video) {
      if (offsetBytes === null) continue;
      const sample = await readUpTo(file, offsetBytes, sizeBytes);
      if (sample.length === sizeBytes && units.isWhole(sample)) whole += 1;
    }
    return whole;
  } finally {
    await file.close();
  }
}
