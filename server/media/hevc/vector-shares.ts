/** Distances are limited to this when vectors are scaled (ITU-T H.265, 8-178 and 8-179). */
const FARTHEST = 127;

/**
 * Factor, in 256ths, that scales a vector across the distance `from` to the distance `to` (DistScaleFactor, ITU-T
 * H.265, 8-177 to 8-181).
 */
function shareOf(to: number, from: number): number {
  const [tb, td] = [to, from].map((one) => Math.max(-FARTHEST - 1, Math.min(FARTHEST, one)));
  if (tb === undefined || !td) return 0;
  const reciprocal = Math.trunc((16_384 + (Math.abs(td) >> 1)) / td);
  return Math.max(-4096, Math.min(4095, (tb * reciprocal + 32) >> 6));
}

/**
 * For how many pairs of distances the scaling factor of vectors changes when all distances are multiplied by `times`.
 */
export function otherShares(distances: Iterable<number>, times: number): number {
  const all = [...new Set(distances)];
  const pairs = all.flatMap((to) => all.map((from) => [to, from] as const));
  return pairs.filter(([to, from]) => shareOf(to, from) !== shareOf(to * times, from * times)).length;
}
