/** Names of planar formats with more than eight bits a sample, e.g. yuv422p10le. */
const DEEP = /p(\d{2})le$/;

/**
 * Filters that keep samples within the bits of their format. From damaged 10-bit H.264, ffmpeg's decoder leaves values
 * up to 32 125 in blocks that it did not write, and x264 then aborts ("Assertion `cost >= 0' failed").
 * @returns none for 8-bit formats, where each byte is a sample
 */
export function inRange(pixelFormat: string): string[] {
  const bits = Number(DEEP.exec(pixelFormat)?.[1] ?? 8);
  return bits > 8 && bits < 16 ? [`limiter=max=${2 ** bits - 1}`] : [];
}
