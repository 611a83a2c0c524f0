import { mean, median } from '#server/media/statistics.ts';
import type { ChangeTo } from './change-to.ts';
import type { TimestampGap } from './detect-dropped-frames.ts';

/** Steps on each side of a hole that show how far things go from picture to picture. */
const REACH = 3;
/** ...of which so many tell at least, */
const TELLING_LEAST = 4;
/** ...and so many changes over two steps. */
const TELLING_TWO = 2;

/** What a hole must be like to say by itself that nothing is missing there, or along with others. */
interface Telling {
  /** Change (grey levels of the block difference) beside it below which motion tells nothing: encoders make as much by themselves. */
  readonly still: number;
  /** Motion is even where the longest step beside it is less than so many times the shortest. */
  readonly even: number;
  /**
   * How many times as much changes over two steps as over one, at least: the change of fast wings or of shaken blades of grass says nothing, as it is
   * no greater over two steps (1.1 to 1.25 times).
   */
  readonly growth: number;
  /** Part of the way from the change over one step to that over two that the step over the hole goes at most. */
  readonly share: number;
}

const ALONE: Telling = { still: 3, even: 2, growth: 1.4, share: 0.2 };
/** Many holes may be uneven: what half of them say counts for all. */
const TOGETHER: Telling = { still: 2, even: Infinity, growth: 1.25, share: 0.4 };
const TOGETHER_LEAST = 4;

export interface Changes {
  /** Of the liveliest blocks, to the picture before. */
  readonly blockTo: ChangeTo;
  /** Of the liveliest blocks, to the one before that. */
  readonly blockOverTwoTo: ChangeTo;
  /** Of the whole picture, to the picture before. */
  readonly wholeTo: ChangeTo;
}

/**
 * The holes of one picture in a constant rate, over which no more motion passes than over any other step: writers set pictures of 21 or nearly 30 a second to the
 * moments of a rate a little higher, so that one moment stays empty now and then. Nothing is missing there, and a picture made between
 * would slow the motion down. Of 356 single pictures taken out at random of 13 real clips 5 are told so (19 by the length of the step alone, before), of
 * 101 moments left empty in them 27 by themselves and 57 with what the others say (docs/benchmarks/repeats-and-losses.md).
 * @param changes what moves, each in grey levels
 */
export function findHolesWithoutLoss(gaps: readonly TimestampGap[], changes: Changes): TimestampGap[] {
  const behind = new Set(gaps.map(({ frameBefore }) => frameBefore + 1));
  const single = gaps.filter(({ missing }) => missing === 1);
  const shares = single.map(({ frameBefore }) => {
    const hole = lookAt(frameBefore + 1, behind, changes);
    return (telling: Telling) => (hole && isTelling(hole, telling) ? hole.share : null);
  });
  const together = shares.flatMap((shareOf) => shareOf(TOGETHER) ?? []);
  if (together.length >= TOGETHER_LEAST && median(together) < TOGETHER.share) return single;
  return single.filter((_, at) => (shares[at]?.(ALONE) ?? Infinity) < ALONE.share);
}

interface Hole {
  /** Mean change over the steps beside it, the longest of them over the shortest, and the change over two over that over one. */
  readonly beside: number;
  readonly unevenness: number;
  readonly growth: number;
  /** Part of the way from one step to two, of the liveliest blocks or the whole picture, whichever goes farther. */
  readonly share: number;
}

const isTelling = ({ beside, unevenness, growth }: Hole, telling: Telling): boolean =>
  beside >= telling.still && unevenness < telling.even && growth >= telling.growth;

/**
 * @param over the picture right behind the hole
 * @param behind those behind all holes
 * @returns null where too little is known beside it
 */
function lookAt(over: number, behind: ReadonlySet<number>, changes: Changes): Hole | null {
  const besideOf = (changeTo: ChangeTo, steps: number) => {
    const beside: number[] = [];
    for (let frame = over - REACH; frame <= over + REACH; frame += 1) {
      const ends = Array.from({ length: steps }, (_, back) => frame - back);
      const change = ends.some((end) => behind.has(end)) ? null : changeTo(frame);
      if (change !== null) beside.push(change);
    }
    return beside;
  };
  const blocks = besideOf(changes.blockTo, 1);
  const two = besideOf(changes.blockOverTwoTo, 2);
  const steps = [changes.blockTo(over), changes.wholeTo(over)];
  if (blocks.length < TELLING_LEAST || two.length < TELLING_TWO) return null;
  const growth = mean(two) / mean(blocks);
  const rises = steps.map((step, at) => {
    const beside = at === 0 ? blocks : besideOf(changes.wholeTo, 1);
    return step === null ? Infinity : step / mean(beside) - 1;
  });
  return {
    beside: mean(blocks),
    unevenness: Math.max(...blocks) / Math.min(...blocks),
    growth,
    share: Math.max(...rises) / (growth - 1),
  };
}
