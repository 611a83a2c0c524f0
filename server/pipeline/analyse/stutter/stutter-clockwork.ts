import { median } from '#server/media/statistics.ts';

/** Pictures on each side of a run that show how it moves there. */
const FLANK = 6;
/** Steps that change the liveliest blocks by less (grey levels) tell nothing. */
const MIN_MOTION = 1;
/** No step of motion as even as clockwork is this many times more or less than the usual one. */
const EVEN_RATIO = 1.4;
/** A step this many times the usual one is none of it. */
const STEP_RATIO = 1.5;

/** Changes on one side of a run, up to a cut; of nothing behind it. */
export function sideMoves(
  moves: readonly number[],
  cutSet: ReadonlySet<number>,
  start: number,
  direction: -1 | 1,
): number[] {
  const steps = Array.from({ length: FLANK }, (_, far) => start + direction * far);
  const end = steps.findIndex((at) => at <= 0 || at >= moves.length || cutSet.has(at));
  return steps.slice(0, end < 0 ? FLANK : end).map((at) => moves[at] ?? 0);
}

/** True for motion as even as clockwork on both whole sides: whatever rests by itself slows down or goes on otherwise. */
export function isClockwork(around: readonly number[]): boolean {
  const usual = median(around);
  const isEven = around.every((move) => move <= EVEN_RATIO * usual && EVEN_RATIO * move >= usual);
  return around.length === 2 * FLANK && usual >= MIN_MOTION && isEven;
}

/**
 * True where such motion goes on behind a run with one long step: pictures were lost there, however often the clip rests elsewhere. A drawn figure that
 * rests between its gestures does not leap when it goes on as before.
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
