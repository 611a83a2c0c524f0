import type { Moved } from '../square-motion.ts';
import type { CodingSps } from './hevc-coding-sets.ts';

/** A coded unit. */
export interface MovedUnit extends Moved {
  /** Number of splits of the coding tree above it. */
  readonly depth: number;
}

/** The units of a slice that have been coded so far. */
export interface MotionMap {
  note(x: number, y: number, size: number, unit: MovedUnit): void;
  /** Depth of the unit at a place; -1 where none is coded. */
  depthAt(x: number, y: number): number;
  /** The first candidate for the motion of a unit, from its neighbours; null where none is coded yet. */
  predict(x: number, y: number, size: number): Moved | null;
}

/** A map for slices whose units all refer to the same picture. */
export function createMotionMap({ width, height, minCbLog2 }: CodingSps): MotionMap {
  const columns = width >> minCbLog2;
  const units: (MovedUnit | undefined)[] = [];
  const at = (x: number, y: number) => {
    const isInside = x >= 0 && y >= 0 && x < width && y < height;
    return isInside ? units[(y >> minCbLog2) * columns + (x >> minCbLog2)] : undefined;
  };
  return {
    note(x, y, size, unit) {
      for (let row = y >> minCbLog2; row < (y + size) >> minCbLog2; row += 1) {
        for (let column = x >> minCbLog2; column < (x + size) >> minCbLog2; column += 1) {
          units[row * columns + column] = unit;
        }
      }
    },
    depthAt: (x, y) => at(x, y)?.depth ?? -1,
    // A0, A1, B0, B1, B2 (ITU-T H.265, 8.5.3.2.7). What is not coded yet is not available. One above counts where none
    // to the left does.
    predict: (x, y, size) =>
      at(x - 1, y + size) ??
      at(x - 1, y + size - 1) ??
      at(x + size, y - 1) ??
      at(x + size - 1, y - 1) ??
      at(x - 1, y - 1) ??
      null,
  };
}
