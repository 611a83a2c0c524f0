import {
  findChangedBytes,
  type ReadableSlice,
  type SearchBudget,
  type SliceMarkAt,
} from './changed-bytes.ts';
import { findStartCode } from './h264/check-sample.ts';
import { withRbspBytes } from './h264/emulation-prevention.ts';

export interface RestorableSlice<Mark extends SliceMarkAt> {
  readonly unit: Buffer;
  readonly slice: ReadableSlice<Mark>;
  /** The first byte that may have changed. */
  readonly dataAt: number;
}

/** NAL units of a picture with restored bytes, and the number of those. */
export interface RestoredUnits {
  readonly units: readonly Buffer[];
  readonly changes: number;
}

/**
 * Restores single changed bytes in a picture's slices, as far as their coding shows them (`findChangedBytes`).
 * @param units its NAL units
 * @param slices those of them that hold pictures
 * @returns null where the original picture cannot be determined
 */
export async function restoreUnits<Mark extends SliceMarkAt>(
  units: readonly Buffer[],
  slices: readonly RestorableSlice<Mark>[],
  budget: SearchBudget,
  signal?: AbortSignal,
): Promise<RestoredUnits | null> {
  const restored = new Map<Buffer, Buffer>();
  let changes = 0;
  for (const { unit, slice, dataAt } of slices) {
    const found = await findChangedBytes(slice, dataAt, budget, signal);
    const whole = found && (found.length === 0 ? unit : withRbspBytes(unit, found));
    if (!whole || findStartCode(whole) !== null) return null;
    changes += found.length;
    restored.set(unit, whole);
  }
  if (restored.size === 0) return null;
  return { units: units.map((unit) => restored.get(unit) ?? unit), changes };
}
