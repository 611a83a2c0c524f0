import type { TimestampGap } from './detect-dropped-frames.ts';

/** Change of a picture (grey levels of the block difference) up to which nothing moves on a screen. */
const REST = 0.6;
/** ...and change across a hole that is too small to hide motion: what moves for a quarter of a second changes more. */
const LITTLE = 2.5;

/**
 * Keeps holes of a variable rate in which something was lost. Screen recorders write no picture while nothing changes,
 * so a hole without loss follows resting motion or has almost no difference across it. Measured on a phone's screen
 * recording (0.12 to 0.36 before the holes, 1.6 across a hole between two of them; moving pictures beside them 3 to
 * 100). Noise keeps cameras from ever resting that much.
 * @param moveTo change of a displayed picture from the one before; null where it is unknown, and at a cut
 */
export function withoutRests(
  gaps: readonly TimestampGap[],
  moveTo: (frame: number) => number | null,
): TimestampGap[] {
  return gaps.filter(({ frameBefore }) => {
    const [before, over] = [moveTo(frameBefore), moveTo(frameBefore + 1)];
    return (before ?? REST) >= REST && (over ?? LITTLE) >= LITTLE;
  });
}
