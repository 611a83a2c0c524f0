import {
  concealedMacroblocks,
  endsPreparations,
  failedMacroblock,
  type MacroblockPlace,
} from '#server/media/ffmpeg/decoder-log.ts';
import type { SliceHeader } from '#server/media/h264/slice-header.ts';
import { MACROBLOCK, type Sps } from '#server/media/h264/sps.ts';
import type { LostBlocks } from '#server/media/lost-blocks.ts';

/** A decoder's messages about a damaged picture. */
export interface SaidDamage {
  /** Number of macroblocks that it conceals. */
  readonly guessedCount: number;
  /** Macroblocks at which it gave up a slice. */
  readonly failedAt: readonly MacroblockPlace[];
}

/** Collects the messages of a single-threaded decoder about pictures, in the order in which it finishes them. */
export function createDamageLog(): { onLine(line: string): void; said(): readonly SaidDamage[] } {
  let said: SaidDamage[] = [];
  let failedAt: MacroblockPlace[] = [];
  return {
    onLine(line) {
      if (endsPreparations(line)) [said, failedAt] = [[], []];
      const failed = failedMacroblock(line);
      if (failed) failedAt.push(failed);
      const guessedCount = concealedMacroblocks(line);
      if (guessedCount === null) return;
      said.push({ guessedCount, failedAt });
      failedAt = [];
    },
    said: () => said,
  };
}

/** The loss of a picture of which nothing is left. */
export const allMacroblocks = ({ widthMbs, heightMbs }: Pick<Sps, 'widthMbs' | 'heightMbs'>): LostBlocks => ({
  size: MACROBLOCK,
  first: 0,
  end: widthMbs * heightMbs,
});

/**
 * The loss of a picture without B slices: all that the decoder conceals at the end of the one slice that it gave up.
 * ffmpeg also counts the 50 macroblocks before the failure as lost, but none of another slice (`ff_er_frame_end` in
 * error_resilience.c).
 * @param slices headers of all its slices
 * @returns null if the loss is unknown
 */
export function lostMacroblocks(
  { widthMbs, heightMbs }: Pick<Sps, 'widthMbs' | 'heightMbs'>,
  slices: readonly Pick<SliceHeader, 'firstMb' | 'kind'>[],
  { guessedCount, failedAt }: SaidDamage,
): LostBlocks | null {
  const starts = slices.map(({ firstMb }) => firstMb);
  const ends = [...starts.slice(1), widthMbs * heightMbs];
  const isWhole = starts[0] === 0 && starts.every((start, at) => start < (ends[at] ?? 0));
  if (!isWhole || slices.some(({ kind }) => kind === 'B')) return null;
  const failed = failedAt.map(({ column, row }) => ends.findIndex((end) => row * widthMbs + column < end));
  const [torn = -1, ...others] = slices.length === 1 ? [0] : new Set(failed);
  const [start, end] = [starts[torn], ends[torn]];
  if (start === undefined || end === undefined || others.length > 0) return null;
  // More macroblocks than a slice has come from several slices.
  return guessedCount > end - start ? null : { size: MACROBLOCK, first: end - guessedCount, end };
}
