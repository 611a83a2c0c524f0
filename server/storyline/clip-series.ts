import type { SpeechSpan } from '#server/pipeline/analyse/analysis.ts';

/** Pictures sampled per second; a cut is placed to a fifth of a second, the precision that people read. */
export const SAMPLES_PER_S = 5;
export const STEP_MS = 1000 / SAMPLES_PER_S;

/** Measurements of one sampled picture. */
export interface PictureFigures {
  /** Mean brightness, 0 to 255. */
  readonly luma: number;
  /** Standard deviation of the brightness, 0 to 255; near 0 in black, white and plain pictures. */
  readonly contrast: number;
  /** Mean saturation, 0 to 1: the difference of the largest and smallest colour channel, divided by the largest. */
  readonly saturation: number;
  /** Mean difference in brightness from the previous sample, 0 to 255. */
  readonly change: number;
  /** Share of the picture whose colour class differs from the previous sample, 0 to 1. */
  readonly colourChange: number;
}

/** The measurements that a storyline is made from: one value per step, times from the start of the clip. */
export interface ClipSeries {
  readonly durationMs: number;
  /** Empty when there is no picture. */
  readonly pictures: readonly PictureFigures[];
  /** Sound level in each step, dBFS; empty without sound. */
  readonly levelsDb: readonly number[];
  /** Stretches in which somebody speaks, as timed for the captions. */
  readonly speech: readonly SpeechSpan[];
}
