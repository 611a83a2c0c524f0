/**
 * An early sign, during the analysis, that the clip will need a repair. Signs only steer the progress; no finding
 * depends on them.
 * - `damage`: damaged data
 * - `hole`: gaps in the times
 * - `repeats`: the sizes of coded pictures suggest repeats
 * - `repeat`: decoded pictures look like repeats
 * - `wind`: wind in the sound
 * - `calm_sound`: the whole sound was decoded and holds no wind
 * - `decoded`: all pictures were decoded
 */
export type RepairSign = 'damage' | 'hole' | 'repeats' | 'repeat' | 'wind' | 'calm_sound' | 'decoded';

/** Takes a sign and, where known, in how many places it showed; may be called more than once. */
export type OnSign = (sign: RepairSign, places?: number) => void;

/** Number of changes that the usual change is the median of. */
const RECENT = 12;
/** A picture looks like a repeat when it changes by less than this share of the usual change... */
const REPEAT_SHARE = 0.1;
/** ...and the usual change is at least this (mean difference, grey levels). */
const MIN_CHANGE = 0.8;

/**
 * Number of repeats in a row that count. Single ones are seldom repaired: a clip that plays forwards and backwards has
 * one at each turn.
 */
const RUN = 2;

/**
 * Watches the changes between pictures for a run of repeats.
 * @returns a function that takes the mean difference of the next picture to the one before (grey levels, null for the
 * first) and answers whether a run of repeats has just begun
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

/** Number of coded pictures on each side that give the usual size... */
const BESIDE = 12;
/** ...which is this quantile of their sizes, because reference pictures are larger than the others... */
const SMALLER = 0.25;
/** ...and a picture with less than this share of it repeats another. */
const TINY_SHARE = 0.2;

/**
 * Counts the places where several pictures in a row have next to no data, which is how encoders write pictures that
 * repeat the one before. Of 40 whole clips two have such places, and both do repeat pictures.
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
