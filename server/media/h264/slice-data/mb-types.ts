import type { Rectangle } from './mb-state.ts';

/** Added to an intra type in slices that have inter types too. */
export const INTRA_TYPES = 100;
/** Intra types (ITU-T H.264, table 7-11). */
export const I_NXN = 0;
export const I_PCM = 25;
/** Types whose four parts are divided further, and P_8x8 with the first reference for all parts. */
export const P_8X8 = 3;
export const P_8X8_REF0 = 4;
export const B_DIRECT = 0;
export const B_8X8 = 22;

const WHOLE: readonly Rectangle[] = [[0, 0, 4, 4]];
const HALVES: readonly Rectangle[] = [
  [0, 0, 4, 2],
  [0, 2, 4, 2],
];
const SIDES: readonly Rectangle[] = [
  [0, 0, 2, 4],
  [2, 0, 2, 4],
];

/** Parts of a macroblock that are predicted from each list. */
export type Parts = readonly [readonly Rectangle[], readonly Rectangle[]];

/** @param lists for each part, the lists that it is predicted from: 1 the first, 2 the second, 3 both */
const parts = (rectangles: readonly Rectangle[], lists: readonly number[]): Parts => {
  const of = (list: number) => rectangles.filter((_, at) => ((lists[at] ?? 0) & list) !== 0);
  return [of(1), of(2)];
};

/** Table 7-13. */
export const P_PARTS: readonly Parts[] = [parts(WHOLE, [1]), parts(HALVES, [1, 1]), parts(SIDES, [1, 1])];

const PAIRS = [
  [1, 1],
  [2, 2],
  [1, 2],
  [2, 1],
  [1, 3],
  [2, 3],
  [3, 1],
  [3, 2],
  [3, 3],
] as const;

/** Table 7-14, from type 1 on, the first with a vector. */
export const B_PARTS: readonly Parts[] = [
  ...[1, 2, 3].map((list) => parts(WHOLE, [list])),
  ...PAIRS.flatMap((lists) => [parts(HALVES, lists), parts(SIDES, lists)]),
];

/** How an 8 x 8 part is divided; with `lists` 0 its motion is derived from other pictures or blocks. */
export interface SubParts {
  readonly lists: number;
  readonly width: number;
  readonly height: number;
  /** The parts, for each quarter of the macroblock. */
  readonly rectangles: readonly (readonly Rectangle[])[];
}

/** The quarters of a macroblock. */
export const QUARTERS: readonly Rectangle[] = [
  [0, 0, 2, 2],
  [2, 0, 2, 2],
  [0, 2, 2, 2],
  [2, 2, 2, 2],
];

const sub = (lists: number, width: number, height: number): SubParts => {
  const rectangles = QUARTERS.map(([left, top]) => {
    const parts: Rectangle[] = [];
    for (let y = 0; y < 2; y += height) {
      for (let x = 0; x < 2; x += width) parts.push([left + x, top + y, width, height]);
    }
    return parts;
  });
  return { lists, width, height, rectangles };
};

/** Table 7-17. */
export const P_SUB_PARTS: readonly SubParts[] = [sub(1, 2, 2), sub(1, 2, 1), sub(1, 1, 2), sub(1, 1, 1)];

/** Table 7-18. */
export const B_SUB_PARTS: readonly SubParts[] = [
  sub(0, 2, 2),
  sub(1, 2, 2),
  sub(2, 2, 2),
  sub(3, 2, 2),
  sub(1, 2, 1),
  sub(1, 1, 2),
  sub(2, 2, 1),
  sub(2, 1, 2),
  sub(3, 2, 1),
  sub(3, 1, 2),
  sub(1, 1, 1),
  sub(2, 1, 1),
  sub(3, 1, 1),
];
