/** Time span over which the rate is measured, because work differs from part to part and single steps jump. */
const WINDOW_MS = 20_000;
/** Until so much time has passed, and for work that hardly moves, no rate is known. */
const LEAST_MS = 3000;
const LEAST_SHARE = 0.01;

/**
 * Estimates how long work still takes by the rate of its last seconds, so that the part finished by an earlier attempt,
 * which is taken over at once, soon has no effect.
 * @param now milliseconds, monotone
 * @returns a function from the finished share, 0 to 1, to the seconds left; null while they are not known
 */
export function createTimeLeft(now: () => number): (share: number) => number | null {
  const seen: { atMs: number; share: number }[] = [];
  return (share) => {
    const atMs = now();
    while (seen.length > 1 && (seen[1]?.atMs ?? atMs) < atMs - WINDOW_MS) seen.shift();
    const from = seen[0];
    seen.push({ atMs, share });
    if (!from || atMs - from.atMs < LEAST_MS || share - from.share < LEAST_SHARE) return null;
    return (((atMs - from.atMs) / (share - from.share)) * (1 - share)) / 1000;
  };
}
