import type { TimestampGap } from './detect-dropped-frames.ts';

/** Change (grey levels of the block difference) of a picture at which nothing moves any more on a screen. */
const REST = 0.6;
/** ...and of one over a hole that can hide no motion: what moves for a quarter of a second changes more. */
const LITTLE = 2.5;

/**
 * Holes in a clip of variable rate under which something was lost: recorders of screens write no picture while nothing changes, so that
 * the motion has come to rest before the hole, or next to nothing differs behind it. Measured on a phone's recording of its screen (0.12 to 0.36
 * before the holes, 1.6 over a hole between two of them; pictures in motion beside them 3 to 100); cameras never rest so far, for their noise.
 * @param moveTo change of a displayed picture to the one before; null where it is not known, and at a cut
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
