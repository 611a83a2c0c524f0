import { createDenseMemory, type CopiedRows, type DenseMemory } from '#server/media/network/dense-kernel.ts';
import { createRecurrentLayer } from '#server/media/network/recurrent-kernel.ts';
import { clamp } from '#server/media/statistics.ts';
import { BANDS, GAIN_BINS, LEVEL_REACH, levelStep, type FrameView } from './repair-wind-noise-features.ts';
import { createGainDescent, type WayDown } from './repair-wind-noise-network-descent.ts';
import {
  COARSE,
  FINE,
  FRAME_INPUTS,
  FRAME_UNITS,
  MIDDLE,
  MIDDLE_PLACES,
  PLACES,
  PLACE_INPUTS,
  PLACE_OUTPUTS,
  PLACE_UNITS,
  RISE_FINE,
  RISE_MIDDLE,
  RISE_REACH,
  RISING,
  SUMMARY,
  TOLD,
  type GainNetwork,
} from './repair-wind-noise-network-sizes.ts';
import { createPitchFollower, PITCHES, SCORE_SCALE } from './repair-wind-noise-pitch.ts';

/** Pitch scores are limited to this range, as in training. */
const LEAST_SCORE = -8;
const MOST_SCORE = 12;

/** Numbers in memory for the weights and the arrays of one frame, and for those of each frame of a run. */
const CAPACITY = 400_000;
const FRAME_NUMBERS = 17_000;

/** Frames before the requested ones that a run looks at. */
export const VIEWS_BEFORE = LEVEL_REACH;

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

/**
 * Makes the gain network, a U-Net over frequency (Ronneberger et al. 2015) with memories at its bottom. On the way down
 * three convolutions make 128 bins to 32 places of a frame. There one memory follows the frame as a whole and another
 * each place, both forwards and backwards in time. On the way up two convolutions spread what the places know over the
 * bins, and the last layer gives each bin its gain.
 * @param mostFrames frames of a run, including those after
 */
export function createGainRunner(network: GainNetwork, mostFrames: number): GainRunner {
  const memory = createDenseMemory(CAPACITY + FRAME_NUMBERS * mostFrames);
  const pitch = createPitchFollower(memory, GAIN_BINS, mostFrames);
  const down = createGainDescent(memory, network, mostFrames);
  const frames = createFrameMemory(memory, network, down, mostFrames);
  const places = createPlaceMemory(memory, network, { down, told: frames.told, mostFrames });
  const up = createRise(memory, network, down, places.outputs);
  return {
    begin: () => ({
      pitch: new Float32Array(PITCHES),
      frame: new Float32Array(frames.stateNumbers),
      place: new Float32Array(places.stateNumbers),
    }),
    run(block, kept, onGains) {
      const { views, first, count } = block;
      const steps = views.length - first;
      pitch.follow(views.slice(first), kept.pitch, count);
      for (let frame = 0; frame < steps; frame++) down.run(views, first, frame);
      frames.run(block, kept.frame);
      places.run(count, steps, kept.place);
      for (let frame = 0; frame < count; frame++) onGains(frame, up(frame));
    },
  };
}

/** Follows each frame as a whole through time, and says what that tells each of its places. */
function createFrameMemory(memory: DenseMemory, network: GainNetwork, down: WayDown, mostFrames: number) {
  const summary = memory.layer(network.summary);
  const tellPlaces = memory.layer(network.told);
  const size = { sequences: 1, mostSteps: mostFrames };
  const forward = createRecurrentLayer(memory, network.frameForward, size);
  const backward = createRecurrentLayer(memory, network.frameBackward, size);
  const each = (numbers: number) => memory.take((mostFrames + 1) * numbers);
  const summaries = each(SUMMARY);
  const inputs = each(FRAME_INPUTS);
  const outputs = each(2 * FRAME_UNITS);
  const told = each(PLACES * TOLD);

  const setInputs = (views: readonly FrameView[], first: number, frame: number) => {
    const at = frame * FRAME_INPUTS;
    for (let i = 0; i < SUMMARY; i++) inputs[at + i] = summaries[frame * SUMMARY + i] ?? 0;
    const view = views[first + frame];
    if (!view) return;
    inputs.set(view.bands, at + SUMMARY);
    inputs[at + SUMMARY + BANDS] = levelStep(views, first + frame, -1);
    inputs[at + SUMMARY + BANDS + 1] = levelStep(views, first + frame, 1);
    for (let j = 0; j < PITCHES; j++) {
      const score = clamp(view.scores[j] ?? 0, LEAST_SCORE, MOST_SCORE);
      inputs[at + SUMMARY + BANDS + 2 + j] = score / SCORE_SCALE;
    }
  };

  return {
    /** For each frame `TOLD` numbers for each place. */
    told,
    stateNumbers: forward.stateNumbers,
    /** @param kept state before the first frame; becomes that after `count` frames */
    run({ views, first, count }: GainRun, kept: Float32Array) {
      const steps = views.length - first;
      summary.run({ from: down.coarse, rowNumbers: PLACES * COARSE, rows: steps, to: summaries });
      for (let frame = 0; frame < steps; frame++) setInputs(views, first, frame);
      const run = { from: inputs, rowNumbers: FRAME_INPUTS, steps, to: outputs };
      forward.forward({ ...run, toRowNumbers: 2 * FRAME_UNITS, toFirst: 0 }, kept, count);
      backward.backward({ ...run, toRowNumbers: 2 * FRAME_UNITS, toFirst: FRAME_UNITS });
      tellPlaces.run({ from: outputs, rowNumbers: 2 * FRAME_UNITS, rows: steps, to: told });
    },
  };
}

/** Follows each place through time; all places have the same weights. */
function createPlaceMemory(
  memory: DenseMemory,
  network: GainNetwork,
  given: { readonly down: WayDown; readonly told: Float32Array; readonly mostFrames: number },
) {
  const { down, told, mostFrames } = given;
  const size = { sequences: PLACES, mostSteps: mostFrames };
  const forward = createRecurrentLayer(memory, network.placeForward, size);
  const backward = createRecurrentLayer(memory, network.placeBackward, size);
  const inputs = memory.take((mostFrames + 1) * PLACES * PLACE_INPUTS);
  const outputs = memory.take((mostFrames + 1) * PLACES * PLACE_OUTPUTS);
  return {
    /** For each frame and place the units of both directions. */
    outputs,
    stateNumbers: forward.stateNumbers,
    /** @param kept state before the first frame; becomes that after `count` of the `steps` frames */
    run(count: number, steps: number, kept: Float32Array) {
      const into = { to: inputs, toRowNumbers: PLACE_INPUTS, rows: steps * PLACES, fromAt: 0 };
      memory.copyRows({ ...into, from: down.coarse, fromRowNumbers: COARSE, toAt: 0, numbers: COARSE });
      memory.copyRows({ ...into, from: told, fromRowNumbers: TOLD, toAt: COARSE, numbers: TOLD });
      const run = { from: inputs, rowNumbers: PLACE_INPUTS, to: outputs, toRowNumbers: PLACE_OUTPUTS };
      forward.forward({ ...run, steps: count, toFirst: 0 }, kept, count);
      backward.backward({ ...run, steps, toFirst: PLACE_UNITS });
    },
  };
}

/**
 * The way up: from the places of a frame over those of the middle layer to the bins.
 * @returns a function that computes the gains of a frame; its array is reused
 */
function createRise(
  memory: DenseMemory,
  network: GainNetwork,
  down: WayDown,
  placeOutputs: Float32Array,
): (frame: number) => Float32Array {
  const riseMiddle = memory.layer(network.riseMiddle);
  const riseFine = memory.layer(network.riseFine);
  const gain = memory.layer(network.gain);
  const middleIn = memory.take((MIDDLE_PLACES + 2 * RISE_REACH) * RISE_MIDDLE);
  const middleRisen = memory.take(MIDDLE_PLACES * RISING);
  const fineIn = memory.take((GAIN_BINS + 2 * RISE_REACH) * RISE_FINE);
  const fineRisen = memory.take(GAIN_BINS * RISING);
  const gainOut = memory.take(GAIN_BINS * gain.width);
  const gains = new Float32Array(GAIN_BINS);
  return (frame) => {
    joinRows(memory, { to: middleIn, places: MIDDLE_PLACES }, [
      { from: placeOutputs, fromAt: frame * PLACES * PLACE_OUTPUTS, numbers: PLACE_OUTPUTS },
      { from: down.middle, fromAt: down.middleAt(frame), numbers: MIDDLE },
    ]);
    riseMiddle.run({ from: middleIn, rowNumbers: RISE_MIDDLE, rows: MIDDLE_PLACES, to: middleRisen });
    joinRows(memory, { to: fineIn, places: GAIN_BINS }, [
      { from: middleRisen, fromAt: 0, numbers: RISING },
      { from: down.fine, fromAt: down.fineAt(frame), numbers: FINE },
    ]);
    riseFine.run({ from: fineIn, rowNumbers: RISE_FINE, rows: GAIN_BINS, to: fineRisen });
    gain.run({ from: fineRisen, rowNumbers: RISING, rows: GAIN_BINS, to: gainOut });
    for (let k = 0; k < GAIN_BINS; k++) gains[k] = 1 / (1 + Math.exp(-(gainOut[k * gain.width] ?? 0)));
    return gains;
  };
}

/** Contiguous rows of numbers. */
type Rows = Pick<CopiedRows, 'from' | 'fromAt' | 'numbers'>;

/**
 * Joins rows from below with rows from the way down. Each of half as many places below becomes two; `RISE_REACH` rows at
 * both ends stay zero.
 */
function joinRows(
  memory: DenseMemory,
  { to, places }: { readonly to: Float32Array; readonly places: number },
  [below, beside]: readonly [Rows, Rows],
): void {
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
  memory.copyRows({
    ...beside,
    fromRowNumbers: beside.numbers,
    to,
    toAt: RISE_REACH * width + below.numbers,
    toRowNumbers: width,
    rows: places,
  });
}
