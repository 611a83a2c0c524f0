import { LAGS, type FrameSeries } from '#server/media/grey/grey-series.ts';
import { quantile } from '#server/media/statistics.ts';

/** Changes below this share of lively ones are coding noise in copies: they come and go, and do not add up. */
const LEFT_OF_COPIES = 0.25;

/**
 * A measured series for tests of the pure detectors. `moves` is the change of each picture from the one before;
 * everything else follows from it or is that of an ordinary well-lit picture.
 */
export function frameSeries(moves: readonly number[], other: Partial<FrameSeries> = {}): FrameSeries {
  const fill = (value: number) => moves.map(() => value);
  const least = LEFT_OF_COPIES * quantile(moves, 0.7);
  const over = (steps: readonly number[]) =>
    Math.max(sum(steps.filter((move) => move >= least)), ...steps.filter((move) => move < least));
  const blockDiff = new Map(
    LAGS.map(
      (lag) => [lag, moves.map((_, i) => over(moves.slice(Math.max(0, i - lag + 1), i + 1)))] as const,
    ),
  );
  return {
    size: { width: 160, height: 88 },
    count: moves.length,
    meanDiff: moves.map((move) => move / 8),
    blockDiff,
    histogramDiff: fill(0.001),
    motionX: fill(0),
    motionY: fill(0),
    motionResidual: fill(1),
    lumaMean: fill(110),
    lumaP10: fill(30),
    lumaP90: fill(200),
    brightest: fill(215),
    sharpness: fill(120),
    rises: moves.map(() => null),
    jumps: new Map(),
    holds: new Map(),
    coherence: new Map(),
    looks: new Map(),
    ...other,
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
