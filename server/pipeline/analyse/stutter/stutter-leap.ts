import type { FrameSeries } from '#server/media/grey/grey-series.ts';
import { median } from '#server/media/statistics.ts';
import { MIN_EVIDENCE } from './stutter-drawn.ts';

/** Pictures on each side of a run that show how much the picture changes from one to the next... */
const FLANK = 6;
/** ...and so many at least on a side that tells. */
const TELLING_LEAST = 3;
/**
 * A step over lost pictures changes no more than all of their steps together, whatever moves: so much above that, and the motion beside
 * the run did not make it. (A menu whose pointer rested for 21 pictures before a button lit up: three times all of them.)
 */
const MOST_PER_PICTURE = 2;
/**
 * Nor does it bring other shades in than these would: more than so many times the usual change of the histogram for each of them, where that is no
 * rounding. (Tiles of a map that appear once it rests: 4.3 times. Of 250 planted runs two have more than three times.)
 */
const MOST_SHADES_PER_PICTURE = 3;
const TELLING_SHADES = 0.006;

/** Where a run stands. */
interface LeapPlace {
  readonly first: number;
  readonly last: number;
  /** First pictures of new shots. */
  readonly cutSet: ReadonlySet<number>;
}

/**
 * True where the step behind a run is larger than the pictures that may have been lost under it could make it, had each moved twice as far as the
 * liveliest beside the run, or brings in other shades than they do though it is no longer than they: something turned, lit up or came in, and what rested until then was at rest.
 * @param evidence that of the change in `Evidence`
 */
export function leavesMotion(
  { meanDiff, histogramDiff }: Pick<FrameSeries, 'meanDiff' | 'histogramDiff'>,
  run: LeapPlace,
  evidence = 0,
): boolean {
  const { first, last, cutSet } = run;
  if (cutSet.has(last + 1)) return false;
  const sidesOf = (steps: readonly number[]) =>
    [stepsFrom(steps, cutSet, first - 1, -1), stepsFrom(steps, cutSet, last + 2, 1)] as const;
  const [before, behind] = sidesOf(meanDiff);
  if (before.length < TELLING_LEAST || behind.length < TELLING_LEAST) return false;
  const pictures = last - first + 2;
  const most = MOST_PER_PICTURE * pictures * Math.max(...before, ...behind);
  const shades = Math.max(...sidesOf(histogramDiff).map(median));
  const mostShades = Math.max(TELLING_SHADES, MOST_SHADES_PER_PICTURE * pictures * shades);
  const bringsShades = evidence < MIN_EVIDENCE && (histogramDiff[last + 1] ?? 0) > mostShades;
  return (meanDiff[last + 1] ?? 0) > most || bringsShades;
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
