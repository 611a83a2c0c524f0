import { mean, median } from '#server/media/statistics.ts';
import type { ChangeTo } from './change-to.ts';
import type { TimestampGap } from './detect-dropped-frames.ts';

/** Steps on each side of a hole that show how far things move from picture to picture. */
const REACH = 3;
/** ...of which at least this many must be known, */
const TELLING_LEAST = 4;
/** ...and this many changes over two steps. */
const TELLING_TWO = 2;

/** Requirements for a hole to say, by itself or together with others, that nothing is missing. */
interface Telling {
  /**
   * Motion beside it with a smaller change (grey levels of the block difference) says nothing, because encoders alone
   * cause as much.
   */
  readonly still: number;
  /** Motion is even if the longest step beside it is less than this many times the shortest. */
  readonly even: number;
  /**
   * Least growth of the change from one step to two: the change of fast wings or of blades of grass in the wind says
   * nothing, because it hardly grows over two steps (1.1 to 1.25 times).
   */
  readonly growth: number;
  /** Largest position of the step across the hole between the change over one step (0) and over two (1). */
  readonly share: number;
}

const ALONE: Telling = { still: 3, even: 2, growth: 1.4, share: 0.2 };
/** Many holes may be uneven: what half of them say counts for all. */
const TOGETHER: Telling = { still: 2, even: Infinity, growth: 1.25, share: 0.4 };
const TOGETHER_LEAST = 4;
/** Motion may come back within a hole of several pictures, so only a steady pan of the whole picture tells there. */
const SEVERAL: Telling = { still: 3, even: 2, growth: 1.5, share: 0.15 };
/** Longest hole for which this was measured, pictures. */
const SEVERAL_MOST = 3;

/** Steps of a pan that is steady enough to tell what lies in a hole of several pictures. */
const PAN = {
  /** Pictures on each side that show the pan; all of their steps must be known. */
  reach: 4,
  /** Shorter displacements, in pixels of the small picture, are as uncertain as they are long. */
  least: 0.4,
  /** Each step differs from their mean by less than this share of it... */
  spread: 0.35,
  /** ...and the one across the hole, which is two means too long already if two pictures are missing. */
  over: 0.4,
} as const;

export interface Changes {
  /** Change of the liveliest blocks from the previous picture. */
  readonly blockTo: ChangeTo;
  /** Change of the liveliest blocks from the picture before the previous one. */
  readonly blockOverTwoTo: ChangeTo;
  /** Change of the whole picture from the previous picture. */
  readonly wholeTo: ChangeTo;
  /** Displacement of the whole picture from the previous one, pixels of the small picture. */
  readonly shiftXTo: ChangeTo;
  readonly shiftYTo: ChangeTo;
}

/**
 * Finds holes in a constant rate across which no more motion happens than in any other step. Writers place pictures of
 * 21 or nearly 30 a second at the slots of a slightly higher rate, so that now and then one slot stays empty. Nothing
 * is missing there, and an additional picture would slow the motion down. Of 356 single pictures removed at random from
 * 13 real clips 5 are mistaken for this; of 101 empty slots in them 27 are recognised by themselves and 57 together
 * with the others (docs/benchmarks/repeats-and-losses.md). A hole of several pictures is one only in a steady pan,
 * because other motion may come back within it.
 * @param changes changes of picture content, grey levels
 */
export function findHolesWithoutLoss(gaps: readonly TimestampGap[], changes: Changes): TimestampGap[] {
  const behind = new Set(gaps.map(({ frameBefore }) => frameBefore + 1));
  const single = gaps.filter(({ missing }) => missing === 1);
  const shares = single.map(({ frameBefore }) => {
    const hole = lookAt(frameBefore + 1, behind, changes);
    return (telling: Telling) => (hole && isTelling(hole, telling) ? hole.share : null);
  });
  const together = shares.flatMap((shareOf) => shareOf(TOGETHER) ?? []);
  const areTogether = together.length >= TOGETHER_LEAST && median(together) < TOGETHER.share;
  const empty = new Set([
    ...single.filter((_, at) => areTogether || (shares[at]?.(ALONE) ?? Infinity) < ALONE.share),
    ...gaps.filter((gap) => gap.missing > 1 && isStepOfPan(gap, behind, changes)),
  ]);
  return gaps.filter((gap) => empty.has(gap));
}

/** Whether a steady pan goes over a hole of several pictures by a single one of its steps. */
function isStepOfPan(
  { frameBefore, missing }: TimestampGap,
  behind: ReadonlySet<number>,
  changes: Changes,
): boolean {
  const over = frameBefore + 1;
  const hole = missing > SEVERAL_MOST ? null : lookAt(over, behind, changes);
  if (!hole || !isTelling(hole, SEVERAL) || hole.share >= SEVERAL.share) return false;
  const shiftTo = (frame: number) => {
    const [x, y] = [changes.shiftXTo(frame), changes.shiftYTo(frame)];
    return x === null || y === null ? null : { x, y };
  };
  const reach = Array.from({ length: 2 * PAN.reach + 1 }, (_, at) => over - PAN.reach + at);
  const beside = reach.filter((frame) => !behind.has(frame)).flatMap((frame) => shiftTo(frame) ?? []);
  const step = shiftTo(over);
  if (step === null || beside.length < 2 * PAN.reach) return false;
  const usual = { x: mean(beside.map(({ x }) => x)), y: mean(beside.map(({ y }) => y)) };
  const length = Math.hypot(usual.x, usual.y);
  const strayOf = ({ x, y }: { x: number; y: number }) => Math.hypot(x - usual.x, y - usual.y) / length;
  if (length < PAN.least || beside.some((one) => strayOf(one) >= PAN.spread)) return false;
  return strayOf(step) < PAN.over;
}

interface Hole {
  /**
   * Mean change of the steps beside it, the longest of them relative to the shortest, and the change over two steps
   * relative to one.
   */
  readonly beside: number;
  readonly unevenness: number;
  readonly growth: number;
  /**
   * Position between the change over one step (0) and two (1), of the liveliest blocks or the whole picture, whichever
   * is larger.
   */
  readonly share: number;
}

const isTelling = ({ beside, unevenness, growth }: Hole, telling: Telling): boolean =>
  beside >= telling.still && unevenness < telling.even && growth >= telling.growth;

/**
 * @param over the picture right after the hole
 * @param behind the pictures right after all holes
 * @returns null when too little is known beside it
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
