import { BLOCK, histogramDistance, measureLevels, strongestMean, type GreySize } from './grey-frame.ts';
import { measureJump, type JumpMeasure } from './grey-jumps.ts';
import { jumpCoherence } from './grey-coherence.ts';
import { createHoldFollower, type HoldMeasure } from './grey-holds.ts';
import { createGreyKernel } from './grey-kernel.ts';
import { curveShift, emptyProjections, project } from './grey-motion.ts';
import { measureLook, type PictureLook } from './grey-look.ts';
import { createStepRises, type StepRise } from './grey-rises.ts';

/** How many pictures back differences are taken: one step, and longer steps that tell loss from repeat. */
export const LAGS = [1, 2, 3, 4, 8, 16] as const;
export type Lag = (typeof LAGS)[number];

/** The measured distance nearest to so many pictures, the shorter one of two. */
export const nearestLag = (pictures: number): Lag =>
  LAGS.reduce<Lag>((best, lag) => (Math.abs(lag - pictures) < Math.abs(best - pictures) ? lag : best), 1);

/**
 * One number per decoded picture, display order. Differences are in grey levels (0 to 255) of the small
 * picture; the value at `i` compares picture `i` with one before it and is 0 where there is none.
 */
export interface FrameSeries {
  readonly size: GreySize;
  readonly count: number;
  /** Mean absolute difference to the picture before. */
  readonly meanDiff: readonly number[];
  /** The same in the most changed twentieth of the blocks, compared with the picture `lag` before. */
  readonly blockDiff: ReadonlyMap<Lag, readonly number[]>;
  /** Histogram distance to the picture before, 0 to 1. */
  readonly histogramDiff: readonly number[];
  /** Global displacement from the picture before, pixels of the small picture. */
  readonly motionX: readonly number[];
  readonly motionY: readonly number[];
  /** How badly that displacement explains the change, 0 to 1. */
  readonly motionResidual: readonly number[];
  readonly lumaMean: readonly number[];
  readonly lumaP10: readonly number[];
  readonly lumaP90: readonly number[];
  /** Mean of the brightest tenth of the pixels. */
  readonly brightest: readonly number[];
  /** Mean squared gradient. */
  readonly sharpness: readonly number[];
  /** How the lively parts change in this step compared with the steps beside it; null where too few are lively. */
  readonly rises: readonly (StepRise | null)[];
  /** Motion compared step by step, for the few pictures that change more than those beside them. */
  readonly jumps: ReadonlyMap<number, JumpMeasure>;
  /** Motion across runs of repeats, keyed by the picture behind each run. */
  readonly holds: ReadonlyMap<number, HoldMeasure>;
  /** Whether far steps behind still pictures lead to the same shot (`jumpCoherence`), for those that can be judged. */
  readonly coherence: ReadonlyMap<number, number>;
  /** Focus and look of every sixth picture. Both change slowly, so more pictures would show the same. */
  readonly looks: ReadonlyMap<number, PictureLook>;
}

/** Pictures from one that is judged for focus to the next. */
export const LOOK_STEP = 6;

/** A step is followed in detail if it changes this many times more than both steps beside it... */
const JUMP_CANDIDATE = 1.2;
/** ...and at least this much (block difference, grey levels). */
const JUMP_MIN = 2;
/** Pictures that the comparison of a step needs: three before it, itself and two after. */
const JUMP_PICTURES = 6;

/**
 * A far step changes as much as a cut (mean difference, grey levels; histogram) behind a step that hardly changes
 * (block difference).
 */
const FAR_STEP = 12;
const FAR_HISTOGRAM = 0.02;
const STILL_STEP = 2.6;
/**
 * Most far steps that are followed in a clip. Following all texture takes 20 to 90 ms, and every change of a slide show
 * is such a step.
 */
const MOST_FOLLOWED = 12;

export interface GreySeriesBuilder {
  /**
   * Takes the next picture; the bytes are copied.
   * @returns its mean absolute difference from the picture before, grey levels; null for the first
   */
  add(picture: Uint8Array): number | null;
  finish(): FrameSeries;
}

/**
 * Measures a stream of small grey pictures one by one and keeps only numbers. Memory grows by about 200 bytes a
 * picture; the pictures themselves are dropped after the longest lag.
 */
export function createGreySeries(size: GreySize): GreySeriesBuilder {
  const pixels = size.width * size.height;
  const blockPixels = BLOCK * BLOCK;
  const kept = 1 + (LAGS[LAGS.length - 1] ?? 1);
  const kernel = createGreyKernel(size, kept);
  const blockDiff = new Map<Lag, number[]>(LAGS.map((lag) => [lag, []]));
  const meanDiff: number[] = [];
  const histogramDiff: number[] = [];
  const motionX: number[] = [];
  const motionY: number[] = [];
  const motionResidual: number[] = [];
  const lumaMean: number[] = [];
  const lumaP10: number[] = [];
  const lumaP90: number[] = [];
  const brightest: number[] = [];
  const sharpness: number[] = [];
  const rises = createStepRises();
  const jumps = new Map<number, JumpMeasure>();
  const coherence = new Map<number, number>();
  const looks = new Map<number, PictureLook>();
  const holds = createHoldFollower(kernel, kept);
  const countsBefore = new Uint32Array(256);
  let curves = emptyProjections(size);
  let curvesBefore = emptyProjections(size);

  const compare = (now: number) => {
    for (const [lag, values] of blockDiff) {
      // Longer lags only show how differences grow, for which every second row is enough.
      const rowStep = lag === 1 ? 1 : 2;
      const blocks = now >= lag ? kernel.blockDifferences(now % kept, (now - lag) % kept, rowStep) : null;
      values.push(blocks ? (strongestMean(blocks) * rowStep) / blockPixels : 0);
      if (lag !== 1) continue;
      meanDiff.push(blocks ? sum(blocks) / pixels : 0);
      rises.add(blocks);
    }
    project(kernel, now % kept, curves);
    const x = now > 0 ? curveShift(curvesBefore.columns, curves.columns) : null;
    const y = now > 0 ? curveShift(curvesBefore.rows, curves.rows) : null;
    motionX.push(x?.pixels ?? 0);
    motionY.push(y?.pixels ?? 0);
    motionResidual.push(x && y ? Math.min(x.residual, y.residual) : 1);
    [curves, curvesBefore] = [curvesBefore, curves];
  };

  const followJump = (now: number) => {
    const at = now - 2;
    const moves = blockDiff.get(1) ?? [];
    const here = moves[at] ?? 0;
    if (now + 1 < JUMP_PICTURES || here < JUMP_MIN) return;
    if (here < JUMP_CANDIDATE * Math.max(moves[at - 1] ?? 0, moves[at + 1] ?? 0)) return;
    const first = now + 1 - JUMP_PICTURES;
    const places = Array.from({ length: JUMP_PICTURES }, (_, i) => (first + i) % kept);
    jumps.set(at, measureJump(kernel, places));
  };

  const compareShots = (now: number) => {
    const before = blockDiff.get(1)?.[now - 1] ?? Infinity;
    if (now < 2 || before > STILL_STEP || (meanDiff[now] ?? 0) < FAR_STEP) return;
    if ((histogramDiff[now] ?? 0) < FAR_HISTOGRAM || coherence.size >= MOST_FOLLOWED) return;
    const share = jumpCoherence(kernel, (now - 1) % kept, now % kept);
    if (share !== null) coherence.set(now, share);
  };

  return {
    add(bytes) {
      const now = meanDiff.length;
      const place = now % kept;
      kernel.picture(place).set(bytes);
      compare(now);
      const counts = kernel.histogram(place);
      histogramDiff.push(now > 0 ? histogramDistance(counts, countsBefore, pixels) : 0);
      countsBefore.set(counts);
      const levels = measureLevels(counts, pixels);
      lumaMean.push(levels.mean);
      lumaP10.push(levels.p10);
      lumaP90.push(levels.p90);
      brightest.push(levels.brightest);
      sharpness.push(kernel.gradient(place) / ((size.width - 1) * (size.height - 1)));
      if (now % LOOK_STEP === 0) looks.set(now, measureLook(bytes, size));
      followJump(now);
      compareShots(now);
      holds.follow(blockDiff.get(1) ?? []);
      return now === 0 ? null : (meanDiff[now] ?? null);
    },
    finish: () => ({
      size,
      count: meanDiff.length,
      meanDiff,
      blockDiff,
      histogramDiff,
      motionX,
      motionY,
      motionResidual,
      lumaMean,
      lumaP10,
      lumaP90,
      brightest,
      sharpness,
      rises: rises.finish(),
      jumps,
      holds: holds.measures,
      coherence,
      looks,
    }),
  };
}

function sum(values: Int32Array): number {
  let total = 0;
  for (let i = 0; i < values.length; i += 1) total += values[i] ?? 0;
  return total;
}
