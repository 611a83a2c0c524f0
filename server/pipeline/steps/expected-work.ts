import type { RepairSign } from '../analyse/repair-signs.ts';
import {
  type ClipMeasures,
  DAMAGED_ANALYSIS,
  expectedAnalysisMs,
  expectedCheckMs,
  expectedRepaintMs,
  expectedWindMs,
} from './step-costs.ts';

/**
 * Poster and report of a clip that is handed back, ms.
 * Measured by: npm run bench -- progress (ends of the steps told beside the time that went by).
 */
const NOTHING_MS = 200;
/** Making some pictures anew, ms, and how many their groups have: what a clip with one hole or run has. */
const REBUILD_MS = 700;
const GROUP = 60;
/** The same where pictures are damaged, with the groups that are decoded for it before and after. */
const DAMAGED_GROUP = 150;
/** Coding all pictures anew, because browsers do not play them as they are, and the check behind it. */
const ENCODE_ALL = 4;
/**
 * How likely pictures must be mended that show no sign before the decode (whole data, no holes in the times);
 * it falls as the clip goes by without one. Clips come here because something is wrong with them: with 0.4 the bar is about as far off
 * for a whole clip, which it takes for broken, as for one whose repeats show late (0.15: 14 and 32 points).
 */
const HIDDEN_CHANCE = 0.4;
/**
 * How likely pictures must be mended where one looks like a repeat: clips in which little moves show such pictures too (three of six
 * whole ones did). Holes in the times, which show before the first picture is decoded, are certain.
 */
const REPEAT_CHANCE = 0.6;
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
 * @param info null while the clip is not open yet
 */
export function createExpectedWork(encodeAll: boolean, info: ClipMeasures | null): ExpectedWork {
  const seen = new Set<RepairSign>();
  let reached = 0;
  let hasHoles = false;
  const analysisMs = info ? expectedAnalysisMs(info) : 1;
  const nothing = info ? NOTHING_MS / analysisMs : 0;
  const mend = (pictures: number) =>
    info
      ? (REBUILD_MS + expectedRepaintMs(info, pictures) + expectedCheckMs(info, pictures)) / analysisMs
      : 0;
  const mendWind = info ? expectedWindMs(info) / analysisMs : 0;
  return {
    see(sign) {
      seen.add(sign);
      if (sign === 'picture' && reached === 0) hasHoles = true;
    },
    later(share) {
      reached = Math.max(reached, share);
      if (encodeAll) return ENCODE_ALL;
      const rest = 1 - share;
      const hidden = (HIDDEN_CHANCE * rest) / (1 - HIDDEN_CHANCE + HIDDEN_CHANCE * rest);
      const isDamaged = seen.has('damage');
      const certain = isDamaged || hasHoles;
      const picture = certain ? 1 : Math.max(hidden, seen.has('picture') ? REPEAT_CHANCE : 0);
      const unheard = seen.has('calm_sound') ? 0 : WIND_CHANCE * rest;
      const wind = seen.has('wind') ? 1 : unheard;
      // The analysis that all is measured by takes longer itself.
      const longer = isDamaged ? DAMAGED_ANALYSIS : 1;
      const mended = picture * mend(isDamaged ? DAMAGED_GROUP : GROUP);
      return (nothing + mended + wind * mendWind) / longer;
    },
  };
}
