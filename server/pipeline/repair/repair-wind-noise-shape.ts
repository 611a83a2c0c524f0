import { createLayout, SUPPRESSOR, type WindShape } from './repair-wind-noise-filter.ts';

export interface ShapeLearner {
  /** Samples of one channel; only windy stretches should be given. */
  push(samples: ArrayLike<number>): void;
  finish(): WindShape;
}

/** Histogram of the natural logarithm of power / level. */
const LOW = -30;
const STEP = 0.1;
const CELLS = 500;

/**
 * Learns the shape of the wind from windy sound: for each bin a low percentile over time of its power relative to the
 * level of the wind in the same frame (voices come and go, the wind's own proportion stays). Memory is one
 * histogram per bin.
 */
export function createShapeLearner(rateHz: number): ShapeLearner {
  const layout = createLayout(rateHz);
  const { size, bins } = layout;
  const kernel = layout.createSpectrum();
  // Half-overlapping frames suffice for statistics.
  const hop = size / 2;
  const cells = new Uint32Array(bins * CELLS);
  const floor = layout.createFloor();
  const store = new Float64Array(size);
  let filled = 0;
  const before = new Float64Array(bins);
  let waits = false;
  let frames = 0;
  const count = (power: Float64Array, background: Float64Array) => {
    const level = layout.levelOf(background);
    if (level <= 0) return;
    frames += 1;
    for (let k = 0; k < bins; k++) {
      const ratio = Math.log(((power[k] ?? 0) + 1e-15) / level);
      const at = k * CELLS + Math.min(CELLS - 1, Math.max(0, Math.round((ratio - LOW) / STEP)));
      cells[at] = (cells[at] ?? 0) + 1;
    }
  };
  const takeFrame = () => {
    kernel.of(store);
    const background = floor.push(kernel.power);
    if (background && waits) count(before, background);
    before.set(kernel.power);
    waits = true;
  };
  return {
    push(samples) {
      for (let i = 0; i < samples.length; i++) {
        store[filled++] = samples[i] ?? 0;
        if (filled < size) continue;
        takeFrame();
        store.copyWithin(0, hop);
        filled = size - hop;
      }
    },
    finish() {
      const raw = new Float64Array(bins);
      for (let k = 0; k < bins; k++) {
        let seen = 0;
        let cell = 0;
        while (cell < CELLS && seen < frames * SUPPRESSOR.shapeQuantile) {
          seen += cells[k * CELLS + cell++] ?? 0;
        }
        raw[k] = LOW + (cell - 0.5) * STEP;
      }
      const relative = smooth(raw, 2).map(Math.exp);
      return { rateHz, relative };
    },
  };
}

function smooth(values: Float64Array, reach: number): Float64Array {
  return values.map((_, k) => {
    let sum = 0;
    let weight = 0;
    for (let j = Math.max(0, k - 3 * reach); j <= Math.min(values.length - 1, k + 3 * reach); j++) {
      const w = Math.exp(-0.5 * ((j - k) / reach) ** 2);
      sum += w * (values[j] ?? 0);
      weight += w;
    }
    return sum / weight;
  });
}
