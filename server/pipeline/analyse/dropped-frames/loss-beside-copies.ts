import { LAGS, type FrameSeries, type Lag } from '#server/media/grey/grey-series.ts';
import { clamp, median } from '#server/media/statistics.ts';
import type { StutterRun } from '../stutter/stutter-history.ts';
import { EVEN } from './copies-and-losses.ts';
import type { HiddenDrop } from './detect-hidden-drops.ts';
import { MAX_HISTOGRAM_JUMP } from './detect-hidden-drops-step.ts';

/** Shorter runs are how one frame rate is shown as another: one picture twice where one is left out. */
const MIN_COPIES = 2;
/** Most pictures between the copies and the loss: what a queue held when it ran dry, or showed before it did. */
const MOST_BETWEEN = 3;
/** Steps on each side that say how large a step usually is. */
const FLANK = 8;
/** Steps over several pictures on each side that say how large a jump over a loss is. */
const LONG_FLANK = 6;
/**
 * The jump over the loss against the largest step around it, by mean change. Of 197 runs with such a loss in clips without sound 137 are found, and
 * none in 79 runs without one; at 1.1 three of these are wrong (docs/benchmarks/several-faults.md, "Copies beside a loss").
 */
const LEAST_RATIO = 1.2;
/** The same where picture and sound end together, which they seldom do where only copies were put in. */
const LEAST_RATIO_EVEN = 1.1;
/** Grey levels below which differences are noise. */
const NOISE = 0.1;
/** The smallest ratio is just sure enough to be acted on, twice as much as sure as motion alone can be. */
const CONFIDENCE = { least: 0.65, most: 0.95, perRatio: 0.35 };

/** The picture outlasts the sound by this share of a run or more: the copies made it longer, so nothing was lost for them. */
const PUT_IN_SHARE = 0.5;

export interface AroundCopies {
  readonly series: FrameSeries;
  /** First pictures of new shots. */
  readonly cuts: readonly number[];
  /** True for a step that something else explains: damage, a hole in the times, an earlier repair. */
  readonly isExplained: (at: number) => boolean;
  /** Pictures by which the picture outlasts the sound with the copies still in; null without sound. */
  readonly surplus: number | null;
}

/** Runs with a loss of as many pictures nearby are copies that were put in; the others stay as they are. */
export function withLossesBeside(
  runs: readonly StutterRun[],
  around: AroundCopies,
): { runs: StutterRun[]; losses: HiddenDrop[] } {
  const pairs = runs.map((run) => ({ run, loss: lossBeside(run, around) }));
  return {
    runs: pairs.map(({ run, loss }) => (loss === null ? run : { ...run, history: 'inserted' })),
    losses: pairs.flatMap(({ loss }) => loss ?? []),
  };
}

/**
 * Finds a loss of as many pictures as a run has copies, up to three pictures away from it. A recorder that stalls repeats one picture and skips as many
 * once its queue is empty, or skips first and then waits. The clip stays as long as it was, so taking out the copies alone would move all that follows.
 * @returns the clearest such loss, as many pictures as there are copies; null where no step nearby looks like one
 */
function lossBeside(run: StutterRun, around: AroundCopies): HiddenDrop | null {
  const copies = run.last + 1 - run.first;
  const { surplus } = around;
  if (copies < MIN_COPIES || (surplus ?? 0) >= PUT_IN_SHARE * copies) return null;
  const offsets = Array.from({ length: MOST_BETWEEN }, (_, between) => between);
  const steps = offsets.flatMap((between) => [run.last + 2 + between, run.first - 1 - between]);
  const least = surplus !== null && Math.abs(surplus) < EVEN ? LEAST_RATIO_EVEN : LEAST_RATIO;
  const found = steps.flatMap((at) => {
    const ratio = jumpRatio(run, at, around);
    if (ratio === null || ratio < least) return [];
    const confidence = clamp(
      CONFIDENCE.least + CONFIDENCE.perRatio * (ratio - least),
      CONFIDENCE.least,
      CONFIDENCE.most,
    );
    return [{ after: at, missing: copies, ratio, confidence }];
  });
  return found.reduce<HiddenDrop | null>(
    (best, drop) => (best === null || drop.ratio > best.ratio ? drop : best),
    null,
  );
}

/**
 * Mean change of the step into `at` over the largest step around it. Null where something else explains the step, a cut lies between it and the copies,
 * or its change is nearer to that of one step than to that of a jump over as many pictures as there are copies.
 */
function jumpRatio(run: StutterRun, at: number, { series, cuts, isExplained }: AroundCopies): number | null {
  const from = Math.min(at, run.first);
  const to = Math.max(at, run.last);
  if (from < 1 || to >= series.count || cuts.some((cut) => cut >= from && cut <= to)) return null;
  if (isExplained(at) || (series.histogramDiff[at] ?? 0) > MAX_HISTOGRAM_JUMP) return null;
  const isOrdinary = (step: number) =>
    step !== at && (step < run.first || step > run.last) && !cuts.includes(step) && !isExplained(step);
  const isClear = (last: number, lag: number) =>
    last >= lag && last < series.count && range(last - lag + 1, last + 1).every(isOrdinary);
  const beside = (lag: number, most: number) =>
    range(1, FLANK + most)
      .flatMap((away) => [from - away, to + lag - 1 + away])
      .filter((last) => isClear(last, lag))
      .slice(0, 2 * most);
  const single = [...beside(1, FLANK), ...range(from, to + 1).filter(isOrdinary)];
  const span = run.last + 2 - run.first;
  const lag = LAGS.reduce<Lag>((best, one) => (Math.abs(one - span) < Math.abs(best - span) ? one : best), 1);
  const long = beside(lag, LONG_FLANK);
  if (single.length < FLANK || long.length === 0) return null;
  const change = (distance: Lag, steps: readonly number[]) =>
    Math.max(NOISE, median(steps.map((step) => series.blockDiff.get(distance)?.[step] ?? 0)));
  const here = change(1, [at]);
  const isLong = Math.abs(Math.log(here / change(1, single))) >= Math.abs(Math.log(here / change(lag, long)));
  const largest = Math.max(...single.map((step) => series.meanDiff[step] ?? 0));
  return isLong ? (series.meanDiff[at] ?? 0) / Math.max(NOISE, largest) : null;
}

const range = (from: number, end: number): number[] =>
  Array.from({ length: Math.max(0, end - from) }, (_, i) => from + i);
