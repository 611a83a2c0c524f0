import type { ThreadMark } from '../thread-strip.tsx';

/** Least share of the axis that a jump button takes: 24 px on a player of 640 px. */
const LEAST_SHARE = 24 / 640;

/**
 * Gives each mark the first lane in which it covers no other, so that a fault over the whole clip does not lie
 * on the short ones. Lane numbers count from 0, in the order of the marks given.
 */
export function assignLanes(marks: readonly ThreadMark[], durationMs: number): ReadonlyMap<string, number> {
  const lanes = new Map<string, number>();
  const endsMs: number[] = [];
  const bySpan = [...marks].toSorted((a, b) => a.startMs - b.startMs || a.endMs - b.endMs);
  for (const { id, startMs, endMs } of bySpan) {
    const free = endsMs.findIndex((end) => end <= startMs);
    const lane = free === -1 ? endsMs.length : free;
    endsMs[lane] = Math.max(endMs, startMs + LEAST_SHARE * durationMs);
    lanes.set(id, lane);
  }
  return lanes;
}
