import type { FrameSeries } from '#server/media/grey/grey-series.ts';
import { quantile } from '#server/media/statistics.ts';

/** Pictures on each side that show how far things go here. */
const FLANK = 8;
const LEVEL_SHARE = 0.7;
/** Levels below these tell nothing, grey levels of the liveliest blocks and of the whole picture. */
const MIN_LEVEL = 1.2;
const MIN_MEAN_LEVEL = 0.1;
/** A pop changes the liveliest blocks so many times more than is usual around it... */
const MIN_RISE = 1.5;
/** ...and rises there so many times more than in the whole picture. */
const LOCAL_RATIO = 2;

/**
 * The series with steps in which something pops up on the screen (a word of a caption, a sticker, a digit) made as lively as the
 * livelier step beside each: they say nothing of how what was filmed moves. Where all that moves goes farther, as over lost
 * pictures, the whole picture rises with its liveliest blocks. Measured on captions that change two to four times a second over eleven
 * clips of people who talk (docs/benchmarks/repeats-in-public-clips.md).
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
