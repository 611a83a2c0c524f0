/** What the gain network sees of one frame; made once a frame, read by its neighbours. */
export interface FrameView {
  /** Natural logarithm of power over assumed wind, up to `TOP_HZ`. */
  readonly ratio: Float32Array;
  /** The same averaged over +-`SMOOTH_BINS`. */
  readonly smooth: Float32Array;
  /** Mean of the positive ratios 500-3000 Hz: how much voice stands out; and above most wind, 1.5-4 kHz. */
  readonly voice: number;
  readonly clearVoice: number;
  /** Natural logarithm of the assumed wind 100-1000 Hz. */
  readonly level: number;
  /** How well each pitch of `PITCHES_HZ` explains the ratios. */
  readonly pitchScores: Float32Array;
}

/** Highest frequency that is looked at, and up to which the network sets the gain, Hz. */
const TOP_HZ = 4000;
export const NETWORK_TOP_HZ = 1500;
/** Ratios are kept within this range: beyond it nothing more is learnt. */
const LEAST_RATIO = -4;
const MOST_RATIO = 8;
const SMOOTH_BINS = 20;
/** Pitches of voices: 70 to 364 Hz in quarter tones. */
const PITCHES_HZ = Array.from({ length: 58 }, (_, i) => 70 * 2 ** (i / 24));
/** Harmonics above this are blurred by the glide of a voice, Hz. */
const HARMONICS_TOP_HZ = 1600;

/** Frames before and behind that a gain depends on. */
export const REACH_FRAMES = 8;

interface PitchComb {
  readonly on: readonly number[];
  readonly off: readonly number[];
}

export interface FeatureMaker {
  /** Bins that the network sets the gain of. */
  readonly bins: number;
  view(power: ArrayLike<number>, wind: ArrayLike<number>): FrameView;
  /**
   * Writes the inputs of a frame, `GAIN_INPUTS` for each bin.
   * @param around views from `REACH_FRAMES` before to `REACH_FRAMES` behind the frame
   */
  fill(around: readonly FrameView[], inputs: Float32Array): void;
}

/**
 * Inputs of the gain network: the signal-to-wind ratio of a bin and its neighbours in time and frequency, how much
 * voice there is around, and where the bin lies between the harmonics of the frame's pitch (sub-harmonic
 * summation, Hermes 1988, with the valleys counted against), the pitch followed through all frames.
 * @param hzPerBin width of a bin; the network was learnt at 11.8 Hz
 */
export function createFeatureMaker(hzPerBin: number, allBins: number): FeatureMaker {
  const top = Math.min(allBins, Math.floor(TOP_HZ / hzPerBin));
  const bins = Math.min(top, Math.floor(NETWORK_TOP_HZ / hzPerBin));
  const binOf = (hz: number) => Math.min(top - 1, Math.max(0, Math.round(hz / hzPerBin)));
  const voiceFirst = Math.min(top, Math.floor(500 / hzPerBin));
  const voiceEnd = Math.min(top, Math.floor(3000 / hzPerBin));
  const clearFirst = Math.min(top - 1, Math.floor(1500 / hzPerBin));
  const levelFirst = binOf(100);
  const levelEnd = binOf(1000);
  const combs = PITCHES_HZ.map((hz): PitchComb => {
    const harmonics = Array.from({ length: Math.floor(HARMONICS_TOP_HZ / hz) }, (_, i) => i + 1);
    return {
      on: harmonics.map((h) => binOf(h * hz)),
      off: harmonics.flatMap((h) => [binOf((h - 0.5) * hz), binOf((h + 0.5) * hz)]),
    };
  });
  const octaves = Float64Array.from({ length: bins }, (_, k) => Math.log2(((k + 1) * hzPerBin) / 500));

  return {
    bins,
    view(power, wind) {
      const ratio = new Float32Array(top);
      const raised = new Float32Array(top);
      let voice = 0;
      let clearVoice = 0;
      let level = 0;
      for (let k = levelFirst; k < levelEnd; k++) level += wind[k] ?? 0;
      for (let k = 0; k < top; k++) {
        const value = Math.log(((power[k] ?? 0) + 1e-10) / ((wind[k] ?? 0) + 1e-10));
        ratio[k] = Math.min(MOST_RATIO, Math.max(LEAST_RATIO, value));
        raised[k] = Math.min(4, Math.max(0, value));
        if (k >= voiceFirst && k < voiceEnd) voice += Math.max(0, ratio[k] ?? 0);
        if (k >= clearFirst) clearVoice += Math.max(0, ratio[k] ?? 0);
      }
      const pitchScores = Float32Array.from(combs, ({ on, off }) => {
        let score = 0;
        for (const k of on) score += raised[k] ?? 0;
        for (const k of off) score -= 0.5 * (raised[k] ?? 0);
        return score / Math.sqrt(on.length);
      });
      return {
        ratio,
        smooth: boxMean(ratio, bins),
        voice: voice / Math.max(1, voiceEnd - voiceFirst),
        clearVoice: clearVoice / Math.max(1, top - clearFirst),
        level: Math.log(level + 1e-10),
        pitchScores,
      };
    },
    fill(around, inputs) {
      const pitch = followPitch(around);
      const strength = Math.min(8, Math.max(0, pitch.score)) / 4;
      const path = Math.min(8, Math.max(0, pitch.pathScore)) / 4;
      const spacing = pitch.hz / hzPerBin;
      const steps = HARMONIC_STEPS.map((step) => Math.round(step * spacing));
      const ratioAt = (frame: number) => around[REACH_FRAMES + frame]?.ratio ?? EMPTY;
      const patch = [-3, -2, -1, 0, 1, 2, 3].map(ratioAt);
      const here = ratioAt(0);
      const far = [-8, -5, 5, 8].map(ratioAt);
      const smooth = [-4, -1, 1, 4].map((frame) => around[REACH_FRAMES + frame]?.smooth ?? EMPTY);
      const voice = [-4, -2, 0, 2, 4].map((frame) => around[REACH_FRAMES + frame]?.voice ?? 0);
      const clear = [-6, -2, 0, 2, 6].map((frame) => around[REACH_FRAMES + frame]?.clearVoice ?? 0);
      const level = around[REACH_FRAMES]?.level ?? 0;
      const gusts = [-8, -3, 3, 8].map((frame) => (around[REACH_FRAMES + frame]?.level ?? level) - level);
      let at = 0;
      for (let k = 0; k < bins; k++) {
        for (const row of patch) {
          for (let d = -2; d <= 2; d++) inputs[at++] = (row[within(k + d, top)] ?? 0) / 3;
        }
        for (const d of SIDE_BINS) inputs[at++] = (here[within(k + d, top)] ?? 0) / 3;
        for (const row of far) inputs[at++] = (row[k] ?? 0) / 3;
        for (const row of smooth) inputs[at++] = row[k] ?? 0;
        for (const value of voice) inputs[at++] = value;
        for (const value of clear) inputs[at++] = value;
        for (const value of gusts) inputs[at++] = value / 2;
        for (const step of steps) inputs[at++] = (here[within(k + step, top)] ?? 0) / 3;
        const comb = Math.cos((2 * Math.PI * k) / spacing);
        inputs[at++] = comb * strength;
        inputs[at++] = comb * path;
        inputs[at++] = strength;
        inputs[at++] = path;
        inputs[at++] = Math.log2(pitch.hz / 150);
        const octave = (octaves[k] ?? 0) / 2;
        inputs[at++] = octave;
        inputs[at++] = octave * octave;
      }
    },
  };
}

const EMPTY = new Float32Array(0);
const SIDE_BINS = [-3, 3, -4, 4, -6, 6, -8, 8, -12, 12];
/** Neighbours in units of the pitch: harmonics, and the valleys between. */
const HARMONIC_STEPS = [-2, -1, -0.5, 0.5, 1, 2];
/** Values that the network sees of each bin. */
export const GAIN_INPUTS = 7 * 5 + SIDE_BINS.length + 4 + 4 + 5 + 5 + 4 + HARMONIC_STEPS.length + 5 + 2;

function within(bin: number, end: number): number {
  return bin < 0 ? 0 : bin >= end ? end - 1 : bin;
}

/** A pitch may move by this many quarter tones from frame to frame (21 ms), and what each costs. */
const GLIDE_STEPS = 3;
const GLIDE_COST = 0.25;

/**
 * Pitch of the middle frame on the best path through all frames (Viterbi 1967, as in pitch tracking since Secrest and
 * Doddington 1983): a voice glides, gusts do not.
 */
function followPitch(around: readonly FrameView[]): { hz: number; score: number; pathScore: number } {
  const count = PITCHES_HZ.length;
  const walk = (frames: readonly number[]): Float32Array => {
    let total = new Float32Array(count);
    for (const frame of frames) {
      const scores = around[frame]?.pitchScores ?? EMPTY;
      const next = new Float32Array(count);
      for (let j = 0; j < count; j++) {
        let best = Number.NEGATIVE_INFINITY;
        for (let d = -GLIDE_STEPS; d <= GLIDE_STEPS; d++) {
          const from = j + d;
          if (from < 0 || from >= count) continue;
          const value = (total[from] ?? 0) - GLIDE_COST * Math.abs(d);
          if (value > best) best = value;
        }
        next[j] = best + (scores[j] ?? 0);
      }
      total = next;
    }
    return total;
  };
  const last = around.length - 1;
  const middle = Math.min(last, REACH_FRAMES);
  const before = walk(Array.from({ length: middle + 1 }, (_, i) => i));
  const behind = walk(Array.from({ length: last - middle + 1 }, (_, i) => last - i));
  const here = around[middle]?.pitchScores ?? EMPTY;
  let best = 0;
  let most = Number.NEGATIVE_INFINITY;
  for (let j = 0; j < count; j++) {
    const sum = (before[j] ?? 0) + (behind[j] ?? 0) - (here[j] ?? 0);
    if (sum > most) {
      most = sum;
      best = j;
    }
  }
  return { hz: PITCHES_HZ[best] ?? 70, score: here[best] ?? 0, pathScore: most / around.length };
}

function boxMean(values: Float32Array, count: number): Float32Array {
  const sums = new Float64Array(values.length + 2 * SMOOTH_BINS + 2);
  for (let i = 0; i < sums.length - 1; i++) {
    sums[i + 1] = (sums[i] ?? 0) + (values[within(i - SMOOTH_BINS, values.length)] ?? 0);
  }
  const width = 2 * SMOOTH_BINS + 1;
  return Float32Array.from({ length: count }, (_, k) => ((sums[k + width] ?? 0) - (sums[k] ?? 0)) / width);
}
