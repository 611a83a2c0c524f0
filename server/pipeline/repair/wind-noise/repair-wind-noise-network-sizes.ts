import type { DenseWeights } from '#server/media/network/dense-kernel.ts';
import type { RecurrentWeights } from '#server/media/network/recurrent-kernel.ts';
import { BANDS, GAIN_BINS, LOCAL_VALUES } from './repair-wind-noise-features.ts';
import { PITCHES } from './repair-wind-noise-pitch.ts';
import { GAIN_NETWORK } from './repair-wind-noise-weights.ts';

// All sizes were fixed when the network was trained; they fit the stored weights and no others.

/** Frames on each side that the first layer sees. */
export const TIME_REACH = 3;
/** Bins or places on each side that each layer of the way down sees, and how many that makes with the middle one. */
export const BIN_REACH = 2;
const PATCH_BINS = 2 * BIN_REACH + 1;
/** Values that the first layer sees of each bin and frame: those of the view and the comb of the pitch. */
export const BIN_VALUES = LOCAL_VALUES + 1;
/** The same over all frames that it sees. */
export const PATCH_VALUES = (2 * TIME_REACH + 1) * BIN_VALUES;

/** Channels of the layers on the way down. */
export const FINE = 16;
export const MIDDLE = 32;
export const COARSE = 32;
/** Places of the middle and the coarse layer; one covers two of the layer before. */
export const MIDDLE_PLACES = GAIN_BINS / 2;
export const PLACES = GAIN_BINS / 4;

/** Numbers of a frame's summary, and units of the memory of frames in each direction. */
export const SUMMARY = 80;
export const FRAME_UNITS = 64;
/** Inputs of that memory: the summary, the bands above, the steps of the level to both sides, the pitch scores. */
export const FRAME_INPUTS = SUMMARY + BANDS + 2 + PITCHES;
/** Numbers that it tells each place, and units of the places' own memory in each direction. */
export const TOLD = 16;
export const PLACE_UNITS = 24;
export const PLACE_INPUTS = COARSE + TOLD;
export const PLACE_OUTPUTS = 2 * PLACE_UNITS;

/** Channels of both layers on the way up, and places on each side that they see. */
export const RISING = 16;
export const RISE_REACH = 1;
const RISE_BINS = 2 * RISE_REACH + 1;
/** Inputs of these layers: what comes from below, and the same places from the way down. */
export const RISE_MIDDLE = PLACE_OUTPUTS + MIDDLE;
export const RISE_FINE = RISING + FINE;

/** The layers in the order of their weights; what each does is told in `repair-wind-noise-network.ts`. */
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

/** The weights as numbers: each stored byte times the scale of its row. */
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
    fine: take(PATCH_BINS * PATCH_VALUES, FINE, true),
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
