import type { FrameSeries } from '#server/media/grey/grey-series.ts';
import type { HiddenDrop } from './detect-hidden-drops.ts';
import { fitCounts } from './detect-hidden-drops-count.ts';
import { countMissing } from './detect-hidden-drops-growth.ts';
import { measureStep, MIN_MOTION } from './detect-hidden-drops-step.ts';

/** A loss is restored if the remaining time is at least this share of its own. */
const ROOM_SHARE = 0.5;
/**
 * Everything restored must match the freed time within this, pictures: a frame of sound is about two thirds of a
 * picture.
 */
const BALANCED = 0.6;
/** A rest of the freed time up to this is counting error and not another loss, pictures. */
const COUNT_ERROR = 1;

/**
 * Time freed by removing copies, pictures. If picture and sound end together before that, as many pictures were lost as
 * were inserted; the end of the last block of sound says no more.
 * @param deficit pictures by which the sound outlasts the picture without the copies
 * @param putIn pictures that were removed
 * @param blockPictures length of a block of coded sound, pictures
 */
export function freedTime(deficit: number, putIn: number, blockPictures: number): number {
  return Math.abs(deficit - putIn) < Math.max(1, blockPictures) ? putIn : deficit;
}

/**
 * Chooses losses for time that was freed only by removing copies, so that the sound says nothing about them. Takes the
 * most certain ones while there is time; the result counts only if they use all of it. Real losses beside really
 * inserted copies do, the clip's own jumps only by chance.
 * @param freed pictures that were removed and that the sound has time for (`freedTime`)
 */
export function fillFreed(drops: readonly HiddenDrop[], freed: number): HiddenDrop[] {
  let room = freed;
  const chosen = [...drops]
    .sort((a, b) => b.confidence - a.confidence)
    .filter(({ missing }, at) => {
      if (room < ROOM_SHARE * missing || (at > 0 && room <= COUNT_ERROR)) return false;
      room -= missing;
      return true;
    });
  const fitted = fitCounts(
    chosen.sort((a, b) => a.after - b.after),
    freed,
  );
  const total = fitted.reduce((sum, { missing }) => sum + missing, 0);
  return Math.abs(total - freed) <= BALANCED ? fitted : [];
}

/** A step may be a loss if it is longer than those next to it, and than all around it, by these factors... */
const OPEN = { next: 1.5, around: 1.15 };
/** ...and if its rough count is within these factors of the number that is sought. */
const OPEN_COUNT = { least: 0.5, most: 1.6 };

/**
 * Whether some step of the clip may hide a loss of about this many pictures, although it is too weak to be claimed.
 * Limits measured on copies inserted beside an equally large loss and on copies alone, 96 and 94 clips
 * (docs/benchmarks/several-faults.md).
 * @param taken decoded pictures that other findings explain
 */
export function hasOpenStep(
  series: FrameSeries,
  cuts: readonly number[],
  taken: ReadonlySet<number>,
  pictures: number,
): boolean {
  return series.meanDiff.some((_, at) => {
    if (taken.has(at) || taken.has(at - 1) || cuts.includes(at)) return false;
    const step = measureStep(series, cuts, at);
    if (!step || step.motion < MIN_MOTION) return false;
    if (step.nextRatio < OPEN.next || step.meanRatio < OPEN.around) return false;
    const missing = countMissing(series.blockDiff, at, series.jumps.get(at));
    return missing >= OPEN_COUNT.least * pictures && missing <= OPEN_COUNT.most * pictures;
  });
}
