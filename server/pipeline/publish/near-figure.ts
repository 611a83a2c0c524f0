/** How far a value measured again may be off, as a share of itself or of its limit. */
const NEAR = 0.01;

/**
 * Whether a value measured again matches the report. Small ones are stated in four digits, of which the last differ
 * between versions of ffmpeg (a sharpness of 0.0050 when scaled by 8 and 9 is 0.0048 by 5.1, with a limit of 0.12). A
 * hundredth of the limit makes no difference.
 */
export function isNear(
  value: number,
  { before, threshold }: { readonly before: number; readonly threshold: number | null },
): boolean {
  return Math.abs(value - before) <= NEAR * Math.max(Math.abs(before), Math.abs(threshold ?? 0)) + 1e-9;
}
