import { createDenseMemory, type CopiedRows, type DenseWeights } from '#server/media/network/dense-kernel.ts';
import { createRecurrentLayer, type RecurrentWeights } from '#server/media/network/recurrent-kernel.ts';
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

/** Frames on each side that the first layer sees, and bins on each side that each layer sees. */
const TIME_REACH = 3;
const BIN_REACH = 2;
const PATCH_BINS = 2 * BIN_REACH + 1;
/** Values that it sees of each bin: those of the view and the comb of the pitch. */
const BIN_VALUES = LOCAL_VALUES + 1;
const TIMES = (2 * TIME_REACH + 1) * BIN_VALUES;
/** Channels and places of the layers; a place of the middle and coarse layers covers two of the layer before. */
const FINE = 16;
const MIDDLE = 32;
const COARSE = 32;
const MIDDLE_PLACES = GAIN_BINS / 2;
const PLACES = GAIN_BINS / 4;
/** Units of a frame's summary, of its memory, of what that tells each place, and of each place's own memory. */
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
/** Inputs of the two rising layers: from below, and the same places from the way down. */
const RISE_MIDDLE = PLACE_OUTPUTS + MIDDLE;
const RISE_FINE = RISING + FINE;
/** Numbers of a frame after the first and the second layer, including the places that stay zero. */
const FINE_NUMBERS = (GAIN_BINS + 2 * BIN_REACH) * FINE;
const MIDDLE_NUMBERS = (MIDDLE_PLACES + 2 * BIN_REACH) * MIDDLE;
const PATCHES_END = (BIN_REACH + GAIN_BINS) * TIMES;

/** Pitch scores are limited to this range. */
const LEAST_SCORE = -8;
const MOST_SCORE = 12;

/** Memory for the weights and the arrays of one frame, and for those of each frame of a run. */
const CAPACITY = 400_000;
const FRAME_NUMBERS = 17_000;

/** Frames before the requested ones that a run looks at. */
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
  /** Up to `VIEWS_BEFORE` frames before, the requested frames, and as many after them as are known. */
  readonly views: readonly FrameView[];
  /** Index of the first requested frame, and number of requested frames. */
  readonly first: number;
  readonly count: number;
}

/** What the network remembers of a stream from one run to the next. */
export interface GainMemory {
  readonly pitch: Float32Array;
  readonly frame: Float32Array;
  readonly place: Float32Array;
}

/** Runs the network over streams, block by block. */
export interface GainRunner {
  /** The memory of a new stream. */
  begin(): GainMemory;
  /**
   * Calls back for each frame with the share of each bin's amplitude that is voice, 0 to 1; the array is reused. The
   * state after the last of these frames is kept in the memory of the stream.
   */
  run(block: GainRun, kept: GainMemory, onGains: (frame: number, gains: Float32Array) => void): void;
}

/** @param mostFrames frames of a run, including those after */
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

  const pitch = createPitchFollower(memory, GAIN_BINS, mostFrames);
  const patches = memory.take((GAIN_BINS + 2 * BIN_REACH) * TIMES);
  const each = (numbers: number) => memory.take((mostFrames + 1) * numbers);
  const fineOut = each(FINE_NUMBERS);
  const middleOut = each(MIDDLE_NUMBERS);
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

  /** Puts a frame at one of the times of the patches. */
  const show = (view: FrameView | undefined, time: number) => {
    let to = BIN_REACH * TIMES + time * BIN_VALUES;
    for (let k = 0, at = 0; k < GAIN_BINS; k++, to += TIMES) {
      for (let v = 0; v < LOCAL_VALUES; v++, at++) patches[to + v] = view?.local[at] ?? 0;
      patches[to + LOCAL_VALUES] = view?.comb[k] ?? 0;
    }
  };

  const descend = (views: readonly FrameView[], first: number, frame: number) => {
    const at = first + frame;
    if (frame === 0) for (let t = 0; t < 2 * TIME_REACH; t++) show(views[at - TIME_REACH + t], t);
    // Everything moves by one time step; what arrives at the end of each bin is overwritten.
    else patches.copyWithin(BIN_REACH * TIMES, BIN_REACH * TIMES + BIN_VALUES, PATCHES_END);
    show(views[at + TIME_REACH], 2 * TIME_REACH);
    // Layers write after the places that stay zero at the low end.
    const [a, b] = [frame * FINE_NUMBERS, frame * MIDDLE_NUMBERS];
    fine.run({
      from: patches,
      rowNumbers: TIMES,
      rows: GAIN_BINS,
      to: fineOut,
      toAt: a + BIN_REACH * FINE,
    });
    middle.run({
      from: fineOut,
      fromAt: a,
      rowNumbers: 2 * FINE,
      rows: MIDDLE_PLACES,
      to: middleOut,
      toAt: b + BIN_REACH * MIDDLE,
    });
    coarse.run({
      from: middleOut,
      fromAt: b,
      rowNumbers: 2 * MIDDLE,
      rows: PLACES,
      to: coarseOut,
      toAt: frame * PLACES * COARSE,
    });
  };

  const rememberFrames = ({ views, first, count }: GainRun, steps: number, kept: Float32Array) => {
    summary.run({ from: coarseOut, rowNumbers: PLACES * COARSE, rows: steps, to: summaryOut });
    for (let frame = 0; frame < steps; frame++) {
      const at = frame * FRAME_INPUTS;
      for (let i = 0; i < SUMMARY; i++) frameIn[at + i] = summaryOut[frame * SUMMARY + i] ?? 0;
      const view = views[first + frame];
      if (!view) continue;
      frameIn.set(view.bands, at + SUMMARY);
      frameIn[at + SUMMARY + BANDS] = levelStep(views, first + frame, -1);
      frameIn[at + SUMMARY + BANDS + 1] = levelStep(views, first + frame, 1);
      for (let j = 0; j < PITCHES; j++) {
        const score = Math.min(MOST_SCORE, Math.max(LEAST_SCORE, view.scores[j] ?? 0));
        frameIn[at + SUMMARY + BANDS + 2 + j] = score / SCORE_SCALE;
      }
    }
    const run = { from: frameIn, rowNumbers: FRAME_INPUTS, steps, to: frameOut };
    frameForward.forward({ ...run, toRowNumbers: 2 * FRAME_UNITS, toFirst: 0 }, kept, count);
    frameBackward.backward({ ...run, toRowNumbers: 2 * FRAME_UNITS, toFirst: FRAME_UNITS });
    told.run({ from: frameOut, rowNumbers: 2 * FRAME_UNITS, rows: steps, to: toldOut });
  };

  const rememberPlaces = (count: number, steps: number, kept: Float32Array) => {
    const into = { to: placeIn, toRowNumbers: PLACE_INPUTS, rows: steps * PLACES, fromAt: 0 };
    memory.copyRows({ ...into, from: coarseOut, fromRowNumbers: COARSE, toAt: 0, numbers: COARSE });
    memory.copyRows({ ...into, from: toldOut, fromRowNumbers: TOLD, toAt: COARSE, numbers: TOLD });
    const run = { from: placeIn, rowNumbers: PLACE_INPUTS, to: placeOut, toRowNumbers: PLACE_OUTPUTS };
    placeForward.forward({ ...run, steps: count, toFirst: 0 }, kept, count);
    placeBackward.backward({ ...run, steps, toFirst: PLACE_UNITS });
  };

  /** Each place of half as many below becomes two here, joined with the values from the way down. */
  const join = (to: Float32Array, places: number, below: Part, beside: Part) => {
    const width = below.numbers + beside.numbers;
    for (const half of [0, 1]) {
      memory.copyRows({
        ...below,
        fromRowNumbers: below.numbers,
        to,
        toAt: (RISE_REACH + half) * width,
        toRowNumbers: 2 * width,
        rows: places / 2,
      });
    }
    const toAt = RISE_REACH * width + below.numbers;
    memory.copyRows({
      ...beside,
      fromRowNumbers: beside.numbers,
      to,
      toAt,
      toRowNumbers: width,
      rows: places,
    });
  };

  const rise = (frame: number) => {
    join(
      middleIn,
      MIDDLE_PLACES,
      { from: placeOut, fromAt: frame * PLACES * PLACE_OUTPUTS, numbers: PLACE_OUTPUTS },
      { from: middleOut, fromAt: frame * MIDDLE_NUMBERS + BIN_REACH * MIDDLE, numbers: MIDDLE },
    );
    riseMiddle.run({ from: middleIn, rowNumbers: RISE_MIDDLE, rows: MIDDLE_PLACES, to: middleRisen });
    join(
      fineIn,
      GAIN_BINS,
      { from: middleRisen, fromAt: 0, numbers: RISING },
      { from: fineOut, fromAt: frame * FINE_NUMBERS + BIN_REACH * FINE, numbers: FINE },
    );
    riseFine.run({ from: fineIn, rowNumbers: RISE_FINE, rows: GAIN_BINS, to: fineRisen });
    gain.run({ from: fineRisen, rowNumbers: RISING, rows: GAIN_BINS, to: gainOut });
    for (let k = 0; k < GAIN_BINS; k++) gains[k] = 1 / (1 + Math.exp(-(gainOut[k * gain.width] ?? 0)));
  };

  return {
    begin: () => ({
      pitch: new Float32Array(PITCHES),
      frame: new Float32Array(frameForward.stateNumbers),
      place: new Float32Array(placeForward.stateNumbers),
    }),
    run(block, kept, onGains) {
      const { views, first, count } = block;
      const steps = views.length - first;
      pitch.follow(views.slice(first), kept.pitch, count);
      for (let frame = 0; frame < steps; frame++) descend(views, first, frame);
      rememberFrames(block, steps, kept.frame);
      rememberPlaces(count, steps, kept.place);
      for (let frame = 0; frame < count; frame++) {
        rise(frame);
        onGains(frame, gains);
      }
    },
  };
}

/** Contiguous rows of numbers. */
type Part = Pick<CopiedRows, 'from' | 'fromAt' | 'numbers'>;
