import type { UnderDamage } from './picture-task.ts';

/**
 * The pictures of a repaired clip, said as differences to the original: every picture that no span names
 * stays as it is, coded bytes included where the container allows. Producer: the frame and cut repairs.
 * Consumers: smart render, and the full encode where smart render declines.
 */
export type PixelSource =
  /**
   * A decoded picture of the original, by display number. `intact`: its own coded data are whole, it shows damage
   * of pictures that it refers to at most, so that the data may stay.
   */
  | { readonly kind: 'original'; readonly frame: number; readonly intact?: boolean }
  /**
   * Picture `index` of a file of raw pictures laid end to end in the stream's own pixel format and coded
   * size (no rotation applied), tightly packed planes as ffmpeg's `rawvideo` writes them.
   */
  | { readonly kind: 'raw'; readonly path: string; readonly index: number };

export interface NewPicture {
  /** Presentation time on the result's axis, ticks of the original video time base. */
  readonly ptsTicks: number;
  readonly pixels: PixelSource;
}

export interface ChangedSpan {
  /** First original picture (display order) that is replaced. */
  readonly firstFrame: number;
  /** One past the last replaced picture; equal to `firstFrame` for a pure insertion before it. */
  readonly endFrame: number;
  /** What stands there instead; empty to remove. */
  readonly pictures: readonly NewPicture[];
  /** Added to the times of all later original pictures, on top of earlier spans' shifts; negative when time is removed. */
  readonly shiftAfterTicks: number;
  /** Set where the span mends damage: undamaged pictures that refer to it shall stay exact, also where that takes bytes. */
  readonly mendsDamage?: boolean;
  /** Pictures hidden before the first shown one, in the group of the span, whose data are damaged: numbers below 0. */
  readonly hiddenFrames?: readonly number[];
  /** Set where it lies in a stretch that another span mends the damage of; `layOver` settles whose pictures stand there. */
  readonly underDamage?: UnderDamage;
  /** What the method that rebuilt its pictures reached on true pictures beside them, dB; absent where none was tried. */
  readonly scoredDb?: number;
}

/** Sorted by `firstFrame`, not overlapping. */
export type PictureEdit = readonly ChangedSpan[];

/** Originals that stand in their own place again, display numbers: damaged pictures as the decoder conceals their loss; held ones stand for others. */
export function keptFrames({ firstFrame, endFrame, pictures }: ChangedSpan): number[] {
  return pictures.flatMap(({ pixels }) => {
    return pixels.kind === 'original' && pixels.frame >= firstFrame && pixels.frame < endFrame
      ? [pixels.frame]
      : [];
  });
}
