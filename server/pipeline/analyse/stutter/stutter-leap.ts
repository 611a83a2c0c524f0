import type { FrameSeries } from '#server/media/grey/grey-series.ts';
import { median } from '#server/media/statistics.ts';
import { MIN_EVIDENCE } from './stutter-drawn.ts';

/** Pictures on each side of a run that show the usual change... */
const FLANK = 6;
/** ...and the least number of them for a side to count. */
const TELLING_LEAST = 3;
/**
 * A step over lost pictures changes no more than all their steps together. Beyond this many times that, the motion
 * around the run did not cause it. (A menu whose pointer rested for 21 pictures before a button lit up: three times.)
 */
const MOST_PER_PICTURE = 2;
/**
 * It also brings in no more new shades: at most this many times the usual change of the histogram for each picture,
 * above rounding. (Map tiles that appear once the map rests: 4.3 times. Of 250 added runs, two exceed three times.)
 */
const MOST_SHADES_PER_PICTURE = 3;
const TELLING_SHADES = 0.006;

/** Place of a run. */
interface LeapPlace {
  readonly first: number;
  readonly last: number;
  /** First pictures of new shots. */
  readonly cutSet: ReadonlySet<number>;
}

/**
 * True if the step after a run cannot come from the pictures that may be lost under it: it is larger than all of them
 * at twice the liveliest motion next to the run, or it is no larger but brings in other shades. Something turned, lit
 * up or entered, and the run was a rest.
 * @param evidence `evidence` of `Evidence`
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
