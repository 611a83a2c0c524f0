/** How far a figure measured again may be off, share of itself or of its limit. */
const NEAR = 0.01;

/**
 * Whether a figure measured again is the one of the report. Small ones are told in four digits, of which the last differ between
 * versions of ffmpeg (scaled by 8 and 9 a sharpness is 0.0050, by 5.1 it is 0.0048, where the limit is 0.12): a hundredth of the limit
 * says nothing else about the clip.
 */
export function isNear(
  value: number,
  { before, threshold }: { readonly before: number; readonly threshold: number | null },
): boolean {
  return Math.abs(value - before) <= NEAR * Math.max(Math.abs(before), Math.abs(threshold ?? 0)) + 1e-9;
}
