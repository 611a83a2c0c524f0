import { median } from '#server/media/statistics.ts';
import { MAX_QUIET } from './detect-stutter.ts';

/** Pictures next to a run that show whether it stands in motion; as many as on its sides. */
const FLANK = 6;
/** Fewer pictures beyond the damage show nothing. */
const LEAST_BEYOND = 3;

/** What a run is compared with. */
export interface BesideDamage {
  /** Block difference of each decoded picture to the one before, grey levels. */
  readonly moves: readonly number[];
  /** First pictures of new shots. */
  readonly cuts: readonly number[];
  /** True for decoded pictures that are neither damaged nor refer to damaged ones. */
  readonly isSound: (decoded: number) => boolean;
  /** True for decoded pictures whose own data are whole, so that they repeat or move as these say. */
  readonly speaksTrue: (decoded: number) => boolean;
}

/**
 * Whether an apparent run of repeats is a rest that continues beyond damage. Lost data cause a jump and a moving smear,
 * so a shot at rest seems to stand between motion and motion. A true run of repeats is stiller than the motion beyond
 * the damage, as it is stiller than that beside it.
 */
export function isRestBesideDamage(
  { first, last }: { readonly first: number; readonly last: number },
  { moves, cuts, isSound, speaksTrue }: BesideDamage,
): boolean {
  const inside = median(moves.slice(first, last + 1));
  return [-1, 1].some((direction) => {
    const start = direction < 0 ? first - 1 : last + 1;
    const beside = Array.from({ length: FLANK }, (_, far) => start + direction * far);
    const torn = beside.find((at) => at >= 0 && at < moves.length && !isSound(at));
    if (torn === undefined) return false;
    const place = { moves, cuts, torn, direction };
    // Damage may last to the end of the clip; what refers to it still moves as its own data say.
    const beyond = [isSound, speaksTrue]
      .map((isTrusted) => movesBeyond(place, isTrusted))
      .find(({ length }) => length >= LEAST_BEYOND);
    return beyond !== undefined && inside > MAX_QUIET * median(beyond);
  });
}

interface DamagedPlace extends Pick<BesideDamage, 'moves' | 'cuts'> {
  /** The damaged picture nearest to the run. */
  readonly torn: number;
  readonly direction: number;
}

/** Block differences between the first trusted pictures beyond damage, in the same shot. */
function movesBeyond(
  { moves, cuts, torn, direction }: DamagedPlace,
  isTrusted: (decoded: number) => boolean,
): number[] {
  const beyond: number[] = [];
  // A step belongs to the picture it leads to: the first one after the damage starts from the damaged picture.
  for (let at = torn; at > 0 && at < moves.length && beyond.length < FLANK; at += direction) {
    if (cuts.includes(at)) break;
    if (isTrusted(at) && isTrusted(at - 1)) beyond.push(moves[at] ?? 0);
  }
  return beyond;
}
