import type { JumpMeasure } from '#server/media/grey/grey-jumps.ts';
import type { StepRise } from '#server/media/grey/grey-rises.ts';
import type { FrameSeries } from '#server/media/grey/grey-series.ts';
import { median } from '#server/media/statistics.ts';
import { MIN_EXCESS, MIN_SLOPE, MIN_STEADINESS, MIN_WINDOWS } from './detect-hidden-drops-direction.ts';
import type { Flanks } from './detect-hidden-drops-score.ts';

/** Pictures on each side that a jump is compared with. */
export const FLANK = 6;
/** Between a cut and a jump this many are enough. */
const SHORT_FLANK = 3;
/** With a smaller block difference around, motion is lost in noise, grey levels. */
export const MIN_MOTION = 2;
/** Steps with this little motion still show what is usual in the clip. */
const MIN_JUDGED_MOTION = 1;
/** Minimum for steady motion that only goes farther: agreement, and the shortest step and the speed around it. */
export const MIN_AGREEMENT = 0.8;
const MIN_LEAST = 0.25;
const MIN_SPEED = 0.15;
/** A jump of the whole picture: mean and block difference relative to the liveliest picture of both flanks. */
export const PLAIN_MEAN_RATIO = 1.45;
const PLAIN_BLOCK_RATIO = 1.2;
const PLAIN_MOTION = 3;
/** Everything lively changes more than before and after, and the whole picture changes most of all around. */
const COMMON = { blocks: 12, rise: 1.4, meanRatio: 1.15, blockRatio: 1.1 };
/** Motion that continues as before refutes a jump: something appeared (measured: at most 1.08 when a digit changes). */
const REFUTED_RISE = 1.15;
const REFUTING_BLOCKS = 8;
const EVEN_SLOPE = 1.3;
/** Limits when both kinds of evidence are present but each is slightly weaker. */
const MIXED = { slope: 1.7, agreement: 0.6, excess: 1.4, meanRatio: 1.25, blockRatio: 1.1 };
/** A larger change of the histogram is a flash or a cut, not a jump. */
export const MAX_HISTOGRAM = 0.05;
/** ...up to this limit if half of everything that moves goes this much farther (logarithm). */
export const MAX_HISTOGRAM_JUMP = 0.085;
/**
 * ...and up to this one if the sound says that pictures are missing: two of 91 losses above the noise in phones' clips
 * more, no claim in 60 unharmed clips whose sound is longer.
 */
const MAX_HISTOGRAM_MISSED = 0.15;
const JUMP_RISE = 0.6;
/** A step into a picture, relative to the steps around it. */
export interface Step {
  readonly flanks: Flanks;
  readonly jump: JumpMeasure | undefined;
  /** Mean and block difference relative to the liveliest picture of both flanks. */
  readonly meanRatio: number;
  readonly blockRatio: number;
  /** Mean difference relative to the larger of the two adjacent steps. */
  readonly nextRatio: number;
  /** Block difference relative to the livelier of the two adjacent steps. */
  readonly nearRatio: number;
  /** Median block difference of the quieter flank. */
  readonly motion: number;
  /** Change of the histogram. */
  readonly flash: number;
  /** True when both flanks are complete: no cut and no end of the clip is near. */
  readonly inside: boolean;
}

/**
 * Steps around the step into picture `i`, at most `reach` on each side. They end where the shot ends, because the step
 * into a cut is not motion.
 */
export function flanksOf(
  { count }: Pick<FrameSeries, 'count'>,
  cuts: readonly number[],
  i: number,
  reach: number,
): Flanks {
  const shotStart = cuts.findLast((cut) => cut <= i) ?? 0;
  const shotEnd = cuts.find((cut) => cut > i) ?? count;
  return { from: Math.max(1, i - reach, shotStart + 1), to: Math.min(count, i + 1 + reach, shotEnd) };
}

/** Measures the step into picture `i`; null when one side has too little of its shot. */
export function measureStep(series: FrameSeries, cuts: readonly number[], i: number): Step | null {
  const moves = series.blockDiff.get(1) ?? [];
  const { from, to } = flanksOf(series, cuts, i, FLANK);
  if (i - from < SHORT_FLANK || to - i <= SHORT_FLANK) return null;
  const left = moves.slice(from, i);
  const right = moves.slice(i + 1, to);
  const means = [...series.meanDiff.slice(from, i), ...series.meanDiff.slice(i + 1, to)];
  const here = moves[i] ?? 0;
  return {
    flanks: { from, to },
    jump: series.jumps.get(i),
    meanRatio: (series.meanDiff[i] ?? 0) / Math.max(0.05, ...means),
    blockRatio: here / Math.max(0.3, ...left, ...right),
    nextRatio:
      (series.meanDiff[i] ?? 0) / Math.max(0.05, series.meanDiff[i - 1] ?? 0, series.meanDiff[i + 1] ?? 0),
    nearRatio: here / Math.max(0.3, moves[i - 1] ?? 0, moves[i + 1] ?? 0),
    motion: Math.min(median(left), median(right)),
    flash: series.histogramDiff[i] ?? 0,
    inside: left.length >= FLANK && right.length >= FLANK,
  };
}

/** Flanks of the steps that may be judged: away from cuts, flashes and still scenes. */
export function judgeableSteps(series: FrameSeries, cuts: readonly number[]): (at: number) => Flanks | null {
  return (i) => judgeable(measureStep(series, cuts, i), series.rises[i]);
}

/**
 * Flanks of a step that may be judged; null at a flash and in still scenes.
 * @param isMissed whether the sound says that pictures are missing
 */
export function judgeable(
  step: Step | null | undefined,
  rise: StepRise | null | undefined,
  isMissed = false,
): Flanks | null {
  const mostFlash = isMissed ? MAX_HISTOGRAM_MISSED : MAX_HISTOGRAM_JUMP;
  return step && step.motion >= MIN_JUDGED_MOTION && isNoFlash(step, rise, mostFlash) ? step.flanks : null;
}

/** True for a step whose brightness changes no more than a jump of the motion explains. */
function isNoFlash({ flash }: Step, rise: StepRise | null | undefined, most: number): boolean {
  return flash <= MAX_HISTOGRAM || (flash <= most && (rise?.overMax ?? 0) >= JUMP_RISE);
}

/** True for a step that is much longer than all around it and of the same motion. */
export function isJump(step: Step): boolean {
  const { jump, meanRatio, blockRatio, motion } = step;
  if (motion < MIN_MOTION || !step.inside || step.flash > MAX_HISTOGRAM || isRefuted(jump)) return false;
  const plain = motion >= PLAIN_MOTION && meanRatio >= PLAIN_MEAN_RATIO && blockRatio >= PLAIN_BLOCK_RATIO;
  return plain || (jump !== undefined && (isCommonRise(jump, step) || isLongerStep(jump, step)));
}

/** True when the lively parts move on as before, so that something appeared elsewhere. */
function isRefuted(jump: JumpMeasure | undefined): boolean {
  if (!jump) return false;
  if (jump.livelyBlocks >= REFUTING_BLOCKS && jump.commonRise < REFUTED_RISE) return true;
  const { windows, agreement, slope } = jump;
  return windows >= MIN_WINDOWS && agreement >= MIN_AGREEMENT && slope < EVEN_SLOPE;
}

function isCommonRise(jump: JumpMeasure, { meanRatio, blockRatio }: Step): boolean {
  return (
    jump.livelyBlocks >= COMMON.blocks &&
    jump.commonRise >= COMMON.rise &&
    meanRatio >= COMMON.meanRatio &&
    blockRatio >= COMMON.blockRatio
  );
}

function isLongerStep(jump: JumpMeasure, { meanRatio, blockRatio }: Step): boolean {
  if (jump.windows < MIN_WINDOWS || jump.leastAround < MIN_LEAST || jump.speed < MIN_SPEED) return false;
  const steady =
    jump.slope >= MIN_SLOPE &&
    jump.agreement >= MIN_AGREEMENT &&
    jump.steadiness >= MIN_STEADINESS &&
    jump.excess >= MIN_EXCESS;
  const mixed =
    jump.slope >= MIXED.slope &&
    jump.agreement >= MIXED.agreement &&
    jump.excess >= MIXED.excess &&
    meanRatio >= MIXED.meanRatio &&
    blockRatio >= MIXED.blockRatio;
  return steady || mixed;
}

/** A jump by looser limits, used to find out how usual jumps are in this clip. */
export function isLoose({ jump, blockRatio, nearRatio, motion, flash, inside }: Step): boolean {
  if (!inside || flash > MAX_HISTOGRAM) return false;
  if (motion < MIN_MOTION || nearRatio < 1.3) return false;
  return blockRatio >= 1.2 || (jump !== undefined && jump.slope >= 1.5 && jump.agreement >= 0.75);
}

/** More than one picture would have to be lost for the whole picture to change this many times as much as usual. */
const REFRESHED_RISE = 2.2;

/**
 * True for a step at which the whole picture changes far more than usual, and what is liveliest in it no more than it
 * does over two steps. After lost pictures both would go farther. A coded picture that does without those before it
 * changes what rests as well: encoders at low rates let it blur until then.
 */
export function isRefreshed(series: FrameSeries, { flanks }: Step, at: number): boolean {
  const around = (values: readonly number[], steps: number) =>
    median([...values.slice(flanks.from + steps - 1, at), ...values.slice(at + steps, flanks.to)]);
  const [moves, overTwo] = [series.blockDiff.get(1) ?? [], series.blockDiff.get(2) ?? []];
  if ((series.meanDiff[at] ?? 0) < REFRESHED_RISE * around(series.meanDiff, 1)) return false;
  return (moves[at] ?? 0) <= around(overTwo, 2);
}
