import type { FileHandle } from 'node:fs/promises';
import { container } from './box.ts';
import type { Movie, Track } from './movie.ts';
import type { Sample } from './sample-table.ts';
import { rebuildTrack, writeMovie } from './write-movie.ts';

export interface PartToCut {
  readonly file: FileHandle;
  readonly movie: Movie;
  readonly track: Track;
  /** Samples of the part in decode order; decoding can start at the first. */
  readonly samples: readonly Sample[];
  readonly outputPath: string;
  readonly signal?: AbortSignal;
}

/**
 * Writes some samples of one track as a small clip of its own, a working file: same coded bytes and media times,
 * counted from the first decode time. It has no edit list, so it also shows hidden pictures, and nothing depends on how
 * a demuxer seeks or edits.
 * @throws Mp4Error when the file ends before its media; the signal's reason when aborted.
 */
export async function cutPart(part: PartToCut): Promise<void> {
  const { file, movie, track, outputPath, signal } = part;
  const origin = part.samples[0]?.dts ?? 0;
  const samples = part.samples.map((sample) => ({
    bytes: { file, offset: sample.offset, sizeBytes: sample.sizeBytes },
    dts: sample.dts - origin,
    pts: sample.pts - origin,
    durationTicks: sample.durationTicks,
    sync: sample.sync,
  }));
  const without = (children: typeof movie.moov.children, types: readonly string[]) =>
    (children ?? []).filter((box) => !types.includes(box.type));
  const bare = container('trak', without(track.trak.children, ['edts', 'tref']));
  const header = (movie.moov.children ?? []).filter((box) => box.type === 'mvhd');
  await writeMovie(outputPath, {
    ftyp: movie.ftyp,
    moov: container('moov', header),
    tracks: [rebuildTrack(bare, track.timescale, samples)],
    temporary: true,
    signal,
  });
}

/**
 * Joins runs of samples: the decode times of each continue where the run before ends.
 * @returns null where pictures of one run would be shown among those of another
 */
export function oneBehindTheOther(runs: readonly (readonly Sample[])[]): Sample[] | null {
  const joined: Sample[] = [];
  let endTicks = runs[0]?.[0]?.dts ?? 0;
  let lastShown = Number.NEGATIVE_INFINITY;
  for (const run of runs) {
    const by = endTicks - (run[0]?.dts ?? 0);
    const moved = run.map((sample) => ({ ...sample, dts: sample.dts + by, pts: sample.pts + by }));
    if (moved.some(({ pts }) => pts <= lastShown)) return null;
    lastShown = moved.reduce((last, { pts }) => Math.max(last, pts), lastShown);
    const last = moved.at(-1);
    endTicks = last ? last.dts + last.durationTicks : endTicks;
    joined.push(...moved);
  }
  return joined;
}
