/** Earlier frames (64 ms each) that a knock must exceed, by distance; the one right before shares half its samples. */
const BEFORE_FRAMES = [2, 3] as const;
/**
 * How much louder a knock is than both, dB. Of 6, 8 and 10 dB with a decay of 0.2, 0.3 or 0.5 s, 8 dB and 0.2 s
 * separate bursting wind best from balls and beats (docs/benchmarks/wind.md, "Crackles and knocks").
 */
const RISE_DB = 8;
/** How much it must fall within `RING_FRAMES` (0.19 s), dB; a gust or a peal of thunder lasts longer. */
const FALL_DB = 10;
const RING_FRAMES = 6;

/**
 * Counts knocks: bass that rises suddenly and dies away within 0.2 s, as of a ball in a hall, a drum or a dropped
 * weight.
 * @param levelsDb level below 250 Hz of frames of 64 ms, 32 ms apart
 */
export function countKnocks(levelsDb: readonly number[]): number {
  const at = (i: number) => levelsDb[i] ?? 0;
  let knocks = 0;
  for (let i = Math.max(...BEFORE_FRAMES); i + RING_FRAMES < levelsDb.length; i++) {
    const before = Math.max(...BEFORE_FRAMES.map((back) => at(i - back)));
    // Only the peak counts, not the frames before it.
    if (at(i) - before <= RISE_DB || at(i + 1) > at(i)) continue;
    const ring = levelsDb.slice(i + 1, i + 1 + RING_FRAMES);
    if (at(i) - Math.min(...ring) > FALL_DB) knocks += 1;
  }
  return knocks;
}
