import type { RepairSign } from '../analyse/repair-signs.ts';

/**
 * What comes behind an analysis as a part of it, by what has to be mended.
 * Measured by: npm run bench -- progress (ends of the steps told beside the time that went by).
 */
const LATER = { nothing: 0.15, picture: 3, wind: 2.4 } as const;
/** Coding all pictures anew, because browsers do not play them as they are, and the check behind it. */
const ENCODE_ALL = 4;
/**
 * How likely pictures must be mended that show no sign before the decode (whole data, no holes in the times);
 * it falls as the clip goes by without one. Most of what is found, damage and holes, is known by then.
 */
const HIDDEN_CHANCE = 0.15;
/** How likely a sound that is not heard to its end holds wind. */
const WIND_CHANCE = 0.1;

export interface ExpectedWork {
  see(sign: RepairSign): void;
  /**
   * What comes behind the analysis, as a part of it.
   * @param share of the analysis done, 0 to 1
   */
  later(share: number): number;
}

/**
 * What an analysis lets expect while it runs: each sign makes its repair certain, and what stays without a
 * sign becomes less likely with every picture (the chance of a defect in the rest, by Bayes' rule with
 * defects that may lie anywhere).
 */
export function createExpectedWork(encodeAll: boolean): ExpectedWork {
  const seen = new Set<RepairSign>();
  return {
    see: (sign) => seen.add(sign),
    later(share) {
      if (encodeAll) return ENCODE_ALL;
      const rest = 1 - share;
      const hidden = (HIDDEN_CHANCE * rest) / (1 - HIDDEN_CHANCE + HIDDEN_CHANCE * rest);
      const picture = seen.has('picture') ? 1 : hidden;
      const unheard = seen.has('calm_sound') ? 0 : WIND_CHANCE * rest;
      const wind = seen.has('wind') ? 1 : unheard;
      return LATER.nothing + picture * LATER.picture + wind * LATER.wind;
    },
  };
}
