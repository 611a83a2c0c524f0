import type { Sample } from '#server/media/mp4/sample-table.ts';
import { median } from '#server/media/statistics.ts';

/** A rate shown as a higher one repeats every second to sixth picture: 30 as 60, 25 as 30. */
const PERIODS = [2, 3, 4, 5, 6];
/** Number of periods examined on each side, and how many repeats they must hold. */
const TURNS = 2;
const FEWEST_TURNS = 3;
/** A repeat has almost no data: at most this share of the other pictures near it... */
const REPEAT_SHARE = 1 / 3;
/** ...of which at most this share is as small. */
const MOST_OTHERS = 0.1;

/**
 * Whether a lost picture was due to repeat the one before, in the rhythm of a rate shown as a higher one. Three of the
 * pictures at that distance before and after it must have almost no data, and the others more. Only if pictures are
 * decoded in display order, because the sizes of B pictures have a rhythm of their own.
 * @param samples in decode order; lost ones have no bytes
 * @param at the lost one
 */
export function isTurnOfRepeat(samples: readonly Pick<Sample, 'pts' | 'sizeBytes'>[], at: number): boolean {
  return PERIODS.some((period) => {
    const from = Math.max(0, at - TURNS * period);
    const near = samples.slice(from, at + TURNS * period + 1);
    if (near.some(({ pts }, k) => pts < (near[k - 1]?.pts ?? pts))) return false;
    const isTurn = (k: number) => (from + k - at) % period === 0;
    const sizes = (wanted: boolean) =>
      near.flatMap(({ sizeBytes }, k) => (isTurn(k) === wanted && sizeBytes > 0 ? [sizeBytes] : []));
    const others = sizes(false);
    const most = REPEAT_SHARE * median(others);
    const isLittle = (size: number) => size <= most;
    if (others.filter(isLittle).length > MOST_OTHERS * others.length) return false;
    return sizes(true).filter(isLittle).length >= FEWEST_TURNS;
  });
}
