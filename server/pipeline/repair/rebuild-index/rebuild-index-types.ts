import type { Track } from '#server/media/mp4/movie.ts';
import type { TrimmedTrack } from '#server/media/mp4/trim-track.ts';
import type { LostEnds } from '#common/report.ts';
import { isCutShort, LEAST_LOST_MS } from '#server/media/probe/lost-ends.ts';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';

export interface RebuildIndexInput {
  readonly inputPath: string;
  readonly outputPath: string;
  /** Healthy clips of the same person, perhaps from the same device; their settings replace lost ones. */
  readonly referencePaths: readonly string[];
  readonly tools: ToolPaths;
  readonly signal?: AbortSignal;
}

export type RebuildIndexResult =
  | {
      readonly rebuilt: true;
      readonly notes: readonly string[];
      /** Where the file was cut off while its index lists everything. */
      readonly lostEnds?: LostEnds;
    }
  | { readonly rebuilt: false; readonly reason: string };

/** What to do where a file does not tell enough about itself. */
export const ADD_ANOTHER = 'A healthy clip from the same device, added before, would allow to rebuild it.';

/** Name of a track's samples in a sentence. */
export const sampleName = ({ handler }: Track): string =>
  ({ vide: 'frames', soun: 'sound packets' })[handler] ?? 'data packets';

/** A sentence about the end that a file lacks; none if it lacks next to nothing. */
export function cutOffNotes(lost: LostEnds): string[] {
  if (!isCutShort(lost)) return [];
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
  const parts = [
    lost.pictureMs >= LEAST_LOST_MS ? `the last ${seconds(lost.pictureMs)} of the picture` : null,
    lost.soundMs >= LEAST_LOST_MS ? `the last ${seconds(lost.soundMs)} of the sound` : null,
  ].filter((part) => part !== null);
  return [`The file was cut off: ${parts.join(' and ')} are not in it and cannot be brought back.`];
}

/** Size for a sentence: "4 kB", "12 MB". */
export function formatSize(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  if (bytes < 1_000_000) return `${Math.round(bytes / 1000)} kB`;
  return `${Math.round(bytes / 1_000_000)} MB`;
}

/**
 * Sentences about what is missing of a track that ends with the file.
 * @param name of its samples (`sampleName`)
 */
export function missingNotes(
  { samplesKept, samplesLoose, samplesTotal }: Omit<TrimmedTrack, 'track' | 'lostTicks'>,
  name: string,
): string[] {
  const lost = samplesTotal - samplesKept - samplesLoose;
  const notes: string[] = [];
  if (lost > 0) notes.push(`${lost} of ${samplesTotal} ${name} are not in the file.`);
  if (samplesLoose === 1) notes.push('1 more is left out: it would be shown behind a missing one.');
  if (samplesLoose > 1)
    notes.push(`${samplesLoose} more are left out: they would be shown behind missing ones.`);
  return notes;
}
