/** Orders of coefficients (ITU-T H.265, 6.5.3 to 6.5.5). */
export const SCAN = { diagonal: 0, horizontal: 1, vertical: 2 } as const;

/** Places x and y of a square of `size`, by order. */
function places(scan: number, size: number): { x: number; y: number }[] {
  const all = Array.from({ length: size * size }, (_, at) => ({ x: at % size, y: Math.floor(at / size) }));
  if (scan === SCAN.horizontal) return all;
  if (scan === SCAN.vertical) return all.map(({ x, y }) => ({ x: y, y: x }));
  return all.sort((a, b) => a.x + a.y - b.x - b.y || a.x - b.x);
}

const SCANS = [SCAN.diagonal, SCAN.horizontal, SCAN.vertical];

/** Places within a block of 4 x 4 as 4 y + x; at 16 scan + number. */
export const PLACE_OF = Uint8Array.from(
  SCANS.flatMap((scan) => places(scan, 4).map(({ x, y }) => 4 * y + x)),
);
/** Numbers of places within a block of 4 x 4; at 16 scan + 4 y + x. */
export const NUMBER_OF = inverse(PLACE_OF, 16);

/** Blocks of 4 x 4 in a transform of 4, 8, 16, 32 samples as 8 y + x; at 192 (log2 - 2) + 64 scan + number. */
export const BLOCK_OF = Uint8Array.from(
  [1, 2, 4, 8].flatMap((size) =>
    SCANS.flatMap((scan) => {
      const ordered = places(scan, size).map(({ x, y }) => 8 * y + x);
      return Array.from({ length: 64 }, (_, number) => ordered[number] ?? 0);
    }),
  ),
);
/** Numbers of blocks; at 192 (log2 - 2) + 64 scan + 8 y + x. */
export const BLOCK_NUMBER_OF = Uint8Array.from(
  [1, 2, 4, 8].flatMap((size) =>
    SCANS.flatMap((scan) => {
      const numbers = Array.from({ length: 64 }, () => 0);
      for (const [number, { x, y }] of places(scan, size).entries()) numbers[8 * y + x] = number;
      return numbers;
    }),
  ),
);

function inverse(table: Uint8Array, size: number): Uint8Array {
  const out = new Uint8Array(table.length);
  for (const [at, place] of table.entries()) out[at - (at % size) + place] = at % size;
  return out;
}

const LEAST = [0, 1, 4, 5, 2, 3, 4, 5, 6, 6, 8, 8, 7, 7, 8, 8];

/** sigCtx within a block of 4 x 4 (9.3.4.2.5) when the block to the right (1), below (2) has coefficients. */
function patternContext(coded: number, place: number): number {
  const x = place & 3;
  const y = place >> 2;
  if (coded === 0) return x + y === 0 ? 2 : x + y < 3 ? 1 : 0;
  if (coded === 3) return 2;
  const from = coded === 1 ? y : x;
  return from === 0 ? 2 : from === 1 ? 1 : 0;
}

/** sigCtx; at 16 pattern + place, pattern 0 to 3 as above and 4 in transforms of 4 x 4. */
export const SIGNIFICANCE = Uint8Array.from({ length: 80 }, (_, at) =>
  at >= 64 ? (LEAST[at - 64] ?? 0) : patternContext(at >> 4, at & 15),
);
