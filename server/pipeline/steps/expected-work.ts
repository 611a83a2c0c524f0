import type { OnSign, RepairSign } from '../analyse/repair-signs.ts';
import { type ClipMeasures, DAMAGED_ANALYSIS, expectedAnalysisMs } from '../analyse/analysis-costs.ts';
import { mostSearchMs } from '../repair/changed-bytes/restorable-source.ts';
import { expectedCheckMs, expectedRepaintMs, expectedWindMs } from './step-costs.ts';

/**
 * Poster and report of a clip that needs no repair, ms. Measured by: npm run bench -- progress (reported ends of the
 * steps against the time that passed).
 */
const NOTHING_MS = 130;
/** Rebuilding the pictures of one place, ms, and the pictures in its group. */
const REBUILD_MS = 280;
const GROUP = 60;
/** The same for damaged pictures, including the decodes of their groups before and after. */
const DAMAGED_REBUILD_MS = 500;
const DAMAGED_GROUP = 90;
const DAMAGED_GROUP_HEVC = 300;
/** Encoding all pictures because browsers do not play them, and the check after it. */
const ENCODE_ALL = 4;
/**
 * Probability that pictures need a repair although nothing shows before the decode (intact data, no gaps in the times,
 * no sizes of repeats). It falls as the clip goes by without a sign. Clips come here because something is wrong with
 * them.
 */
const HIDDEN_CHANCE = 0.15;
/**
 * Probability that HEVC pictures are damaged without a message: the decoder reports almost nothing, and their data are
 * parsed last.
 */
const SILENT_CHANCE_HEVC = 0.15;
/** Probability that they need a repair if some in a row look like repeats, as in clips with little motion... */
const REPEAT_CHANCE = 0.45;
/** ...and if their sizes suggest it. Gaps in the times, which show before the first picture is decoded, are certain. */
const SIZES_CHANCE = 0.9;
/**
 * Share of a whole search for changed bytes that is made if damage shows in the decode and not in the structure of the
 * data.
 */
const SEARCHED = 0.3;
/** Probability that a sound not yet measured to its end holds wind. */
const WIND_CHANCE = 0.06;

/** Signs that come from places in the pictures. */
const PLACES = ['damage', 'hole', 'repeats'] as const;

export interface ExpectedWork {
  readonly see: OnSign;
  /**
   * Cost of everything after the analysis, as a multiple of it.
   * @param share of the analysis that is done, 0 to 1
   */
  later(share: number): number;
  /** The same once a search for changed bytes runs. */
  laterThanSearch(): number;
}

/**
 * Expected work, by what an analysis shows while it runs. Each sign makes its repair certain. A repair without a sign
 * becomes less likely with every picture (the chance of a defect in the rest, by Bayes' rule with defects that may lie
 * anywhere).
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
    // The analysis itself, which is the unit here, takes longer.
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
