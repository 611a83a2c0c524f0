import type { ComparisonLayout } from '#common/api/comparison.ts';

type Pieces = Pick<ComparisonLayout, 'pieces'>;

/** The time of the original that the comparison shows, ms. */
export function toOriginalMs(previewMs: number, { pieces }: Pieces): number {
  const piece = pieces.find((one) => previewMs < one.previewEndMs) ?? pieces.at(-1);
  if (!piece) return 0;
  return piece.originalStartMs + Math.max(0, previewMs - piece.previewStartMs);
}

/** Where the comparison shows a time of the original, ms; null when it does not. */
export function toPreviewMs(originalMs: number, { pieces }: Pieces): number | null {
  const piece = pieces.find((one) => originalMs >= one.originalStartMs && originalMs <= one.originalEndMs);
  if (!piece) return null;
  return Math.min(piece.previewEndMs, piece.previewStartMs + originalMs - piece.originalStartMs);
}

/** Number, from 1, of the place that plays or was passed last; before the first place it is 1. */
export function placeNumber(previewMs: number, startsMs: readonly number[]): number {
  const starts = [...new Set(startsMs)].sort((a, b) => a - b);
  return Math.max(1, starts.filter((start) => start <= previewMs + 1).length);
}
