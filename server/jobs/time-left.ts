/** The rate of the work is that of so much time: work differs from part to part, and single steps jump. */
const WINDOW_MS = 20_000;
/** Before so much time, and for work that hardly moves, no rate is known. */
const LEAST_MS = 3000;
const LEAST_SHARE = 0.01;

/**
 * Tells how long work still takes by the rate of its last seconds, so that what an earlier attempt had done, and is taken over at once,
 * soon counts for nothing.
 * @param now milliseconds, monotone
 * @returns a function from the share that is done, 0 to 1, to the seconds left; null while they are not known
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
