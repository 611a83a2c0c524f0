import { DEFAULT_REMAINING_MINUTES } from './limits.ts';

const UNITS = ['Bytes', 'KB', 'MB', 'GB'] as const;

/** File size in Bytes, KB, MB or GB at 1024, at most two decimals (specification section 9). */
export function formatBytes(sizeBytes: number): string {
  if (!Number.isFinite(sizeBytes) || sizeBytes <= 0) return '0 Bytes';
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log2(sizeBytes) / 10));
  const value = sizeBytes / 1024 ** power;
  return `${Number(value.toFixed(2))} ${UNITS[power] ?? 'GB'}`;
}

/** Size in MB with one decimal, for the dashboard lists. */
export function formatMegabytes(sizeBytes: number): string {
  return `${(sizeBytes / 1024 ** 2).toFixed(1)} MB`;
}

/** Whole minutes rounded up; two when unknown (specification section 4). */
export function remainingMinutes(seconds: number | null | undefined): number {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds))
    return DEFAULT_REMAINING_MINUTES;
  return Math.max(1, Math.ceil(seconds / 60));
}

/** Label and colour of a storyline confidence of 0 to 100 (specification section 9). */
export function confidenceLabel(confidence: number): {
  label: 'High' | 'Medium' | 'Low';
  colour: 'green' | 'yellow' | 'red';
} {
  if (confidence >= 80) return { label: 'High', colour: 'green' };
  if (confidence >= 60) return { label: 'Medium', colour: 'yellow' };
  return { label: 'Low', colour: 'red' };
}

/** Time on a clip's axis: `m:ss.mmm`, or `h:mm:ss.mmm` from one hour. */
export function formatTimecode(ms: number): string {
  const total = Math.max(0, Math.round(ms));
  const hours = Math.floor(total / 3_600_000);
  const minutes = Math.floor((total % 3_600_000) / 60_000);
  const seconds = ((total % 60_000) / 1000).toFixed(3).padStart(6, '0');
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${seconds}` : `${minutes}:${seconds}`;
}

/** A position on a clip for people: `m:ss`, or `h:mm:ss` from one hour. */
export function formatMark(ms: number): string {
  const total = Math.max(0, Math.floor(ms / 1000));
  const seconds = String(total % 60).padStart(2, '0');
  const minutes = Math.floor(total / 60) % 60;
  const hours = Math.floor(total / 3600);
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${seconds}` : `${minutes}:${seconds}`;
}
