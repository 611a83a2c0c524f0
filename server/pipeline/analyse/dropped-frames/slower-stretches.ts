import { mean, median } from '#server/media/statistics.ts';
import type { PictureTimes } from '../analysis.ts';
import { WHOLE_SLACK, type TimestampGap } from './detect-dropped-frames.ts';

/** Holes of a stretch at least: of 3000 made clips that lost 18 % of their pictures at random four have so many in a row that are as even, of as many that lost 10 % none. */
const HOLES_LEAST = 9;
/** Rounding an even rate to moments moves each picture by half of one to either side. */
const EVEN_RANGE = 1.05;
/** The last holes of a row that the next is held against, so that hours of one rate cost no more than minutes. */
const HELD_AGAINST = 60;
/** More pictures than this for each moment are no rate in use (25 at moments of 1/30 s are 0.83): every tenth picture is lost, not left out. */
const MAX_SHARE = 0.85;
/** Change (grey levels of the block difference) that an encoder makes by itself from picture to picture where nothing moves, at most. */
const STILL = 3;
/** Holes with motion around them that must tell. */
const TELLING_LEAST = 3;
/**
 * A lost picture makes the step over its place twice as long; a slower picture that was set to the nearest moment does not.
 * Change over the holes against the change beside them, medians over a stretch: see docs/benchmarks/repeats-in-public-clips.md,
 * "Clips as they are passed on".
 */
const LOSS_RATIO = 1.15;

/** Stretch of a clip that shows fewer pictures a second than the rest, at moments of the rest's rhythm. */
export interface SlowerStretch {
  /** Last pictures before the first and the last hole. */
  readonly first: number;
  readonly last: number;
  /** Shown pictures for each moment of the rhythm, below 1: 25 pictures in steps of 1/30 s are 0.83. */
  readonly share: number;
}

/**
 * Stretches whose holes are a slower rate and no loss: clips that are joined by an application keep the rhythm of the first, and a part
 * of 25 pictures a second (an end card) lies at moments of 1/30 s with a hole behind every fifth. The pictures lie as evenly as the
 * moments allow, and the motion over the holes is no longer than beside them; where nothing moves, evenness alone tells.
 * @param moveTo change of a displayed picture to the one before; null where it is not known, and at a cut
 */
export function findSlowerStretches(
  times: PictureTimes,
  moveTo: (frame: number) => number | null,
): SlowerStretch[] {
  const rows = times.variableByNature ? [] : evenRows(findHoles(times));
  return rows.flatMap((row) => (jumps(row, moveTo) ? [] : [toStretch(row)]));
}

/** The holes that lie in none of the stretches. */
export function outsideOf(
  stretches: readonly SlowerStretch[],
  gaps: readonly TimestampGap[],
): readonly TimestampGap[] {
  return gaps.filter(({ frameBefore }) => {
    return !stretches.some(({ first, last }) => frameBefore >= first && frameBefore <= last);
  });
}

/** A place where moments of the rhythm pass without a picture. */
interface Hole {
  readonly frameBefore: number;
  /** Moments from the start of the clip to that picture, and to the next. */
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

/** Longest rows of holes whose pictures lie evenly. */
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
  // Between two holes pictures come ever earlier against an even rate, so that the extremes lie at the holes.
  const away = row.flatMap(({ frameBefore, from, to }) => [
    from - moments * frameBefore,
    to - moments * (frameBefore + 1),
  ]);
  return Math.max(...away) - Math.min(...away) <= EVEN_RANGE;
}

/** Pictures for each moment, from the first hole to the last. */
function shareOf(row: readonly Hole[]): number {
  const [first, last] = [row[0], row.at(-1)];
  if (!first || !last || first === last) return 1;
  return (last.frameBefore - first.frameBefore) / (last.from - first.from);
}

/** True where the motion over the holes is longer than beside them, or where nothing moves and the holes are not quite equal. */
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

/** True where the holes come back in equal spaces. */
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
