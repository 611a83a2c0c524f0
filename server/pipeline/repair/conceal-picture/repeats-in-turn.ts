import type { Sample } from '#server/media/mp4/sample-table.ts';
import { median } from '#server/media/statistics.ts';

/** Rates shown as higher ones repeat every second to sixth picture: 30 as 60, 25 as 30. */
const PERIODS = [2, 3, 4, 5, 6];
/** Turns to each side that are looked at, and how many of them must be there. */
const TURNS = 2;
const FEWEST_TURNS = 3;
/** A picture that repeats the one before takes next to nothing: no more than this share of the others beside it... */
const REPEAT_SHARE = 1 / 3;
/** ...of which at most this share takes as little. */
const MOST_OTHERS = 0.1;

/**
 * Whether it is the turn of a lost picture to show the one before once more, as a rate that is shown as a higher one does in its rhythm: three of the pictures so many
 * places in front of it and behind it are coded with next to nothing, others are not. Only where pictures are decoded as they are shown: the sizes of B pictures
 * have a rhythm of their own.
 * @param samples in decode order, lost ones with no bytes
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
