import { mean, median } from '#server/media/statistics.ts';
import type { PictureTimes } from '../analysis.ts';
import { WHOLE_SLACK, type TimestampGap } from './detect-dropped-frames.ts';

/**
 * Least number of holes in a stretch: of 3000 made clips that lost 18 % of their pictures at random four have this many
 * equally even holes in a row; of as many that lost 10 %, none.
 */
const HOLES_LEAST = 9;
/** Rounding an even rate to slots moves each picture by up to half a slot to either side. */
const EVEN_RANGE = 1.05;
/**
 * The next hole is compared with this many last holes of a row, so that hours of one rate cost no more than minutes.
 */
const HELD_AGAINST = 60;
/**
 * A higher share of filled slots is not a rate in use (25 pictures a second at slots of 1/30 s are 0.83): every tenth
 * picture is lost, not omitted.
 */
const MAX_SHARE = 0.85;
/**
 * Largest change (grey levels of the block difference) that an encoder alone causes from picture to picture where
 * nothing moves.
 */
const STILL = 3;
/** Least number of holes with motion around them that must be judged. */
const TELLING_LEAST = 3;
/**
 * A lost picture makes the step across its place twice as long; a slower picture that was moved to the nearest slot
 * does not. Median change across the holes relative to the change beside them; see
 * docs/benchmarks/repeats-in-public-clips.md, "Clips as they are passed on".
 */
const LOSS_RATIO = 1.15;

/** A stretch of a clip with fewer pictures a second than the rest, placed at slots of the rest's rhythm. */
export interface SlowerStretch {
  /** Last pictures before the first and the last hole. */
  readonly first: number;
  readonly last: number;
  /** Displayed pictures per slot, below 1: 25 pictures at slots of 1/30 s are 0.83. */
  readonly share: number;
}

/**
 * Finds stretches whose holes are a slower rate and not losses. Clips joined by an application keep the rhythm of the
 * first one, so a part of 25 pictures a second (an end card) is placed at slots of 1/30 s with a hole after every fifth
 * picture. There the pictures are as even as the slots allow, and the motion across the holes is no larger than beside
 * them; where nothing moves, evenness alone decides.
 * @param moveTo change of a displayed picture from the one before; null where it is unknown, and at a cut
 */
export function findSlowerStretches(
  times: PictureTimes,
  moveTo: (frame: number) => number | null,
): SlowerStretch[] {
  const rows = times.variableByNature ? [] : evenRows(findHoles(times));
  return rows.flatMap((row) => (jumps(row, moveTo) ? [] : [toStretch(row)]));
}

/** The holes outside all of the stretches. */
export function outsideOf(
  stretches: readonly SlowerStretch[],
  gaps: readonly TimestampGap[],
): readonly TimestampGap[] {
  return gaps.filter(({ frameBefore }) => {
    return !stretches.some(({ first, last }) => frameBefore >= first && frameBefore <= last);
  });
}

/** A place where slots of the rhythm pass without a picture. */
interface Hole {
  readonly frameBefore: number;
  /** Slots from the start of the clip to that picture, and to the next. */
  readonly from: number;
  readonly to: number;
}

function findHoles({ ptsTicks, medianIntervalTicks }: PictureTimes): Hole[] {
  const holes: Hole[] = [];
  let from = 0;
  for (let frame = 0; frame + 1 < ptsTicks.length; frame += 1) {
    const moments = ((ptsTicks[frame + 1] ?? 0) - (ptsTicks[frame] ?? 0)) / medianIntervalTicks;
    const whole = Math.max(1, Math.round(moments));
    if (whole > 1 && Math.abs(moments - whole) <= WHOLE_SLACK) {
      holes.push({ frameBefore: frame, from, to: from + whole });
    }
    from += whole;
  }
  return holes;
}

/** Longest rows of holes with even pictures. */
function evenRows(holes: readonly Hole[]): Hole[][] {
  const rows: Hole[][] = [];
  let row: Hole[] = [];
  const close = () => {
    if (row.length >= HOLES_LEAST && shareOf(row) <= MAX_SHARE) rows.push(row);
  };
  for (const hole of holes) {
    if (isEven([...row.slice(-HELD_AGAINST), hole])) {
      row.push(hole);
      continue;
    }
    close();
    const last = row.at(-1);
    // The last hole of a row may be the first of the next.
    row = last && row.length < HOLES_LEAST ? [last, hole] : [hole];
  }
  close();
  return rows;
}

function isEven(row: readonly Hole[]): boolean {
  const moments = 1 / shareOf(row);
  // Between two holes pictures become ever earlier relative to an even rate, so the extremes are at the holes.
  const away = row.flatMap(({ frameBefore, from, to }) => [
    from - moments * frameBefore,
    to - moments * (frameBefore + 1),
  ]);
  return Math.max(...away) - Math.min(...away) <= EVEN_RANGE;
}

/** Pictures per slot, from the first hole to the last. */
function shareOf(row: readonly Hole[]): number {
  const [first, last] = [row[0], row.at(-1)];
  if (!first || !last || first === last) return 1;
  return (last.frameBefore - first.frameBefore) / (last.from - first.from);
}

/**
 * True if the motion across the holes is larger than beside them, or if nothing moves and the holes are unevenly
 * spaced.
 */
function jumps(row: readonly Hole[], moveTo: (frame: number) => number | null): boolean {
  const over = new Set(row.map(({ frameBefore }) => frameBefore + 1));
  const reach = Math.ceil(1 / (1 - shareOf(row)));
  const ratios = row.flatMap(({ frameBefore }) => {
    const beside: number[] = [];
    for (let frame = frameBefore + 1 - reach; frame <= frameBefore + 1 + reach; frame += 1) {
      const move = over.has(frame) ? null : moveTo(frame);
      if (move !== null) beside.push(move);
    }
    const step = moveTo(frameBefore + 1);
    return step === null || beside.length === 0 || mean(beside) < STILL ? [] : [step / mean(beside)];
  });
  return ratios.length >= TELLING_LEAST ? median(ratios) > LOSS_RATIO : !isRegular(row);
}

/** True if the holes are evenly spaced. */
function isRegular(row: readonly Hole[]): boolean {
  const spaces = row.slice(1).map(({ from }, i) => from - (row[i]?.from ?? from));
  return Math.max(...spaces) === Math.min(...spaces);
}

function toStretch(row: readonly Hole[]): SlowerStretch {
  return {
    first: row[0]?.frameBefore ?? 0,
    last: row.at(-1)?.frameBefore ?? 0,
    share: shareOf(row),
  };
}
