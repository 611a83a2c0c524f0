import {
  concealedMacroblocks,
  endsPreparations,
  failedMacroblock,
  type MacroblockPlace,
} from '#server/media/ffmpeg/decoder-log.ts';
import type { SliceHeader } from '#server/media/h264/slice-header.ts';
import { MACROBLOCK, type Sps } from '#server/media/h264/sps.ts';
import type { LostBlocks } from '#server/media/lost-blocks.ts';

/** What a decoder says of a damaged picture. */
export interface SaidDamage {
  /** Macroblocks that it guesses. */
  readonly guessedCount: number;
  /** Those at which it gave up a slice. */
  readonly failedAt: readonly MacroblockPlace[];
}

/** Gathers what a decoder with one thread says of pictures, in the order in which it comes to the end of them. */
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

/** What is lost of a picture of which nothing is left. */
export const allMacroblocks = ({ widthMbs, heightMbs }: Pick<Sps, 'widthMbs' | 'heightMbs'>): LostBlocks => ({
  size: MACROBLOCK,
  first: 0,
  end: widthMbs * heightMbs,
});

/**
 * What is lost of a picture without B slices: all that the decoder guesses of the one slice that it gave up, which is the end of it. ffmpeg
 * takes 50 macroblocks in front of the failure for lost as well, but none of another slice (`ff_er_frame_end` in error_resilience.c).
 * @param slices heads of all its slices
 * @returns null where that is not told
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
  // More than a slice has is of several.
  return guessedCount > end - start ? null : { size: MACROBLOCK, first: end - guessedCount, end };
}
