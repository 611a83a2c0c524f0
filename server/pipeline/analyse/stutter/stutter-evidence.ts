import { LAGS, type FrameSeries, type Lag } from '#server/media/grey/grey-series.ts';
import { clamp, median } from '#server/media/statistics.ts';

/** What the step behind a run tells of its history: positive where pictures were lost under it, negative where copies were put in. */
export interface Evidence {
  /** As `lossEvidence` answers it; 0 where nothing follows that could tell. */
  readonly evidence: number;
  /** As `motionEvidence` answers it. */
  readonly motionEvidence: number;
}

export const NOTHING_BEHIND: Evidence = { evidence: 0, motionEvidence: 0 };

interface RunBefore {
  readonly series: FrameSeries;
  readonly first: number;
  readonly last: number;
  /** True for decoded pictures whose own data are damaged: a step that one of them makes is none of the motion. */
  readonly isTorn: (decoded: number) => boolean;
}

/**
 * What the step behind a run tells.
 * @param before usual change of the pictures before the run, null where another shot ends there
 * @param after the same behind it
 */
export function evidenceBehind(run: RunBefore, before: number | null, after: number): Evidence {
  if (run.isTorn(run.last) || run.isTorn(run.last + 1)) return NOTHING_BEHIND;
  return {
    evidence: lossEvidence(run.series, run, before, after),
    motionEvidence: motionEvidence(run.series, run),
  };
}

/** Pictures on each side of a run that show what steps are usual. */
const FLANK = 6;

/**
 * How much more the step after the run looks like pictures were lost under it (positive) than like copies
 * were put in (negative), as a difference of log distances: lost pictures make the step as big as a step
 * over the whole run is elsewhere; inserted copies leave it as big as any single step.
 * @param before usual change of the pictures before the run, null where another shot ends there
 * @param after the same behind it
 */
function lossEvidence(
  series: FrameSeries,
  { first, last }: { readonly first: number; readonly last: number },
  before: number | null,
  after: number,
): number {
  const moves = series.blockDiff.get(1) ?? [];
  const step = Math.max(0.1, moves[last + 1] ?? 0);
  const single = Math.sqrt(Math.max(0.1, before ?? after) * Math.max(0.1, after));
  const span = last - first + 2;
  const lag = LAGS.reduce<Lag>((best, lag) => (Math.abs(lag - span) < Math.abs(best - span) ? lag : best), 1);
  const far = series.blockDiff.get(lag) ?? [];
  const long = median([
    ...(before === null ? [] : far.slice(Math.max(lag + 1, first - FLANK), first)),
    ...far.slice(last + 1 + lag, last + 1 + lag + FLANK),
  ]);
  return Math.abs(Math.log(step / single)) - Math.abs(Math.log(step / Math.max(0.1, long)));
}

/** Windows that must be followed over a run before their motion tells anything. */
const MIN_WINDOWS = 4;
/** Agreement of the step behind the run with the steps beside it from which it tells something, and at which it tells all it can... */
const SOME_AGREEMENT = 0.5;
const FULL_AGREEMENT = 0.9;
/** ...up to this log distance. */
const MOST_DISTANCE = 1.5;

/**
 * The same from how far the windows move in the step behind the run against the steps beside it: as far as in one step, or in as many as the
 * run has. 0 where the motion was not followed, or goes elsewhere. Three runs of 2 to 6 put into the pictures of 90 clips, right of those
 * found, without and with the motion: both kinds in a clip 0.868 and 0.949, 0.761 and 0.874 without sound, 0.712 and 0.905 with the sound cut to the
 * picture's length; all put in 0.983 and 0.989, 0.970 and 0.991, 0.902 and 0.977; all held 0.979 and 0.983, 0.983 and 0.979, 0.989 and 0.987.
 */
export function motionEvidence(
  series: FrameSeries,
  { first, last }: { readonly first: number; readonly last: number },
): number {
  const hold = series.holds.get(last + 1);
  const repeats = last - first + 1;
  if (hold?.repeats !== repeats || hold.windows < MIN_WINDOWS) return 0;
  const trust = clamp((hold.agreement - SOME_AGREEMENT) / (FULL_AGREEMENT - SOME_AGREEMENT), 0, 1);
  const slope = Math.max(0.05, hold.slope);
  const distance = Math.abs(Math.log(slope)) - Math.abs(Math.log(slope / (repeats + 1)));
  return trust * clamp(distance, -MOST_DISTANCE, MOST_DISTANCE);
}
