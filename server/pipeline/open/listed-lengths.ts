import { open } from 'node:fs/promises';
import { readListedMovie } from '#server/media/mp4/listed-movie.ts';
import type { Track } from '#server/media/mp4/movie.ts';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';
import { endOfSamples, readSamples } from '#server/media/mp4/sample-table.ts';
import type { MediaInfo } from '#server/media/probe/probe.ts';

/**
 * Replaces the stated durations of a movie by those of what its index lists, because pieces of a broadcast state the
 * duration of the whole, an hour for eight seconds.
 * @returns the same if the index cannot be read
 */
export async function withListedLengths(path: string, info: MediaInfo): Promise<MediaInfo> {
  const lengthsMs = await readLengthsMs(path);
  const listed = <Stream extends { readonly index: number; readonly durationMs: number | null }>(
    stream: Stream,
  ): Stream => ({ ...stream, durationMs: lengthsMs[stream.index] ?? stream.durationMs });
  const [video, audio] = [info.video.map(listed), info.audio.map(listed)];
  const streams = { ...info, video, audio };
  return { ...streams, durationMs: longestMs(streams) };
}

/**
 * Duration of a clip, ms; null if unknown. The streams' durations outrank the header of the whole, which may be
 * damaged.
 */
export function longestMs({ video, audio, durationMs }: MediaInfo): number | null {
  const ownMs = [...video, ...audio].flatMap((stream) => stream.durationMs ?? []);
  return ownMs.length > 0 ? Math.max(...ownMs) : durationMs;
}

/** By track; none if the index, or what fragments list, cannot be read. */
async function readLengthsMs(path: string): Promise<(number | null)[]> {
  const file = await open(path, 'r');
  try {
    const movie = await readListedMovie(file);
    return movie.fragmented ? [] : movie.tracks.map(lengthMs);
  } catch (error) {
    if (error instanceof Mp4Error) return [];
    throw error;
  } finally {
    await file.close();
  }
}

function lengthMs({ stbl, timescale }: Track): number | null {
  const samples = readSamples(stbl);
  const first = samples.reduce((least, { pts }) => Math.min(least, pts), Infinity);
  const end = endOfSamples(samples);
  return end > first ? ((end - first) * 1000) / timescale : null;
}
