/**
 * What shows while an analysis runs that the clip will need a repair, long before the findings: `damage` for
 * damaged data, `picture` for holes in the times and pictures that repeat, `wind` for wind in the sound, `calm_sound` when
 * the whole sound was heard and holds none. Signs only steer the progress; nothing is judged by them.
 */
export type RepairSign = 'damage' | 'picture' | 'wind' | 'calm_sound';

/** Changes that make the usual change. */
const RECENT = 12;
/** A picture that changes this much less than the usual... */
const REPEAT_SHARE = 0.1;
/** ...in a stretch that changes at least so much (mean difference, grey levels) looks like a repeat. */
const MIN_CHANGE = 0.8;

/**
 * Watches the changes of pictures go by for one that looks like a repeat of the one before.
 * @returns what takes the mean difference of the next picture to the one before, grey levels, null for the first picture,
 * and answers whether it looks like a repeat
 */
export function createRepeatWatch(): (change: number | null) => boolean {
  const recent: number[] = [];
  return (change) => {
    if (change === null) return false;
    const usual = recent.toSorted((a, b) => a - b)[recent.length >> 1] ?? 0;
    const known = recent.length === RECENT;
    recent.push(change);
    if (known) recent.shift();
    return known && usual >= MIN_CHANGE && change < REPEAT_SHARE * usual;
  };
}
