import type { DefectCurve } from '#common/report.ts';

/** Value axis of a chart. */
export interface ValueAxis {
  readonly low: number;
  readonly high: number;
  /** Round values to label, ascending. */
  readonly ticks: readonly number[];
}

/** Steps that are easy to read: 1, 2 or 5 times a power of ten (Wilkinson, The Grammar of Graphics, chapter 6). */
function niceStep(span: number, most: number): number {
  const rough = Math.max(span, 1e-6) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 5, 10].find((one) => one * power >= rough * (1 - 1e-9)) ?? 10;
  return factor * power;
}

const MOST_STEPS = 3;
/** Share of a step by which a curve may exceed its axis. */
const HAIR = 0.06;
/** A flat curve still needs an axis: 20 ms or 6 dB are barely noticeable differences. */
const LEAST_SPAN: Record<DefectCurve['unit'], number> = { ms: 20, dBFS: 6 };

/**
 * An axis with round ends that contains the values of the curve, except for `HAIR`; that of an offset always contains
 * zero.
 */
export function valueAxis({ points, unit, quantity }: DefectCurve): ValueAxis {
  const values = points.flatMap(({ before, after }) => (after === null ? [before] : [before, after]));
  if (quantity === 'sync_offset') values.push(0);
  const least = LEAST_SPAN[unit];
  const middle = (Math.max(...values) + Math.min(...values)) / 2;
  const half = Math.max(least, Math.max(...values) - Math.min(...values)) / 2;
  const step = niceStep(2 * half, MOST_STEPS);
  // A value that barely exceeds a line needs no further step of empty space.
  const low = Math.floor((middle - half) / step + HAIR) * step;
  const high = Math.ceil((middle + half) / step - HAIR) * step;
  const count = Math.round((high - low) / step);
  const ticks = Array.from({ length: count + 1 }, (_, index) => Number((low + index * step).toFixed(6)));
  return { low, high, ticks };
}

/** Converts runs of points with a value to SVG polyline points on a field of 100 by 100, origin at the top. */
export function polylines(
  points: readonly { readonly atMs: number; readonly value: number | null }[],
  durationMs: number,
  { low, high }: ValueAxis,
): string[] {
  const runs: string[][] = [[]];
  for (const { atMs, value } of points) {
    if (value === null) runs.push([]);
    else {
      const x = durationMs > 0 ? Math.min(100, Math.max(0, (atMs / durationMs) * 100)) : 0;
      const y = 100 - ((value - low) / (high - low)) * 100;
      runs.at(-1)?.push(`${x.toFixed(2)},${y.toFixed(2)}`);
    }
  }
  // A single point is drawn as a line of zero length, or it would be invisible.
  return runs
    .filter((run) => run.length > 0)
    .map((run) => (run.length === 1 ? `${run[0]} ${run[0]}` : run.join(' ')));
}
