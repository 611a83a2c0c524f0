import { createDenseMemory, type DenseWeights } from '#server/media/dense-kernel.ts';
import { createRecurrentLayer, type RecurrentWeights } from '#server/media/recurrent-kernel.ts';
import {
  BANDS,
  GAIN_BINS,
  LEVEL_REACH,
  levelStep,
  LOCAL_VALUES,
  type FrameView,
} from './repair-wind-noise-features.ts';
import { createPitchFollower, PITCHES, SCORE_SCALE } from './repair-wind-noise-pitch.ts';
import { GAIN_NETWORK } from './repair-wind-noise-weights.ts';

/** Frames to each side that the first layer sees, and bins to each side that each layer sees. */
const TIME_REACH = 3;
const BIN_REACH = 2;
const PATCH_BINS = 2 * BIN_REACH + 1;
/** Values of each bin that it sees: those of the view and the comb of the pitch. */
const BIN_VALUES = LOCAL_VALUES + 1;
const TIMES = (2 * TIME_REACH + 1) * BIN_VALUES;
/** Channels and places of the layers: every second layer's place stands for two of the one before. */
const FINE = 16;
const MIDDLE = 32;
const COARSE = 32;
const MIDDLE_PLACES = GAIN_BINS / 2;
const PLACES = GAIN_BINS / 4;
/** Units of the summary of a frame, of its memory, what that tells each place, and of each place's own memory. */
const SUMMARY = 80;
const FRAME_UNITS = 64;
const TOLD = 16;
const PLACE_UNITS = 24;
const RISING = 16;
const RISE_REACH = 1;
const RISE_BINS = 2 * RISE_REACH + 1;
const FRAME_INPUTS = SUMMARY + BANDS + 2 + PITCHES;
const PLACE_INPUTS = COARSE + TOLD;
const PLACE_OUTPUTS = 2 * PLACE_UNITS;
/** Inputs of the two rising layers: what comes from below, and the same places on the way down. */
const RISE_MIDDLE = PLACE_OUTPUTS + MIDDLE;
const RISE_FINE = RISING + FINE;

/** Scores of pitches are kept within this range. */
const LEAST_SCORE = -8;
const MOST_SCORE = 12;

/** Room for the weights and the arrays of one frame, and for those of each frame of a run. */
const CAPACITY = 400_000;
const FRAME_NUMBERS = 17_000;

/** Frames before those that are asked for, which a run looks at. */
export const VIEWS_BEFORE = LEVEL_REACH;

/** The layers in the order of the weights. */
export interface GainNetwork {
  readonly fine: DenseWeights;
  readonly middle: DenseWeights;
  readonly coarse: DenseWeights;
  readonly summary: DenseWeights;
  readonly frameForward: RecurrentWeights;
  readonly frameBackward: RecurrentWeights;
  readonly told: DenseWeights;
  readonly placeForward: RecurrentWeights;
  readonly placeBackward: RecurrentWeights;
  readonly riseMiddle: DenseWeights;
  readonly riseFine: DenseWeights;
  readonly gain: DenseWeights;
}

/** The weights as numbers; a pure function. */
export function readGainNetwork(): GainNetwork {
  const bytes = Buffer.from(GAIN_NETWORK.weights, 'base64');
  let at = 0;
  let row = 0;
  const take = (inputs: number, neurons: number, rectified: boolean): DenseWeights => {
    const rows = new Float32Array(neurons * (inputs + 1));
    for (let n = 0; n < neurons; n++, row++) {
      const scale = GAIN_NETWORK.scales[row] ?? 0;
      for (let i = 0; i <= inputs; i++) rows[n * (inputs + 1) + i] = bytes.readInt8(at++) * scale;
    }
    return { inputs, rows, rectified };
  };
  const recurrent = (inputs: number, units: number): RecurrentWeights => ({
    input: take(inputs, 3 * units, false),
    state: take(units, 3 * units, false),
  });
  return {
    fine: take(PATCH_BINS * TIMES, FINE, true),
    middle: take(PATCH_BINS * FINE, MIDDLE, true),
    coarse: take(PATCH_BINS * MIDDLE, COARSE, true),
    summary: take(PLACES * COARSE, SUMMARY, true),
    frameForward: recurrent(FRAME_INPUTS, FRAME_UNITS),
    frameBackward: recurrent(FRAME_INPUTS, FRAME_UNITS),
    told: take(2 * FRAME_UNITS, PLACES * TOLD, true),
    placeForward: recurrent(PLACE_INPUTS, PLACE_UNITS),
    placeBackward: recurrent(PLACE_INPUTS, PLACE_UNITS),
    riseMiddle: take(RISE_BINS * RISE_MIDDLE, RISING, true),
    riseFine: take(RISE_BINS * RISE_FINE, RISING, true),
    gain: take(RISING, 1, false),
  };
}

export interface GainRun {
  /** Up to `VIEWS_BEFORE` frames before, the frames that are asked for, and some behind, as many as are known. */
  readonly views: readonly FrameView[];
  /** Place of the first frame that is asked for, and their number. */
  readonly first: number;
  readonly count: number;
}

/** Runs the network over a stream, block by block. */
export interface GainRunner {
  /**
   * Calls back for each frame with the share of each bin's amplitude that is voice, 0 to 1; the array is reused.
   * The state after the last of these frames is kept for the next run.
   */
  run(block: GainRun, onGains: (frame: number, gains: Float32Array) => void): void;
}

/** @param mostFrames frames of a run, those behind counted */
export function createGainRunner(network: GainNetwork, mostFrames: number): GainRunner {
  const memory = createDenseMemory(CAPACITY + FRAME_NUMBERS * mostFrames);
  const fine = memory.layer(network.fine);
  const middle = memory.layer(network.middle);
  const coarse = memory.layer(network.coarse);
  const summary = memory.layer(network.summary);
  const told = memory.layer(network.told);
  const riseMiddle = memory.layer(network.riseMiddle);
  const riseFine = memory.layer(network.riseFine);
  const gain = memory.layer(network.gain);
  const ofFrame = { sequences: 1, mostSteps: mostFrames };
  const frameForward = createRecurrentLayer(memory, network.frameForward, ofFrame);
  const frameBackward = createRecurrentLayer(memory, network.frameBackward, ofFrame);
  const ofPlace = { sequences: PLACES, mostSteps: mostFrames };
  const placeForward = createRecurrentLayer(memory, network.placeForward, ofPlace);
  const placeBackward = createRecurrentLayer(memory, network.placeBackward, ofPlace);

  const pitch = createPitchFollower(memory, GAIN_BINS);
  const patches = memory.take((GAIN_BINS + 2 * BIN_REACH) * TIMES);
  const each = (numbers: number) => {
    const all = memory.take((mostFrames + 1) * numbers);
    return { all, of: (frame: number) => all.subarray(frame * numbers, (frame + 1) * numbers) };
  };
  const fineOut = each((GAIN_BINS + 2 * BIN_REACH) * FINE);
  const middleOut = each((MIDDLE_PLACES + 2 * BIN_REACH) * MIDDLE);
  const coarseOut = each(PLACES * COARSE);
  const summaryOut = each(SUMMARY);
  const frameIn = each(FRAME_INPUTS);
  const frameOut = each(2 * FRAME_UNITS);
  const toldOut = each(PLACES * TOLD);
  const placeIn = each(PLACES * PLACE_INPUTS);
  const placeOut = each(PLACES * PLACE_OUTPUTS);
  const middleIn = memory.take((MIDDLE_PLACES + 2 * RISE_REACH) * RISE_MIDDLE);
  const middleRisen = memory.take(MIDDLE_PLACES * RISING);
  const fineIn = memory.take((GAIN_BINS + 2 * RISE_REACH) * RISE_FINE);
  const fineRisen = memory.take(GAIN_BINS * RISING);
  const gainOut = memory.take(GAIN_BINS * gain.width);
  const gains = new Float32Array(GAIN_BINS);

  const descend = (views: readonly FrameView[], at: number, frame: number) => {
    for (let t = -TIME_REACH; t <= TIME_REACH; t++) {
      const view = views[at + t];
      const to = BIN_REACH * TIMES + (t + TIME_REACH) * BIN_VALUES;
      for (let k = 0; k < GAIN_BINS; k++) {
        for (let v = 0; v < LOCAL_VALUES; v++) {
          patches[to + k * TIMES + v] = view?.local[k * LOCAL_VALUES + v] ?? 0;
        }
        patches[to + k * TIMES + LOCAL_VALUES] = view?.comb[k] ?? 0;
      }
    }
    // Layers write behind the places that stay zero at the low end.
    const [a, b] = [fineOut.of(frame), middleOut.of(frame)];
    const [aInner, bInner] = [a.subarray(BIN_REACH * FINE), b.subarray(BIN_REACH * MIDDLE)];
    fine.run({ from: patches, rowNumbers: TIMES, rows: GAIN_BINS, to: aInner });
    middle.run({ from: a, rowNumbers: 2 * FINE, rows: MIDDLE_PLACES, to: bInner });
    coarse.run({ from: b, rowNumbers: 2 * MIDDLE, rows: PLACES, to: coarseOut.of(frame) });
  };

  const rememberFrames = (views: readonly FrameView[], first: number, count: number, steps: number) => {
    summary.run({ from: coarseOut.all, rowNumbers: PLACES * COARSE, rows: steps, to: summaryOut.all });
    for (let frame = 0; frame < steps; frame++) {
      const inputs = frameIn.of(frame);
      const bands = views[first + frame]?.bands;
      inputs.set(summaryOut.of(frame));
      if (bands) inputs.set(bands, SUMMARY);
      inputs[SUMMARY + BANDS] = levelStep(views, first + frame, -1);
      inputs[SUMMARY + BANDS + 1] = levelStep(views, first + frame, 1);
      views[first + frame]?.scores.forEach((score, j) => {
        inputs[SUMMARY + BANDS + 2 + j] = Math.min(MOST_SCORE, Math.max(LEAST_SCORE, score)) / SCORE_SCALE;
      });
    }
    const run = { from: frameIn.all, rowNumbers: FRAME_INPUTS, steps, to: frameOut.all };
    frameForward.forward({ ...run, toRowNumbers: 2 * FRAME_UNITS, toFirst: 0 }, count);
    frameBackward.backward({ ...run, toRowNumbers: 2 * FRAME_UNITS, toFirst: FRAME_UNITS });
    told.run({ from: frameOut.all, rowNumbers: 2 * FRAME_UNITS, rows: steps, to: toldOut.all });
  };

  const rememberPlaces = (count: number, steps: number) => {
    for (let row = 0; row < steps * PLACES; row++) {
      placeIn.all.set(coarseOut.all.subarray(row * COARSE, (row + 1) * COARSE), row * PLACE_INPUTS);
      placeIn.all.set(toldOut.all.subarray(row * TOLD, (row + 1) * TOLD), row * PLACE_INPUTS + COARSE);
    }
    const run = {
      from: placeIn.all,
      rowNumbers: PLACE_INPUTS,
      to: placeOut.all,
      toRowNumbers: PLACE_OUTPUTS,
    };
    placeForward.forward({ ...run, steps: count, toFirst: 0 }, count);
    placeBackward.backward({ ...run, steps, toFirst: PLACE_UNITS });
  };

  const rise = (frame: number) => {
    const [below, beside, above] = [placeOut.of(frame), middleOut.of(frame), fineOut.of(frame)];
    join(middleIn, below, PLACE_OUTPUTS, beside, MIDDLE, MIDDLE_PLACES);
    riseMiddle.run({ from: middleIn, rowNumbers: RISE_MIDDLE, rows: MIDDLE_PLACES, to: middleRisen });
    join(fineIn, middleRisen, RISING, above, FINE, GAIN_BINS);
    riseFine.run({ from: fineIn, rowNumbers: RISE_FINE, rows: GAIN_BINS, to: fineRisen });
    gain.run({ from: fineRisen, rowNumbers: RISING, rows: GAIN_BINS, to: gainOut });
    for (let k = 0; k < GAIN_BINS; k++) gains[k] = 1 / (1 + Math.exp(-(gainOut[k * gain.width] ?? 0)));
  };

  return {
    run({ views, first, count }, onGains) {
      const steps = views.length - first;
      pitch.follow(views.slice(first), count);
      for (let frame = 0; frame < steps; frame++) descend(views, first + frame, frame);
      rememberFrames(views, first, count, steps);
      rememberPlaces(count, steps);
      for (let frame = 0; frame < count; frame++) {
        rise(frame);
        onGains(frame, gains);
      }
    },
  };
}

/** Each place of half as many below stands for two here; beside them what was there on the way down. */
function join(
  to: Float32Array,
  below: Float32Array,
  belowNumbers: number,
  beside: Float32Array,
  besideNumbers: number,
  places: number,
): void {
  const width = belowNumbers + besideNumbers;
  for (let place = 0; place < places; place++) {
    const at = (place + RISE_REACH) * width;
    const from = (place >> 1) * belowNumbers;
    const side = (place + BIN_REACH) * besideNumbers;
    for (let i = 0; i < belowNumbers; i++) to[at + i] = below[from + i] ?? 0;
    for (let i = 0; i < besideNumbers; i++) to[at + belowNumbers + i] = beside[side + i] ?? 0;
  }
}
