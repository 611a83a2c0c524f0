import type { FileHandle } from 'node:fs/promises';
import { type Box, replaceBox } from '#server/media/mp4/box.ts';
import { withEditList } from '#server/media/mp4/edit-list.ts';
import type { Track } from '#server/media/mp4/movie.ts';
import type { OutTrack } from '#server/media/mp4/write-movie.ts';
import { withDuration } from '#server/media/mp4/write-tables.ts';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';
import type { Rates } from './rebuild-index-rate.ts';
import type { FoundMedia } from './rebuild-index-scan.ts';
import type { Reference } from './rebuild-index-reference.ts';

/** A frame of coded sound, or a stretch that holds some. */
export interface Piece {
  readonly offset: number;
  readonly sizeBytes: number;
}

export interface SoundInput {
  readonly file: FileHandle;
  readonly reference: Reference;
  /** Stretches of media data between pictures, in file order. */
  readonly gaps: FoundMedia['gaps'];
  /** Frames of each sound, if they have been searched for in the gaps already. */
  readonly found?: readonly (readonly Piece[])[];
  /** Working files get this path with an extension. */
  readonly basePath: string;
  readonly tools: ToolPaths;
  readonly signal?: AbortSignal;
}

export interface RestoredSound {
  /** At least one. */
  readonly tracks: readonly OutTrack[];
  /** Of the longest; null if parts of it could not be read. */
  readonly durationMs: number | null;
  readonly note: string;
  /** Rates by its place among the pictures; null or absent if unknown. */
  readonly rates?: Rates | null;
  /** Closes and removes working files; call it when the track has been written. */
  release(): Promise<void>;
}

/** Encoders delay by one to four frames of 1024 samples. */
const MAX_PRIMING_TICKS = 4096;

/**
 * The reference's sound track with the duration of the media. What its edit list skips at the start is encoder delay
 * (priming), the same in every clip of one device.
 * @param ticks duration of the media, media timescale ticks
 */
export function bareTrack(sound: Track, ticks: number, movieTimescale: number): Box {
  const skipped = Math.max(0, sound.edits.at(-1)?.mediaTime ?? 0);
  const mediaTime = skipped <= MAX_PRIMING_TICKS && skipped < ticks ? skipped : 0;
  const durationTicks = Math.round(((ticks - mediaTime) * movieTimescale) / sound.timescale);
  const edited = withEditList(sound.trak, [{ durationTicks, mediaTime, rate: 1 }]);
  const timed = replaceBox(edited, 'tkhd', (header) => withDuration(header, durationTicks));
  return replaceBox(timed, 'mdia/mdhd', (header) => withDuration(header, ticks));
}
