import type { DenseMemory } from '#server/media/network/dense-kernel.ts';
import { clamp } from '#server/media/statistics.ts';

/** Width of a bin that the network was trained with, Hz: frames of 4096 samples at 48 kHz. */
const BIN_HZ = 48_000 / 4096;
/** Pitches of voices: 70 to 364 Hz in quarter tones, 24 to the octave. */
export const PITCHES = 58;
const LOWEST_PITCH_HZ = 70;
const QUARTER_TONES = 24;
/** Distance between the harmonics of each pitch, bins. */
const SPACINGS = Array.from(
  { length: PITCHES },
  (_, i) => (LOWEST_PITCH_HZ / BIN_HZ) * 2 ** (i / QUARTER_TONES),
);
/** Larger ratios (natural logarithms) count no more: one loud harmonic is no voice. */
const MOST_RATIO = 4;
/** Quarter tones by which a pitch may move from frame to frame (21 ms), and the cost of each. */
const GLIDE_STEPS = 3;
const GLIDE_COST = 0.5;
/** Share of the sum over earlier frames that counts in the next one; about ten frames matter. */
const LEAK = 0.9;
/** Turns the sum along a path in both directions, of equal scores, back into one score. */
const LEAK_GAIN = (1 - LEAK) / (1 + LEAK);
/** Sums become likelihoods by the exponential of this multiple of them. */
const SHARPNESS = 0.3;
/** A best path of a larger mean score is no clearer. */
const MOST_STRENGTH = 8;
/** Scores and the clarity of a pitch are divided by this, which brings them to about -1 to 1 for the network. */
export const SCORE_SCALE = 4;

/** What is known of the pitch of one frame. */
export interface PitchView {
  /** How well each pitch explains the ratios of the frame. */
  readonly scores: Float32Array;
  /**
   * For each bin, 1 on a harmonic and -1 between two, times the clarity of the pitch; set once the neighbours are
   * known.
   */
  readonly comb: Float32Array;
}

/**
 * Scores of the pitches: natural logarithms of power over wind on the harmonics, minus those in the valleys between
 * (sub-harmonic summation, Hermes 1988), over the square root of the number of harmonics: so scores of noise vary alike
 * for all pitches.
 * @returns a function of the ratios of all bins that writes a score for each pitch
 */
export function createPitchScorer(bins: number): (ratios: ArrayLike<number>, scores: Float32Array) => void {
  const combs = SPACINGS.map((spacing) => {
    // The valley above the last harmonic lies within the bins too.
    const count = Math.floor((bins - 1) / spacing - 0.5);
    const harmonics = Array.from({ length: count }, (_, i) => i + 1);
    return {
      scale: 1 / Math.sqrt(count),
      on: harmonics.map((h) => Math.round(h * spacing)),
      off: harmonics.flatMap((h) => [Math.round((h - 0.5) * spacing), Math.round((h + 0.5) * spacing)]),
    };
  });
  const raised = new Float32Array(bins);
  return (ratios, scores) => {
    for (let k = 0; k < bins; k++) raised[k] = Math.min(MOST_RATIO, Math.max(0, ratios[k] ?? 0));
    for (const [j, { on, off, scale }] of combs.entries()) {
      let score = 0;
      for (const k of on) score += raised[k] ?? 0;
      for (const k of off) score -= 0.5 * (raised[k] ?? 0);
      scores[j] = scale * score;
    }
  };
}

export interface PitchFollower {
  /**
   * Sets the combs.
   * @param kept sums after the frame before, initially zero; updated to those after the first `count` frames
   */
  follow(views: readonly PitchView[], kept: Float32Array, count: number): void;
}

/**
 * Finds likely pitches of each frame from the best paths that lead to and from it (Viterbi 1967, used in pitch tracking
 * since Secrest and Doddington 1983): a voice glides, gusts do not. The combs of all pitches are added by their
 * likelihood.
 */
export function createPitchFollower(memory: DenseMemory, bins: number, mostFrames: number): PitchFollower {
  const rows = combRows(bins);
  const layer = memory.layer({ inputs: PITCHES, rows, rectified: false });
  // Layers process their rows in pairs.
  const likely = memory.take((mostFrames + 1) * PITCHES);
  const combs = memory.take((mostFrames + 1) * layer.width);
  // The sums before each frame, and those after the last.
  const arriving = new Float32Array((mostFrames + 1) * PITCHES);
  const ahead = new Float32Array(PITCHES);
  const after = new Float32Array(PITCHES);
  return {
    follow(views, kept, count) {
      arriving.set(kept);
      for (const [at, { scores }] of views.entries()) {
        step(arriving, at * PITCHES, scores, arriving, (at + 1) * PITCHES);
      }
      kept.set(arriving.subarray(count * PITCHES, (count + 1) * PITCHES));
      let [behind, next] = [ahead, after];
      behind.fill(0);
      for (let at = views.length - 1; at >= 0; at--) {
        const scores = views[at]?.scores;
        if (!scores) continue;
        step(behind, 0, scores, next, 0);
        [behind, next] = [next, behind];
        weigh(arriving, (at + 1) * PITCHES, behind, scores, likely, at * PITCHES);
      }
      layer.run({ from: likely, rowNumbers: PITCHES, rows: views.length, to: combs });
      for (const [at, { comb }] of views.entries()) {
        for (let k = 0; k < bins; k++) comb[k] = combs[at * layer.width + k] ?? 0;
      }
    },
  };
}

/** For each bin a cosine of each pitch, 1 on its harmonics and -1 between them, and a bias of zero. */
function combRows(bins: number): Float32Array {
  const rows = new Float32Array(bins * (PITCHES + 1));
  for (let k = 0; k < bins; k++) {
    for (const [j, spacing] of SPACINGS.entries()) {
      rows[k * (PITCHES + 1) + j] = Math.cos((2 * Math.PI * k) / spacing);
    }
  }
  return rows;
}

/** The best sums at the next frame from those at one frame. */
function step(
  sums: Float32Array,
  sumsAt: number,
  scores: Float32Array,
  next: Float32Array,
  nextAt: number,
): void {
  for (let j = 0; j < PITCHES; j++) {
    let best = Number.NEGATIVE_INFINITY;
    const last = Math.min(PITCHES - 1, j + GLIDE_STEPS);
    for (let from = Math.max(0, j - GLIDE_STEPS); from <= last; from++) {
      best = Math.max(best, (sums[sumsAt + from] ?? 0) - GLIDE_COST * Math.abs(from - j));
    }
    next[nextAt + j] = LEAK * best + (scores[j] ?? 0);
  }
}

/**
 * Likelihood of each pitch in a frame; they add up to how clear the best path is.
 * @param arriving sums of the best paths that lead to the frame, its own score included
 * @param leaving the same of those that lead away from it
 */
function weigh(
  arriving: Float32Array,
  arrivingAt: number,
  leaving: Float32Array,
  scores: Float32Array,
  likely: Float32Array,
  likelyAt: number,
): void {
  let most = Number.NEGATIVE_INFINITY;
  for (let j = 0; j < PITCHES; j++) {
    const path = (arriving[arrivingAt + j] ?? 0) + (leaving[j] ?? 0) - (scores[j] ?? 0);
    likely[likelyAt + j] = path;
    most = Math.max(most, path);
  }
  let sum = 0;
  for (let j = 0; j < PITCHES; j++) {
    const value = Math.exp(SHARPNESS * ((likely[likelyAt + j] ?? 0) - most));
    likely[likelyAt + j] = value;
    sum += value;
  }
  const share = clamp(most * LEAK_GAIN, 0, MOST_STRENGTH) / SCORE_SCALE / sum;
  for (let j = 0; j < PITCHES; j++) likely[likelyAt + j] = (likely[likelyAt + j] ?? 0) * share;
}
