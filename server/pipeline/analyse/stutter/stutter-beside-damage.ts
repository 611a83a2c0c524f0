import { median } from '#server/media/statistics.ts';
import { MAX_QUIET } from './detect-stutter.ts';

/** Pictures beside a run that tell whether it stands in motion, as many as its sides have. */
const FLANK = 6;
/** Fewer pictures beyond the damage tell nothing. */
const LEAST_BEYOND = 3;

/** What a run is held against. */
export interface BesideDamage {
  /** Block difference of each decoded picture to the one before, grey levels. */
  readonly moves: readonly number[];
  /** First pictures of new shots. */
  readonly cuts: readonly number[];
  /** True for decoded pictures that neither are damaged nor refer to damaged ones. */
  readonly isSound: (decoded: number) => boolean;
}

/**
 * Whether what looks like a run of repeats is a rest that goes on behind damage (or before it): lost data make a jump and a smear that
 * moves, so that a shot which has come to rest seems to stand between motion and motion. 13 and 19 whole pictures of a clip at rest were
 * taken out before a damaged key picture of HEVC. A run of repeats falls below the motion beyond the damage as it does beside it.
 */
export function isRestBesideDamage(
  { first, last }: { readonly first: number; readonly last: number },
  { moves, cuts, isSound }: BesideDamage,
): boolean {
  const inside = median(moves.slice(first, last + 1));
  return [-1, 1].some((direction) => {
    const start = direction < 0 ? first - 1 : last + 1;
    const beside = Array.from({ length: FLANK }, (_, far) => start + direction * far);
    const torn = beside.find((at) => at >= 0 && at < moves.length && !isSound(at));
    if (torn === undefined) return false;
    let at = torn;
    while (at >= 0 && at < moves.length && !isSound(at)) at += direction;
    // A step is that of its picture to the one before: behind damage the first one comes from the damaged one.
    const beyond: number[] = [];
    for (at += direction < 0 ? 0 : 1; beyond.length < FLANK; at += direction) {
      if (at <= 0 || at >= moves.length || !isSound(at) || !isSound(at - 1) || cuts.includes(at)) break;
      beyond.push(moves[at] ?? 0);
    }
    return beyond.length >= LEAST_BEYOND && inside > MAX_QUIET * median(beyond);
  });
}
