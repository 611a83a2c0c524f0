import type { SpeechSpan } from '#server/pipeline/analyse/analysis.ts';

/** Moments looked at in a second: a cut is placed to a fifth of a second, which is what people read. */
export const SAMPLES_PER_S = 5;
export const STEP_MS = 1000 / SAMPLES_PER_S;

/** What one look at a picture gives. */
export interface PictureFigures {
  /** Mean brightness, 0 to 255. */
  readonly luma: number;
  /** Standard deviation of the brightness: near 0 in black, white and plain pictures. */
  readonly contrast: number;
  /** Mean saturation (largest less smallest colour channel, of the largest), 0 to 1. */
  readonly saturation: number;
  /** Mean difference of brightness to the look before, 0 to 255. */
  readonly change: number;
  /** Share of the picture whose colour class is another than in the look before, 0 to 1. */
  readonly colourChange: number;
}

/** A clip as its story is told from: one value a step, times from the start of the clip. */
export interface ClipSeries {
  readonly durationMs: number;
  /** Empty without a picture. */
  readonly pictures: readonly PictureFigures[];
  /** Level of the sound in each step, dBFS; empty without sound. */
  readonly levelsDb: readonly number[];
  /** Stretches in which somebody speaks, as they were timed for the captions. */
  readonly speech: readonly SpeechSpan[];
}
