import { block, choose, i32, i32x4, u8x16, v128, type Code, type Local } from './assemble.ts';

/** Bytes of a vector of WebAssembly, and of a number in single precision; so many of these fit into one. */
export const VECTOR_BYTES = 16;
export const NUMBER_BYTES = 4;
export const LANES = VECTOR_BYTES / NUMBER_BYTES;

/** A number in all four lanes. */
export const fourOf = (value: number): Code =>
  v128.const([...new Uint8Array(Float32Array.of(value, value, value, value).buffer)]);

const SWAP_HALVES = [8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7];
const SWAP_WORDS = [4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11];

/** The 16 bytes of a constant, each given by `of`. */
export const sixteen = (of: (at: number) => number) => Array.from({ length: 16 }, (_, at) => of(at));
/** All 16-bit lanes but the last. */
export const NOT_LAST_LANE = sixteen((at) => (at < 14 ? 0xff : 0));

/** Absolute differences of 16 bytes. */
export const absoluteDifference = (a: Local, b: Local): Code =>
  v128.or(u8x16.subSaturated(a.get, b.get), u8x16.subSaturated(b.get, a.get));
export const advance = (local: Local, by: Code): Code => local.set(i32.add(local.get, by));
export const smaller = (a: Code, b: Code): Code => choose(a, b, i32.ltS(a, b));
export const larger = (a: Code, b: Code): Code => choose(a, b, i32.gtS(a, b));

/** Each 32-bit lane plus its neighbour, in lanes 0 and 1 and in lanes 2 and 3. */
export const addNeighbours = (lanes: Local, scratch: Local): Code =>
  lanes.set(i32x4.add(lanes.get, v128.shuffle(lanes.get, SWAP_WORDS, scratch)));

/** The two 64-bit halves exchanged. */
export const swapHalves = (value: Code, scratch: Local): Code => v128.shuffle(value, SWAP_HALVES, scratch);

/** Sum of the four 32-bit lanes of `lanes`, which is overwritten. */
export function lanesSum(lanes: Local, scratch: Local): Code {
  return block(
    lanes.set(i32x4.add(lanes.get, swapHalves(lanes.get, scratch))),
    addNeighbours(lanes, scratch),
    i32x4.lane(lanes.get, 0),
  );
}
