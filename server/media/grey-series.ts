import {
  BLOCK,
  blockDifferences,
  gradientEnergy,
  histogram,
  histogramDistance,
  percentileLevel,
  strongestMean,
  type GreySize,
} from './grey-frame.ts';
import { measureJump, type JumpMeasure } from './grey-jumps.ts';
import { curveShift, projections, type Projections } from './grey-motion.ts';
import { createStepRises, type StepRise } from './grey-rises.ts';

/** How many pictures back differences are taken: one step, and the longer steps that tell loss from repeat. */
export const LAGS = [1, 2, 3, 4, 8, 16] as const;
export type Lag = (typeof LAGS)[number];

/**
 * One number per decoded picture, display order. Differences are in grey levels (0 to 255) of the small
 * picture; the value at `i` compares picture `i` with one before it and is 0 where there is none.
 */
export interface FrameSeries {
  readonly size: GreySize;
  readonly count: number;
  /** Mean absolute difference to the picture before. */
  readonly meanDiff: readonly number[];
  /** The same in the most changed twentieth of the blocks, to the picture `lag` before. */
  readonly blockDiff: ReadonlyMap<Lag, readonly number[]>;
  /** Histogram distance to the picture before, 0 to 1. */
  readonly histogramDiff: readonly number[];
  /** Global displacement to the picture before, pixels of the small picture. */
  readonly motionX: readonly number[];
  readonly motionY: readonly number[];
  /** How badly that displacement explains the change, 0 to 1. */
  readonly motionResidual: readonly number[];
  readonly lumaMean: readonly number[];
  readonly lumaP10: readonly number[];
  readonly lumaP90: readonly number[];
  /** Share of pixels at or below the level where detail is crushed to black. */
  readonly crushedShare: readonly number[];
  /** Mean squared gradient. */
  readonly sharpness: readonly number[];
  /** How the lively parts change in this step against the steps beside it; null where too few are lively. */
  readonly rises: readonly (StepRise | null)[];
  /** Motion compared step by step, for the few pictures that differ more than their neighbours. */
  readonly jumps: ReadonlyMap<number, JumpMeasure>;
}

/** A step is followed in detail when it changes this many times more than both its neighbours... */
const JUMP_CANDIDATE = 1.2;
/** ...and this much at all (block difference, grey levels). */
const JUMP_MIN = 2;
/** Pictures that the comparison of a step needs: three before it, itself and two after. */
const JUMP_PICTURES = 6;

/** Full-range grey level at or below which a pixel counts as crushed (about 22 of 16..235 luma). */
const CRUSHED_LEVEL = 7;

export interface GreySeriesBuilder {
  /** Takes the next picture; the bytes are copied. */
  add(picture: Uint8Array): void;
  finish(): FrameSeries;
}

interface Kept {
  readonly picture: Uint8Array;
  readonly counts: Uint32Array;
  readonly curves: Projections;
}

/**
 * Measures a stream of small grey pictures one by one and keeps numbers only: memory grows by about 200
 * bytes a picture, the pictures themselves are forgotten after the longest lag.
 */
export function createGreySeries(size: GreySize): GreySeriesBuilder {
  const pixels = size.width * size.height;
  const blocks = new Float64Array((size.width / BLOCK) * (size.height / BLOCK));
  const blockPixels = BLOCK * BLOCK;
  const longest = LAGS[LAGS.length - 1] ?? 1;
  const ring: Kept[] = [];
  const blockDiff = new Map<Lag, number[]>(LAGS.map((lag) => [lag, []]));
  const meanDiff: number[] = [];
  const histogramDiff: number[] = [];
  const motionX: number[] = [];
  const motionY: number[] = [];
  const motionResidual: number[] = [];
  const lumaMean: number[] = [];
  const lumaP10: number[] = [];
  const lumaP90: number[] = [];
  const crushedShare: number[] = [];
  const sharpness: number[] = [];
  const rises = createStepRises();
  const jumps = new Map<number, JumpMeasure>();

  const back = (lag: number): Kept | undefined => ring[ring.length - lag];

  const compare = (now: Kept) => {
    for (const [lag, values] of blockDiff) {
      const earlier = back(lag);
      // Longer lags only show how differences grow, for which every second row is enough.
      const rowStep = lag === 1 ? 1 : 2;
      if (earlier) blockDifferences(now.picture, earlier.picture, size, blocks, rowStep);
      values.push(earlier ? (strongestMean(blocks) * rowStep) / blockPixels : 0);
      if (lag !== 1) continue;
      meanDiff.push(earlier ? sum(blocks) / pixels : 0);
      rises.add(earlier ? blocks : null);
    }
    const before = back(1);
    histogramDiff.push(before ? histogramDistance(now.counts, before.counts, pixels) : 0);
    const x = before && curveShift(before.curves.columns, now.curves.columns);
    const y = before && curveShift(before.curves.rows, now.curves.rows);
    motionX.push(x?.pixels ?? 0);
    motionY.push(y?.pixels ?? 0);
    motionResidual.push(x && y ? Math.min(x.residual, y.residual) : 1);
  };

  const followJump = () => {
    const at = meanDiff.length - 3;
    const moves = blockDiff.get(1) ?? [];
    const here = moves[at] ?? 0;
    if (ring.length < JUMP_PICTURES || here < JUMP_MIN) return;
    if (here < JUMP_CANDIDATE * Math.max(moves[at - 1] ?? 0, moves[at + 1] ?? 0)) return;
    const pictures = ring.slice(-JUMP_PICTURES).map((kept) => kept.picture);
    jumps.set(at, measureJump(pictures, size));
  };

  return {
    add(bytes) {
      const picture = Uint8Array.from(bytes);
      const counts = new Uint32Array(256);
      histogram(picture, counts);
      const now: Kept = { picture, counts, curves: projections(picture, size) };
      compare(now);
      let total = 0;
      let crushed = 0;
      counts.forEach((count, level) => {
        total += count * level;
        if (level <= CRUSHED_LEVEL) crushed += count;
      });
      lumaMean.push(total / pixels);
      lumaP10.push(percentileLevel(counts, 0.1));
      lumaP90.push(percentileLevel(counts, 0.9));
      crushedShare.push(crushed / pixels);
      sharpness.push(gradientEnergy(picture, size));
      ring.push(now);
      if (ring.length > longest) ring.shift();
      followJump();
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
      crushedShare,
      sharpness,
      rises: rises.finish(),
      jumps,
    }),
  };
}

function sum(values: Float64Array): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
