import type { FrameSeries } from '#server/media/grey/grey-series.ts';
import { median } from '#server/media/statistics.ts';
import { isClockwork, sideMoves } from './stutter-clockwork.ts';
import { MIN_EVIDENCE } from './stutter-drawn.ts';

/** Pictures on each side of a run that show how much of the picture moves. */
const FLANK = 6;
/** Steps that change the liveliest blocks by less (grey levels) tell nothing of it... */
const MIN_MOTION = 1;
/** ...and so many that tell are asked of a side. */
const TELLING_LEAST = 3;
/**
 * Change of the whole picture against that of its liveliest twentieth of blocks, at most: 0.05 where nothing else changes at all. Beside three
 * claims in drawings over still pictures (words that come and go, a button) it is 0.050 to 0.057; beside 154 runs planted into filmed motion of
 * 60 public clips 0.065 and more.
 */
const MOST_SHARE = 0.058;
/** Motion on both sides that differs by no more than this goes on behind a run; in three rests of a game's tiles it is 2.3 to 12. */
const ALIKE_RATIO = 2;
/** ...and does not stand still in between: a pointer stops and goes, and a stop of it leads nowhere. */
const STOPPED_SHARE = 0.1;

/** Where a run stands, and what was measured around it. */
export interface OverlayPlace {
  readonly first: number;
  readonly last: number;
  readonly series: FrameSeries;
  /** First pictures of new shots. */
  readonly cutSet: ReadonlySet<number>;
}

/**
 * True where a drawing alone moves over a picture that stands still, on both sides of a run as far as they tell: words and stickers appear, rest and
 * go, and a rest of theirs looks as a stutter does. What was filmed changes a little everywhere, by its light and its noise. A step as over lost
 * pictures refutes it where the motion behind it is like that before the run; else something else sets out, as tiles of a game do (three claims in
 * one). So does motion as even as clockwork on both sides: whatever rests by itself slows down or goes on otherwise.
 * @param evidence that of the change in `Evidence`
 */
export function isOverlay({ first, last, series, cutSet }: OverlayPlace, evidence: number): boolean {
  const shares = [sideShare(series, cutSet, first - 1, -1), sideShare(series, cutSet, last + 1, 1)];
  const telling = shares.filter((share) => share !== null);
  if (telling.length === 0 || telling.some((share) => share > MOST_SHARE)) return false;
  const moves = series.blockDiff.get(1) ?? [];
  // The step right behind the run may lead over lost pictures.
  const before = sideMoves(moves, cutSet, first - 1, -1);
  const after = cutSet.has(last + 1) ? [] : sideMoves(moves, cutSet, last + 2, 1);
  const [slower, faster] = [Math.min(median(before), median(after)), Math.max(median(before), median(after))];
  const isSteady = Math.min(...before, ...after) >= STOPPED_SHARE * slower;
  if (evidence >= MIN_EVIDENCE && isSteady && faster <= ALIKE_RATIO * slower) return false;
  return !isClockwork([...before, ...after]);
}

/** The usual share of one side; null where it does not tell. */
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
