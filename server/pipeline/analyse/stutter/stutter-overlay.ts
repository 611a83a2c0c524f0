import type { FrameSeries } from '#server/media/grey/grey-series.ts';
import { median } from '#server/media/statistics.ts';
import { isClockwork, sideMoves } from './stutter-clockwork.ts';
import { MIN_EVIDENCE } from './stutter-drawn.ts';
import { restsGently } from './stutter-easing.ts';

/** Pictures on each side of a run that show how much of the picture moves. */
const FLANK = 6;
/** Steps that change the liveliest blocks by less show nothing, grey levels; a pointer in a dark page changes 0.44... */
const MIN_MOTION = 0.25;
/** ...and a side needs at least this many other steps. */
const TELLING_LEAST = 3;
/**
 * Most change of the whole picture against that of its liveliest twentieth of blocks; it is 0.05 if nothing else
 * changes. Next to three rests of drawings over still pictures (words that come and go, a button) it is 0.050 to 0.057,
 * next to 154 runs added to filmed motion of 60 public clips 0.065 and more.
 */
const MOST_SHARE = 0.058;
/**
 * Motion on both sides that differs by at most this factor continues after a run; in three rests of a game's tiles it
 * is 2.3 to 12...
 */
const ALIKE_RATIO = 2;
/** ...and it does not fall below this share in between: a pointer stops and goes, and its stop proves no loss. */
const STOPPED_SHARE = 0.1;

/**
 * This many steps on each side of which none falls below this share of the usual one, or this (grey levels), are a
 * drawing that never rests: a running time code or counter. In five of them the least step is 0.43 to 0.64 of the usual
 * one.
 */
const RUNNING = { steps: 24, share: 0.35, least: 0.5 } as const;

/** Place of a run, and the measures around it. */
export interface OverlayPlace {
  readonly first: number;
  readonly last: number;
  readonly series: FrameSeries;
  /** First pictures of new shots. */
  readonly cutSet: ReadonlySet<number>;
}

/**
 * True if only a drawing moves over a still picture on both sides of a run, as far as they can be judged. Words and
 * stickers appear, rest and go, and their rest looks like a stutter. Filmed pictures change a little everywhere, by
 * light and noise. On one side more may move if it only sets out there, or comes to rest, as in titles.
 *
 * Three things refute it. One is a step like that over lost pictures, with the same motion after it as before; with
 * other motion, something else starts, such as tiles of a game. Another is motion as even as clockwork on both sides,
 * because what rests by nature slows down or continues differently. The last is a drawing that changes in every picture
 * for long on both sides, such as a running time code.
 * @param evidence `evidence` of `Evidence`
 */
export function isOverlay({ first, last, series, cutSet }: OverlayPlace, evidence: number): boolean {
  const shares = [sideShare(series, cutSet, first - 1, -1), sideShare(series, cutSet, last + 1, 1)];
  const telling = shares.filter((share) => share !== null);
  const moves = series.blockDiff.get(1) ?? [];
  const run = { first, last, moves };
  const [isDrawnBefore, isDrawnBehind] = shares.map((share) => share !== null && share <= MOST_SHARE);
  if ((isDrawnBefore && restsGently(run, 1)) || (isDrawnBehind && restsGently(run, -1))) return true;
  if (telling.length === 0 || telling.some((share) => share > MOST_SHARE)) return false;
  const longBefore = sideMoves(moves, cutSet, first - 1, -1, RUNNING.steps);
  // The step right after the run may lead over lost pictures.
  const longAfter = cutSet.has(last + 1) ? [] : sideMoves(moves, cutSet, last + 2, 1, RUNNING.steps);
  const [before, after] = [longBefore.slice(0, FLANK), longAfter.slice(0, FLANK)];
  const [slower, faster] = [Math.min(median(before), median(after)), Math.max(median(before), median(after))];
  const isSteady = Math.min(...before, ...after) >= STOPPED_SHARE * slower;
  if (evidence >= MIN_EVIDENCE && isSteady && faster <= ALIKE_RATIO * slower) return false;
  return !isClockwork([...before, ...after]) && !isRunning([...longBefore, ...longAfter]);
}

/** Whether the drawing changes in every picture on both complete sides. */
function isRunning(around: readonly number[]): boolean {
  const least = Math.max(RUNNING.least, RUNNING.share * median(around));
  return around.length === 2 * RUNNING.steps && Math.min(...around) >= least;
}

/** The usual share on one side; null if it cannot be judged. */
function sideShare(
  { meanDiff, blockDiff }: FrameSeries,
  cutSet: ReadonlySet<number>,
  start: number,
  direction: -1 | 1,
): number | null {
  const moves = blockDiff.get(1) ?? [];
  const shares: number[] = [];
  for (let far = 0; far < FLANK; far += 1) {
    const at = start + direction * far;
    if (at <= 0 || at >= moves.length || cutSet.has(at)) break;
    const move = moves[at] ?? 0;
    if (move >= MIN_MOTION) shares.push((meanDiff[at] ?? 0) / move);
  }
  return shares.length < TELLING_LEAST ? null : median(shares);
}
