import type { Moved } from '../../square-motion.ts';

/** Vectors of a slice's macroblocks, which all refer to the same picture; null for intra ones. */
export interface Vectors {
  note(mb: number, vector: Moved | null): void;
  /** Median prediction (ITU-T H.264, 8.4.1.3). */
  predicted(mb: number): Moved;
  /** Vector of a skipped macroblock (8.4.1.1). */
  skipped(mb: number): Moved;
}

const NOT_MOVED: Moved = { x: 0, y: 0 };

/** @param first first macroblock of the slice */
export function createVectors(columns: number, first: number): Vectors {
  const vectors = new Map<number, Moved | null>();
  /** Undefined where there is no neighbour. */
  const neighbours = (mb: number) => {
    const column = mb % columns;
    const at = (other: number, isBeside: boolean) =>
      isBeside && other >= first ? vectors.get(other) : undefined;
    const left = at(mb - 1, column > 0);
    const above = at(mb - columns, true);
    const right = at(mb - columns + 1, column < columns - 1);
    return { left, above, corner: right === undefined ? at(mb - columns - 1, column > 0) : right };
  };
  const predicted = (mb: number): Moved => {
    const { left, above, corner } = neighbours(mb);
    if (above === undefined && corner === undefined) return left ?? NOT_MOVED;
    const there = [left, above, corner].flatMap((one) => one ?? []);
    const [only] = there;
    if (only && there.length === 1) return only;
    return { x: middle(left?.x, above?.x, corner?.x), y: middle(left?.y, above?.y, corner?.y) };
  };
  return {
    note: (mb, vector) => void vectors.set(mb, vector),
    predicted,
    skipped(mb) {
      const { left, above } = neighbours(mb);
      const isStill = (one: Moved | null | undefined) => one === undefined || (one?.x === 0 && one.y === 0);
      return isStill(left) || isStill(above) ? NOT_MOVED : predicted(mb);
    },
  };
}

const middle = (a = 0, b = 0, c = 0) => Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
