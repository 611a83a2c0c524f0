import type { FrameSeries } from '#server/media/grey/grey-series.ts';
import { quantile } from '#server/media/statistics.ts';

/** Pictures on each side that show the usual change. */
const FLANK = 8;
const LEVEL_SHARE = 0.7;
/** Lower levels show nothing; grey levels of the liveliest blocks and of the whole picture. */
const MIN_LEVEL = 1.2;
const MIN_MEAN_LEVEL = 0.1;
/** A pop changes the liveliest blocks this many times more than usual... */
const MIN_RISE = 1.5;
/** ...and this rise is this many times that of the whole picture. */
const LOCAL_RATIO = 2;

/**
 * Evens out steps in which something pops up on the screen (a word of a caption, a sticker, a digit): each becomes as
 * lively as the livelier of the steps next to it, because it says nothing about the filmed motion. After lost pictures
 * all motion goes farther, and the whole picture rises with its liveliest blocks. Measured on captions that change two
 * to four times a second over eleven clips of people talking (docs/benchmarks/repeats-in-public-clips.md).
 * @param cuts first pictures of new shots, which stay as they are
 */
export function withoutPops(series: FrameSeries, cuts: ReadonlySet<number>): FrameSeries {
  const moves = series.blockDiff.get(1) ?? [];
  const plain = moves.map((move, i) => {
    if (move < MIN_RISE * MIN_LEVEL || cuts.has(i) || !isPop(series.meanDiff, moves, i)) return move;
    return Math.min(move, Math.max(moves[i - 1] ?? 0, moves[i + 1] ?? 0));
  });
  return { ...series, blockDiff: new Map([...series.blockDiff, [1, plain]]) };
}

function isPop(means: readonly number[], moves: readonly number[], i: number): boolean {
  const rise = (moves[i] ?? 0) / Math.max(MIN_LEVEL, levelAround(moves, i));
  if (rise < MIN_RISE) return false;
  return rise >= (LOCAL_RATIO * (means[i] ?? 0)) / Math.max(MIN_MEAN_LEVEL, levelAround(means, i));
}

function levelAround(values: readonly number[], i: number): number {
  const around = [...values.slice(Math.max(1, i - FLANK), i), ...values.slice(i + 1, i + 1 + FLANK)];
  return quantile(around, LEVEL_SHARE);
}
