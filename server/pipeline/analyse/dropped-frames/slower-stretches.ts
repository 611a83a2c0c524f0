import type { FrameSeries } from '#server/media/grey/grey-series.ts';
import { mean, median } from '#server/media/statistics.ts';
import type { TimestampGap } from './detect-dropped-frames.ts';

/** So many holes in equal spaces are a rate (of 3000 made clips that lost 18 % of their pictures one has such a row), or so many in all but equal ones. */
const ROW_LEAST = 6;
const UNEVEN_LEAST = 9;
/** Pictures from hole to hole: 24 and 25 a second at moments of 1/30 s, 48 and 50 at moments of 1/60 s. */
const SPACES = [4, 5] as const;
/** Spaces are this much apart at most, pictures: 23.976 a second at moments of 1/30 s. */
const SPACE_SLACK = 1;
/** Change (grey levels of the block difference) that an encoder makes by itself from picture to picture where nothing moves, at most. */
const STILL = 3;
/** Holes with motion around them that must tell. */
const TELLING_LEAST = 3;
/**
 * A lost picture makes the step over its place twice as long; a slower picture that was set to the nearest moment does not.
 * Change over the holes against the change beside them, medians over a row: see docs/benchmarks/repeats-and-losses.md, "Clips as they are passed on".
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
 * Rows of holes that are a slower rate and no loss: clips that are joined by an application keep the rhythm of the first, and a part
 * of 25 pictures a second (an end card) lies at moments of 1/30 s with a hole behind every fifth. The holes are even, equally long, and the
 * motion over them is no longer than beside them; where nothing moves, evenness alone tells.
 * @param gaps holes in the times, ascending
 * @param frameOfDecoded display number of each decoded picture
 */
export function findSlowerStretches(
  gaps: readonly TimestampGap[],
  series: FrameSeries,
  frameOfDecoded: readonly number[],
  cuts: readonly number[],
): SlowerStretch[] {
  const rows = evenRows(gaps);
  if (rows.length === 0) return [];
  const decodedOf = new Map(frameOfDecoded.map((frame, decoded) => [frame, decoded]));
  const cutSet = new Set(cuts);
  const moves = series.blockDiff.get(1) ?? [];
  const moveTo = (frame: number): number | null => {
    const at = decodedOf.get(frame);
    return at === undefined || at === 0 || cutSet.has(at) ? null : (moves[at] ?? null);
  };
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

/** Longest rows of holes of one length whose spaces are all but equal. */
function evenRows(gaps: readonly TimestampGap[]): TimestampGap[][] {
  const rows: TimestampGap[][] = [];
  let row: TimestampGap[] = [];
  const close = () => {
    if (row.length >= ROW_LEAST && isRate(row)) rows.push(row);
  };
  for (const gap of gaps) {
    if (fits(row, gap)) {
      row.push(gap);
      continue;
    }
    close();
    // The last hole of a row may be the first of the next.
    const last = row.at(-1);
    row = last && row.length < ROW_LEAST && fits([last], gap) ? [last, gap] : [gap];
  }
  close();
  return rows;
}

function fits(row: readonly TimestampGap[], gap: TimestampGap): boolean {
  const last = row.at(-1);
  if (!last) return true;
  if (gap.missing !== last.missing) return false;
  const all = spacesOf([...row, gap]);
  return Math.max(...all) - Math.min(...all) <= SPACE_SLACK;
}

/** True for one hole of one picture behind every fourth or fifth. */
function isRate(row: readonly TimestampGap[]): boolean {
  const space = Math.round(median(spacesOf(row)));
  const isPlain = isEqual(row) || row.length >= UNEVEN_LEAST;
  return isPlain && row[0]?.missing === 1 && SPACES.some((usual) => usual === space);
}

function isEqual(row: readonly TimestampGap[]): boolean {
  const spaces = spacesOf(row);
  return Math.max(...spaces) === Math.min(...spaces);
}

function spacesOf(row: readonly TimestampGap[]): number[] {
  return row.slice(1).map(({ frameBefore }, i) => frameBefore - (row[i]?.frameBefore ?? frameBefore));
}

/** True where the motion over the holes is longer than beside them, or where nothing moves and the spaces are not quite equal. */
function jumps(row: readonly TimestampGap[], moveTo: (frame: number) => number | null): boolean {
  const space = Math.round(median(spacesOf(row)));
  const ratios = row.flatMap(({ frameBefore }) => {
    const over = moveTo(frameBefore + 1);
    const beside = [];
    for (let step = 1; step < space; step += 1)
      beside.push(moveTo(frameBefore + 1 - step), moveTo(frameBefore + 1 + step));
    const steps = beside.filter((move) => move !== null);
    if (over === null || steps.length === 0 || mean(steps) < STILL) return [];
    return [over / mean(steps)];
  });
  if (ratios.length >= TELLING_LEAST) return median(ratios) > LOSS_RATIO;
  return !isEqual(row);
}

function toStretch(row: readonly TimestampGap[]): SlowerStretch {
  const space = mean(spacesOf(row));
  const missing = row[0]?.missing ?? 1;
  return {
    first: row[0]?.frameBefore ?? 0,
    last: row.at(-1)?.frameBefore ?? 0,
    share: space / (space + missing),
  };
}
