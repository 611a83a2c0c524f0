import type { OnSign, RepairSign } from '../analyse/repair-signs.ts';
import { type ClipMeasures, DAMAGED_ANALYSIS, expectedAnalysisMs } from '../analyse/analysis-costs.ts';
import { mostSearchMs } from '../repair/changed-bytes/restorable-source.ts';
import { expectedCheckMs, expectedRepaintMs, expectedWindMs } from './step-costs.ts';

/**
 * Poster and report of a clip that is handed back, ms.
 * Measured by: npm run bench -- progress (ends of the steps told beside the time that went by).
 */
const NOTHING_MS = 130;
/** Making the pictures of one place anew, ms, and how many its group has. */
const REBUILD_MS = 280;
const GROUP = 60;
/** The same where pictures are damaged, with the groups that are decoded for it before and after. */
const DAMAGED_REBUILD_MS = 500;
const DAMAGED_GROUP = 90;
const DAMAGED_GROUP_HEVC = 300;
/** Coding all pictures anew, because browsers do not play them as they are, and the check behind it. */
const ENCODE_ALL = 4;
/**
 * How likely pictures must be mended that show no sign before the decode (whole data, no holes in the times, no sizes of repeats);
 * it falls as the clip goes by without one. Clips come here because something is wrong with them.
 */
const HIDDEN_CHANCE = 0.15;
/** How likely pictures of HEVC are damaged of which nothing was said: its decoder says next to nothing, and their data are parsed last. */
const SILENT_CHANCE_HEVC = 0.15;
/** How likely they must be where some in a row look like repeats, which those of clips in which little moves do too... */
const REPEAT_CHANCE = 0.45;
/** ...and where their sizes say so. Holes in the times, which show before the first picture is decoded, are certain. */
const SIZES_CHANCE = 0.9;
/** Part of a whole search for changed bytes that is made where damage is heard in the decode, not seen in the structure of the data. */
const SEARCHED = 0.3;
/** How likely a sound that is not heard to its end holds wind. */
const WIND_CHANCE = 0.06;

/** Signs that come from places in the pictures. */
const PLACES = ['damage', 'hole', 'repeats'] as const;

export interface ExpectedWork {
  readonly see: OnSign;
  /**
   * What comes behind the analysis, as a part of it.
   * @param share of the analysis done, 0 to 1
   */
  later(share: number): number;
  /** The same once a search for changed bytes runs. */
  laterThanSearch(): number;
}

/**
 * What an analysis lets expect while it runs: each sign makes its repair certain, and what stays without a
 * sign becomes less likely with every picture (the chance of a defect in the rest, by Bayes' rule with
 * defects that may lie anywhere).
 * @param info null while the clip is not open yet
 */
export function createExpectedWork(encodeAll: boolean, info: ClipMeasures | null): ExpectedWork {
  const seen = new Map<RepairSign, number>();
  const analysisMs = info ? expectedAnalysisMs(info) : 1;
  const nothing = info ? NOTHING_MS / analysisMs : 0;
  const mend = (places: number, isDamaged: boolean) => {
    if (!info) return 0;
    const damagedGroup = info.video[0]?.codec === 'hevc' ? DAMAGED_GROUP_HEVC : DAMAGED_GROUP;
    const repaint = { groups: places, pictures: places * (isDamaged ? damagedGroup : GROUP) };
    const rebuildMs = places * (isDamaged ? DAMAGED_REBUILD_MS : REBUILD_MS);
    return (rebuildMs + expectedRepaintMs(info, repaint) + expectedCheckMs(info, repaint)) / analysisMs;
  };
  const mendWind = info ? expectedWindMs(info) / analysisMs : 0;
  const searchMs = info ? SEARCHED * mostSearchMs(info) : 0;
  const later = (share: number, willSearch: boolean) => {
    if (encodeAll) return ENCODE_ALL;
    const rest = 1 - share;
    const hidden = (HIDDEN_CHANCE * rest) / (1 - HIDDEN_CHANCE + HIDDEN_CHANCE * rest);
    const isDamaged = seen.has('damage');
    const repeated = seen.has('repeats') ? SIZES_CHANCE : seen.has('repeat') ? REPEAT_CHANCE : 0;
    const picture = isDamaged || seen.has('hole') ? 1 : Math.max(hidden, repeated);
    const unheard = seen.has('calm_sound') ? 0 : WIND_CHANCE * rest;
    const wind = seen.has('wind') ? 1 : unheard;
    // The analysis that all is measured by takes longer itself.
    const longer = isDamaged ? DAMAGED_ANALYSIS : 1;
    const places = PLACES.reduce((most, sign) => Math.max(most, seen.get(sign) ?? 0), 1);
    const silent = !isDamaged && info?.video[0]?.codec === 'hevc' ? SILENT_CHANCE_HEVC * mend(1, true) : 0;
    const mended = picture * mend(places, isDamaged) + silent;
    const search = willSearch && seen.get('damage') === 0 ? searchMs / analysisMs : 0;
    return (nothing + search + mended + wind * mendWind) / longer;
  };
  return {
    see(sign, places = 0) {
      seen.set(sign, Math.max(seen.get(sign) ?? 0, places));
    },
    later: (share) => later(share, true),
    laterThanSearch: () => later(1, false),
  };
}
