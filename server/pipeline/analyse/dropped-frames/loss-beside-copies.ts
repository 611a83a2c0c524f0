import { nearestLag, type FrameSeries, type Lag } from '#server/media/grey/grey-series.ts';
import { clamp, median, nearerToSecond, quantile } from '#server/media/statistics.ts';
import { isShownTwice } from '../stutter/stutter-filled.ts';
import type { StutterRun } from '../stutter/stutter-history.ts';
import { EVEN } from './copies-and-losses.ts';
import type { HiddenDrop } from './detect-hidden-drops.ts';
import { MAX_HISTOGRAM_JUMP } from './detect-hidden-drops-step.ts';

/** Shorter runs are how one frame rate is shown as another: one picture twice where one is omitted. */
const MIN_COPIES = 2;
/**
 * Maximum number of pictures between the copies and the loss: what a queue contained when it ran dry, or showed before
 * it did.
 */
const MOST_BETWEEN = 3;
/** Steps on each side that define the usual size of a step. */
const FLANK = 8;
/** Steps over several pictures on each side that define the size of a jump over a loss. */
const LONG_FLANK = 6;
/**
 * Least jump over the loss relative to the largest step around it, by mean change. Of 197 runs with such a loss in
 * clips without sound 137 are found, and none in 79 runs without one; at 1.1 three of these are wrong
 * (docs/benchmarks/several-faults.md, "Copies beside a loss").
 */
const LEAST_RATIO = 1.2;
/** The same when picture and sound end together, which is rare if copies were only inserted. */
const LEAST_RATIO_EVEN = 1.1;
/**
 * A jump of the liveliest blocks farther than this many times the usual step over as many pictures is something that
 * appears: 2.7 where a word does in a dialog.
 */
const MOST_OVER = 2.2;
/**
 * Limits for pictures that catch up: how many pictures each step omits, the least number of copies and steps, their
 * mean change over the upper quarter of the steps around, each one's over the usual step, the evidence of their length,
 * and the motion right before the copies and after the stretch, because somebody who passes by swells and fades. Chosen
 * on the same clips: of 61 such stretches 20 are found, and none after 79 runs that were not made up for
 * (docs/benchmarks/several-faults.md).
 */
const FAST = {
  missing: [1, 2],
  leastCopies: 4,
  leastSteps: 3,
  ratio: 1.2,
  quantile: 0.75,
  slowest: 1.15,
  evidence: 0.1,
  beside: 3,
  stillFast: 1.35,
} as const;
/** Smaller differences are noise, grey levels. */
const NOISE = 0.1;
/**
 * The smallest accepted ratio is just certain enough to be acted on, and twice as much is as certain as motion alone
 * can be.
 */
const CONFIDENCE = { least: 0.65, most: 0.95, perRatio: 0.35 };

/**
 * If the picture outlasts the sound by at least this share of a run, the copies made it longer, and nothing was lost
 * for them.
 */
const PUT_IN_SHARE = 0.5;

export interface AroundCopies {
  readonly series: FrameSeries;
  /** First pictures of new shots. */
  readonly cuts: readonly number[];
  /** Whether something else explains a step: damage, a hole in the times, an earlier repair. */
  readonly isExplained: (at: number) => boolean;
  /** Pictures by which the picture outlasts the sound with the copies still in; null without sound. */
  readonly surplus: number | null;
}

/** Marks runs with an equally large loss nearby as inserted, and returns these losses; other runs stay as they are. */
export function withLossesBeside(
  runs: readonly StutterRun[],
  around: AroundCopies,
): { runs: StutterRun[]; losses: HiddenDrop[] } {
  const pairs = runs.map((run) => ({ run, losses: lossesBeside(run, around) }));
  return {
    runs: pairs.map(({ run, losses }) => (losses.length === 0 ? run : { ...run, history: 'inserted' })),
    losses: pairs.flatMap(({ losses }) => losses),
  };
}

function lossesBeside(run: StutterRun, around: AroundCopies): HiddenDrop[] {
  const copies = run.last + 1 - run.first;
  const { surplus } = around;
  if (copies < MIN_COPIES || (surplus ?? 0) >= PUT_IN_SHARE * copies) return [];
  // A tool filled the hole at a constant rate: what is missing is under the copies.
  const moves = around.series.blockDiff.get(1) ?? [];
  if ([run.last, run.last + 1].some((picture) => isShownTwice(moves, picture))) return [];
  const jump = jumpBeside(run, around);
  if (jump !== null) return [jump];
  return run.history === 'inserted' && copies >= FAST.leastCopies ? fastStretch(run, around) : [];
}

/**
 * Finds a loss of as many pictures as a run has copies, up to three pictures away from it. A recorder that stalls
 * repeats one picture and skips as many once its queue is empty, or skips first and then waits. The clip stays as long
 * as it was, so removing the copies alone would move all that follows.
 * @returns the clearest such loss, as many pictures as there are copies; null where no step nearby looks like one
 */
function jumpBeside(run: StutterRun, around: AroundCopies): HiddenDrop | null {
  const offsets = range(0, MOST_BETWEEN);
  const steps = offsets.flatMap((between) => [run.last + 2 + between, run.first - 1 - between]);
  const { surplus } = around;
  const least = surplus !== null && Math.abs(surplus) < EVEN ? LEAST_RATIO_EVEN : LEAST_RATIO;
  const found = steps.flatMap((at) => {
    const ratio = jumpRatio(run, at, around);
    if (ratio === null || ratio < least) return [];
    const missing = run.last + 1 - run.first;
    return [{ after: at, missing, ratio, threshold: least, confidence: confidenceOf(ratio - least) }];
  });
  return clearest(found);
}

/**
 * Mean change of the step into `at` relative to the largest step around it. Null if something else explains the step,
 * if a cut is between it and the copies, or if its change is closer to one step than to a jump over as many pictures as
 * there are copies, or far beyond one.
 */
function jumpRatio(run: StutterRun, at: number, around: AroundCopies): number | null {
  const { series } = around;
  const from = Math.min(at, run.first);
  const to = Math.max(at, run.last);
  if (!isOpen(from, to, around) || around.isExplained(at)) return null;
  if ((series.histogramDiff[at] ?? 0) > MAX_HISTOGRAM_JUMP) return null;
  const isOdd = (step: number) => step === at || (step >= run.first && step <= run.last);
  const usual = usualAround({ from, to, isOdd, over: run.last + 2 - run.first }, around);
  if (usual === null || lengthEvidence([at], usual, around) < 0) return null;
  if (levelOf(series, 1, [at]) > MOST_OVER * usual.long) return null;
  const largest = Math.max(...usual.steps.map((step) => series.meanDiff[step] ?? 0));
  return (series.meanDiff[at] ?? 0) / Math.max(NOISE, largest);
}

/**
 * Finds pictures right after a run that move two or three times as fast as everything around, as many as make up for
 * its copies: a player that catches up.
 * @returns one loss for each of their steps; none if the motion after the copies is as usual
 */
function fastStretch(run: StutterRun, around: AroundCopies): HiddenDrop[] {
  const copies = run.last + 1 - run.first;
  const found = FAST.missing.flatMap((missing) => {
    const steps = range(run.last + 1, run.last + 1 + copies / missing);
    const isWhole = copies % missing === 0 && steps.length >= FAST.leastSteps;
    const ratio = isWhole ? fastRatio(run, steps, missing, around) : null;
    return ratio === null ? [] : [{ steps, missing, ratio }];
  });
  const best = clearest(found);
  if (best === null) return [];
  const { missing, ratio } = best;
  const evidence = { ratio, threshold: FAST.ratio, confidence: confidenceOf(ratio - FAST.ratio) };
  return best.steps.map((after) => ({ after, missing, ...evidence }));
}

/**
 * Mean change of some steps relative to the larger ones around; null if they are not evenly faster, or if the motion
 * stays that fast.
 */
function fastRatio(
  run: StutterRun,
  steps: readonly number[],
  missing: number,
  around: AroundCopies,
): number | null {
  const { series, isExplained } = around;
  const end = run.last + 1 + steps.length;
  if (!isOpen(run.first, end + FAST.beside - 1, around) || steps.some(isExplained)) return null;
  const isOdd = (step: number) => step >= run.first && step < end;
  const usual = usualAround({ from: run.first, to: end - 1, isOdd, over: missing + 1 }, around);
  if (usual === null) return null;
  const means = (of: readonly number[]) => of.map((step) => series.meanDiff[step] ?? 0);
  if (lengthEvidence(steps, usual, around) < FAST.evidence) return null;
  const single = Math.max(NOISE, median(means(usual.steps)));
  const isEven = Math.min(...means(steps)) >= FAST.slowest * single;
  const isOver = median(means(range(end, end + FAST.beside))) <= FAST.stillFast * single;
  const before = median(means(range(run.first - FAST.beside, run.first)));
  if (median(means(steps)) < FAST.stillFast * before) return null;
  const ratio = median(means(steps)) / Math.max(NOISE, quantile(means(usual.steps), FAST.quantile));
  return isEven && isOver && ratio >= FAST.ratio ? ratio : null;
}

/** Whether a stretch lies inside one shot. */
const isOpen = (from: number, to: number, { series, cuts }: AroundCopies): boolean =>
  from >= 1 && to < series.count && !cuts.some((cut) => cut >= from && cut <= to);

interface Usual {
  /** Ordinary steps around. */
  readonly steps: readonly number[];
  /** Block difference of one step. */
  readonly single: number;
  /** The same over several pictures. */
  readonly long: number;
}

interface Stretch {
  readonly from: number;
  readonly to: number;
  /** Steps that do not show what is usual. */
  readonly isOdd: (step: number) => boolean;
  /** Number of pictures in a long step. */
  readonly over: number;
}

/** Sizes of ordinary steps on both sides of a stretch and in it; null when there are too few. */
function usualAround(
  { from, to, isOdd, over }: Stretch,
  { series, cuts, isExplained }: AroundCopies,
): Usual | null {
  const isOrdinary = (step: number) => !isOdd(step) && !cuts.includes(step) && !isExplained(step);
  const isClear = (last: number, lag: number) =>
    last >= lag && last < series.count && range(last - lag + 1, last + 1).every(isOrdinary);
  const beside = (lag: number, most: number) =>
    range(1, FLANK + most)
      .flatMap((away) => [from - away, to + lag - 1 + away])
      .filter((last) => isClear(last, lag))
      .slice(0, 2 * most);
  const lag = nearestLag(over);
  const steps = [...beside(1, FLANK), ...range(from, to + 1).filter(isOrdinary)];
  const long = beside(lag, LONG_FLANK);
  if (steps.length < FLANK || long.length === 0) return null;
  return { steps, single: levelOf(series, 1, steps), long: levelOf(series, lag, long) };
}

/** Usual block difference of some steps over `lag` pictures. */
const levelOf = (series: FrameSeries, lag: Lag, steps: readonly number[]): number =>
  Math.max(NOISE, median(steps.map((step) => series.blockDiff.get(lag)?.[step] ?? 0)));

/**
 * How much closer the change of some steps is to a long step than to a single one; negative if it is closer to a single
 * one.
 */
const lengthEvidence = (
  steps: readonly number[],
  { single, long }: Usual,
  { series }: AroundCopies,
): number => nearerToSecond(levelOf(series, 1, steps), single, long);

/** The one with the largest ratio; the first of equal ones. */
const clearest = <Found extends { readonly ratio: number }>(found: readonly Found[]): Found | null =>
  found.reduce<Found | null>((best, one) => (best === null || one.ratio > best.ratio ? one : best), null);

const confidenceOf = (excess: number): number =>
  clamp(CONFIDENCE.least + CONFIDENCE.perRatio * excess, CONFIDENCE.least, CONFIDENCE.most);

const range = (from: number, end: number): number[] =>
  Array.from({ length: Math.max(0, end - from) }, (_, i) => from + i);
