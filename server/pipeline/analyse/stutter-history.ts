import { LAGS, type FrameSeries, type Lag } from '#server/media/grey-series.ts';
import { clamp, median } from '#server/media/statistics.ts';

/** A run of repeated pictures inside motion; numbers count decoded pictures, both ends included. */
export interface StutterRun {
  /** First and last copy; the true picture stands right before `first`. */
  readonly first: number;
  readonly last: number;
  readonly history: 'inserted' | 'held';
  readonly startsAtCut: boolean;
  readonly endsAtCut: boolean;
  /** 0 to 1. */
  readonly confidence: number;
  /** Change inside the run over the change of the livelier side: what the detector holds against `MAX_QUIET`. */
  readonly quietness: number;
}

/** Pictures on each side of a run that show what steps are usual. */
const FLANK = 6;
/** Fewer repeats than this leave no trace in the lengths of picture and sound. */
const MIN_REPEATS = 2;

/** A run whose history is still to be decided. */
export interface Judged extends Omit<StutterRun, 'history'> {
  /** As `lossEvidence` answers it; 0 where nothing follows that could tell. */
  readonly evidence: number;
}

/**
 * How much more the step after the run looks like pictures were lost under it (positive) than like copies
 * were put in (negative), as a difference of log distances: lost pictures make the step as big as a step
 * over the whole run is elsewhere; inserted copies leave it as big as any single step.
 */
export function lossEvidence(
  series: FrameSeries,
  { first, last }: { readonly first: number; readonly last: number },
  before: number,
  after: number,
): number {
  const moves = series.blockDiff.get(1) ?? [];
  const step = Math.max(0.1, moves[last + 1] ?? 0);
  const single = Math.sqrt(Math.max(0.1, before) * Math.max(0.1, after));
  const span = last - first + 2;
  const lag = LAGS.reduce<Lag>((best, lag) => (Math.abs(lag - span) < Math.abs(best - span) ? lag : best), 1);
  const far = series.blockDiff.get(lag) ?? [];
  const long = median([
    ...far.slice(Math.max(lag + 1, first - FLANK), first),
    ...far.slice(last + 1 + lag, last + 1 + lag + FLANK),
  ]);
  return Math.abs(Math.log(step / single)) - Math.abs(Math.log(step / Math.max(0.1, long)));
}

/** Evidence below which a run follows what most runs of the clip say: one fault rarely comes in two kinds. */
const WEAK_EVIDENCE = 0.35;

/**
 * Held or inserted for every run: its own evidence where that is clear, else that of the clip, else the
 * lengths of picture and sound, else held (which moves nothing in time).
 * @param pictureSurplus pictures by which the picture outlasts the sound, null without sound
 */
export function decideHistories(runs: readonly Judged[], pictureSurplus: number | null): StutterRun[] {
  const clip = runs.reduce((sum, { evidence }) => sum + clamp(evidence, -1, 1), 0);
  const repeats = runs.reduce((sum, { first, last }) => sum + last - first + 1, 0);
  const byLength =
    pictureSurplus === null || repeats < MIN_REPEATS ? 0 : pictureSurplus >= 0.6 * repeats ? -1 : 1;
  const common = Math.abs(clip) >= WEAK_EVIDENCE ? clip : byLength;
  return runs.map(({ evidence, ...run }) => {
    const decisive = Math.abs(evidence) >= WEAK_EVIDENCE ? evidence : common;
    return { ...run, history: decisive < 0 ? 'inserted' : 'held' };
  });
}
