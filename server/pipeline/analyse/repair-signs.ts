/**
 * What shows while an analysis runs that the clip will need a repair, long before the findings: `damage` for
 * damaged data, `hole` for holes in the times, `repeats` where the sizes of coded pictures say that some repeat, `repeat` for
 * decoded pictures that look so, `wind` for wind in the sound, `calm_sound` when
 * the whole sound was heard and holds none; and `decoded` when all pictures are. Signs only steer the progress; nothing is judged by them.
 */
export type RepairSign = 'damage' | 'hole' | 'repeats' | 'repeat' | 'wind' | 'calm_sound' | 'decoded';

/** Takes a sign, and in how many places it showed where that is known; may come more than once. */
export type OnSign = (sign: RepairSign, places?: number) => void;

/** Changes that make the usual change. */
const RECENT = 12;
/** A picture that changes this much less than the usual... */
const REPEAT_SHARE = 0.1;
/** ...in a stretch that changes at least so much (mean difference, grey levels) looks like a repeat. */
const MIN_CHANGE = 0.8;

/** So many in a row, as single ones are seldom mended: a clip that is played to and fro has one at each turn. */
const RUN = 2;

/**
 * Watches the changes of pictures go by for some that look like repeats of the ones before.
 * @returns what takes the mean difference of the next picture to the one before, grey levels, null for the first picture,
 * and answers whether a run of such ones has begun
 */
export function createRepeatWatch(): (change: number | null) => boolean {
  const recent: number[] = [];
  let run = 0;
  return (change) => {
    if (change === null) return false;
    const usual = recent.toSorted((a, b) => a - b)[recent.length >> 1] ?? 0;
    const known = recent.length === RECENT;
    recent.push(change);
    if (known) recent.shift();
    run = known && usual >= MIN_CHANGE && change < REPEAT_SHARE * usual ? run + 1 : 0;
    return run === RUN;
  };
}

/** Coded pictures beside one that make its usual size... */
const BESIDE = 12;
/** ...of which the smaller quarter is counted, as those that others are made of are larger... */
const SMALLER = 0.25;
/** ...and one with so much less data repeats another. */
const TINY_SHARE = 0.2;

/**
 * In how many places some pictures in a row have next to no data, as encoders write those that repeat the one before. Of 40 whole clips this
 * shows in two, which do repeat pictures.
 * @param sizes bytes of all pictures, display order
 */
export function repeatsBySizes(sizes: readonly number[]): number {
  let run = 0;
  let places = 0;
  for (const [at, size] of sizes.entries()) {
    const beside = [...sizes.slice(Math.max(0, at - BESIDE), at), ...sizes.slice(at + 1, at + 1 + BESIDE)];
    const usual = beside.sort((a, b) => a - b)[Math.floor(SMALLER * beside.length)] ?? 0;
    run = beside.length >= BESIDE && size < TINY_SHARE * usual ? run + 1 : 0;
    if (run === RUN) places += 1;
  }
  return places;
}
