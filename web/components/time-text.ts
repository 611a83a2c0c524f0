export { formatMark } from '#common/format.ts';

/** A waiting time for people: `12 s`, `3 min`, `2 h`, always rounded up so that it never disappoints. */
export function formatWait(seconds: number): string {
  if (seconds < 60) return `${Math.max(1, Math.ceil(seconds))} s`;
  if (seconds < 3600) return `${Math.ceil(seconds / 60)} min`;
  return `${Math.ceil(seconds / 3600)} h`;
}
