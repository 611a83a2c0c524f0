import type { DenseMemory } from '#server/media/network/dense-kernel.ts';
import { GAIN_BINS, LOCAL_VALUES, type FrameView } from './repair-wind-noise-features.ts';
import {
  BIN_REACH,
  BIN_VALUES,
  COARSE,
  FINE,
  MIDDLE,
  MIDDLE_PLACES,
  PATCH_VALUES,
  PLACES,
  TIME_REACH,
  type GainNetwork,
} from './repair-wind-noise-network-sizes.ts';

/** Numbers of a frame after the first and the second layer, including the places beyond both ends that stay zero. */
const FINE_NUMBERS = (GAIN_BINS + 2 * BIN_REACH) * FINE;
const MIDDLE_NUMBERS = (MIDDLE_PLACES + 2 * BIN_REACH) * MIDDLE;
const PATCHES_START = BIN_REACH * PATCH_VALUES;
const PATCHES_END = (BIN_REACH + GAIN_BINS) * PATCH_VALUES;

/** The network's way down, whose outputs are kept for each frame of a run. */
export interface WayDown {
  readonly fine: Float32Array;
  readonly middle: Float32Array;
  /** For each frame and place `COARSE` numbers. */
  readonly coarse: Float32Array;
  /** Where the first place of a frame is. */
  fineAt(frame: number): number;
  middleAt(frame: number): number;
  /**
   * Runs the three layers for a frame; frames come in order.
   * @param first index of frame 0 in `views`; where there is no view before or after, zeros are seen
   */
  run(views: readonly FrameView[], first: number, frame: number): void;
}

/**
 * Makes the three convolutions of the way down. The first sees seven frames of five bins, the others five places of the
 * layer before, in steps of two.
 */
export function createGainDescent(memory: DenseMemory, network: GainNetwork, mostFrames: number): WayDown {
  const fineLayer = memory.layer(network.fine);
  const middleLayer = memory.layer(network.middle);
  const coarseLayer = memory.layer(network.coarse);
  const patches = memory.take((GAIN_BINS + 2 * BIN_REACH) * PATCH_VALUES);
  const each = (numbers: number) => memory.take((mostFrames + 1) * numbers);
  const [fine, middle, coarse] = [each(FINE_NUMBERS), each(MIDDLE_NUMBERS), each(PLACES * COARSE)];
  const fineAt = (frame: number) => frame * FINE_NUMBERS + BIN_REACH * FINE;
  const middleAt = (frame: number) => frame * MIDDLE_NUMBERS + BIN_REACH * MIDDLE;

  /** Puts a frame at one of the times of the patches. */
  const show = (view: FrameView | undefined, time: number) => {
    let to = PATCHES_START + time * BIN_VALUES;
    for (let k = 0, at = 0; k < GAIN_BINS; k++, to += PATCH_VALUES) {
      for (let v = 0; v < LOCAL_VALUES; v++, at++) patches[to + v] = view?.local[at] ?? 0;
      patches[to + LOCAL_VALUES] = view?.comb[k] ?? 0;
    }
  };

  const showAround = (views: readonly FrameView[], at: number, isFirst: boolean) => {
    if (isFirst) for (let t = 0; t < 2 * TIME_REACH; t++) show(views[at - TIME_REACH + t], t);
    // Everything moves by one time step; what arrives at the end of each bin is overwritten.
    else patches.copyWithin(PATCHES_START, PATCHES_START + BIN_VALUES, PATCHES_END);
    show(views[at + TIME_REACH], 2 * TIME_REACH);
  };

  return {
    fine,
    middle,
    coarse,
    fineAt,
    middleAt,
    run(views, first, frame) {
      showAround(views, first + frame, frame === 0);
      fineLayer.run({
        from: patches,
        rowNumbers: PATCH_VALUES,
        rows: GAIN_BINS,
        to: fine,
        toAt: fineAt(frame),
      });
      middleLayer.run({
        from: fine,
        fromAt: frame * FINE_NUMBERS,
        rowNumbers: 2 * FINE,
        rows: MIDDLE_PLACES,
        to: middle,
        toAt: middleAt(frame),
      });
      coarseLayer.run({
        from: middle,
        fromAt: frame * MIDDLE_NUMBERS,
        rowNumbers: 2 * MIDDLE,
        rows: PLACES,
        to: coarse,
        toAt: frame * PLACES * COARSE,
      });
    },
  };
}
