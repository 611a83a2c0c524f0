import type { FrameSeries } from '#server/media/grey/grey-series.ts';
import type { HiddenDrop } from './detect-hidden-drops.ts';
import { fitCounts } from './detect-hidden-drops-count.ts';
import { countMissing } from './detect-hidden-drops-growth.ts';
import { measureStep, MIN_MOTION } from './detect-hidden-drops-step.ts';

/** A loss is put back where the time left for it is this share of its own. */
const ROOM_SHARE = 0.5;
/** All that is put back takes the time that was freed, pictures: a frame of sound is two thirds of one. */
const BALANCED = 0.6;
/** What the surest leave of that time, pictures, is how roughly they are counted, not one more loss. */
const COUNT_ERROR = 1;

/**
 * Time that taking out copies has freed, pictures. Picture and sound that end together without that say that as many were lost as were put in;
 * where the last block of the sound ends tells no more.
 * @param deficit pictures by which the sound outlasts the picture without the copies
 * @param putIn pictures that were taken out
 * @param blockPictures how long a block of coded sound is
 */
export function freedTime(deficit: number, putIn: number, blockPictures: number): number {
  return Math.abs(deficit - putIn) < Math.max(1, blockPictures) ? putIn : deficit;
}

/**
 * Losses that fill time which taking out copies alone has freed, and which the sound says nothing of: the surest, as far as there is time, where
 * together they take all of it, else none. Losses that were really there beside copies that were really put in do; the clip's own jumps do by chance.
 * @param freed pictures that were taken out and that the sound has time for (`freedTime`)
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

/** A step that may be a loss: longer than those next to it, and than all around it, by these factors... */
const OPEN = { next: 1.5, around: 1.15 };
/** ...and over as many pictures as are looked for, counted roughly. */
const OPEN_COUNT = { least: 0.5, most: 1.6 };

/**
 * Whether some step of the clip may hide a loss of about so many pictures, though it does not show enough to be claimed. Limits measured on copies
 * put in beside as large a loss and on copies alone, 96 and 94 clips (docs/benchmarks/several-faults.md).
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
