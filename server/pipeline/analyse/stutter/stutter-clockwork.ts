import { median } from '#server/media/statistics.ts';

/** Pictures on each side of a run that show its motion. */
const FLANK = 6;
/** Steps that change the liveliest blocks by less show nothing, grey levels. */
const MIN_MOTION = 1;
/** In motion as even as clockwork, no step is this many times more or less than the usual one. */
const EVEN_RATIO = 1.4;
/** A step this many times the usual one is not part of such motion. */
const STEP_RATIO = 1.5;

/**
 * Changes on one side of a run, up to a cut.
 * @param most pictures
 */
export function sideMoves(
  moves: readonly number[],
  cutSet: ReadonlySet<number>,
  start: number,
  direction: -1 | 1,
  most = FLANK,
): number[] {
  const steps = Array.from({ length: most }, (_, far) => start + direction * far);
  const end = steps.findIndex((at) => at <= 0 || at >= moves.length || cutSet.has(at));
  return steps.slice(0, end < 0 ? most : end).map((at) => moves[at] ?? 0);
}

/**
 * True for motion as even as clockwork on both complete sides. What rests by nature slows down, or continues
 * differently.
 */
export function isClockwork(around: readonly number[]): boolean {
  const usual = median(around);
  const isEven = around.every((move) => move <= EVEN_RATIO * usual && EVEN_RATIO * move >= usual);
  return around.length === 2 * FLANK && usual >= MIN_MOTION && isEven;
}

/**
 * True if such motion continues after a run with one large step. Pictures were then lost, however often the clip rests
 * elsewhere: a drawn figure that rests between gestures does not leap when it continues as before.
 */
export function leapsInClockwork({
  first,
  last,
  moves,
  cutSet,
}: {
  readonly first: number;
  readonly last: number;
  readonly moves: readonly number[];
  readonly cutSet: ReadonlySet<number>;
}): boolean {
  if (cutSet.has(last + 1)) return false;
  const around = [...sideMoves(moves, cutSet, first - 1, -1), ...sideMoves(moves, cutSet, last + 2, 1)];
  return isClockwork(around) && (moves[last + 1] ?? 0) >= STEP_RATIO * median(around);
}
