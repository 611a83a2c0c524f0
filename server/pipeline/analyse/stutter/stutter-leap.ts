import type { FrameSeries } from '#server/media/grey/grey-series.ts';

/** Pictures on each side of a run that show how much the picture changes from one to the next... */
const FLANK = 6;
/** ...and so many at least on a side that tells. */
const TELLING_LEAST = 3;
/**
 * A step over lost pictures changes no more than all of their steps together, whatever moves: so much above that, and the motion beside
 * the run did not make it. (A menu whose pointer rested for 21 pictures before a button lit up: three times all of them.)
 */
const MOST_PER_PICTURE = 2;

/** Where a run stands. */
interface LeapPlace {
  readonly first: number;
  readonly last: number;
  /** First pictures of new shots. */
  readonly cutSet: ReadonlySet<number>;
}

/**
 * True where the step behind a run is larger than the pictures that may have been lost under it could make it, had each moved twice as far as the
 * liveliest beside the run: something turned, lit up or came in, and what rested until then was at rest.
 */
export function leavesMotion({ meanDiff }: Pick<FrameSeries, 'meanDiff'>, run: LeapPlace): boolean {
  const { first, last, cutSet } = run;
  if (cutSet.has(last + 1)) return false;
  const before = stepsFrom(meanDiff, cutSet, first - 1, -1);
  const behind = stepsFrom(meanDiff, cutSet, last + 2, 1);
  if (before.length < TELLING_LEAST || behind.length < TELLING_LEAST) return false;
  const most = MOST_PER_PICTURE * (last - first + 2) * Math.max(...before, ...behind);
  return (meanDiff[last + 1] ?? 0) > most;
}

function stepsFrom(
  steps: readonly number[],
  cutSet: ReadonlySet<number>,
  start: number,
  direction: -1 | 1,
): number[] {
  const found: number[] = [];
  for (let at = start; at > 0 && at < steps.length && found.length < FLANK; at += direction) {
    if (cutSet.has(at)) break;
    found.push(steps[at] ?? 0);
  }
  return found;
}
