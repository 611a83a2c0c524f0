import type { UnderDamage } from './picture-task.ts';

/**
 * The pictures of a repaired clip as differences from the original. A picture that no span names stays as it is, with
 * its coded bytes where the container allows. Made by the frame and cut repairs, used by smart render, and by the full
 * encode if smart render declines.
 */
export type PixelSource =
  /**
   * A decoded picture of the original, by display number. `intact`: its own coded data are undamaged and at most show
   * damage of its reference pictures, so the data may stay.
   */
  | { readonly kind: 'original'; readonly frame: number; readonly intact?: boolean }
  /**
   * Picture `index` of a file of raw pictures laid end to end, in the stream's pixel format and coded size (no rotation
   * applied), with tightly packed planes as written by ffmpeg's `rawvideo`.
   */
  | { readonly kind: 'raw'; readonly path: string; readonly index: number };

export interface NewPicture {
  /** Presentation time on the result's axis, ticks of the original's video time base. */
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
  /**
   * Added to the times of all later original pictures, on top of the shifts of earlier spans; negative when time is
   * removed.
   */
  readonly shiftAfterTicks: number;
  /** Set if the span repairs damage: undamaged pictures that refer to it must stay exact, even if that takes bytes. */
  readonly mendsDamage?: boolean;
  /** Damaged pictures of the same group that an edit list hides before the first shown one: numbers below 0. */
  readonly hiddenFrames?: readonly number[];
  /** Set if it lies in a stretch whose damage another span repairs; `layOver` decides whose pictures are used. */
  readonly underDamage?: UnderDamage;
  /** Quality that the rebuilding method reached on true pictures nearby, dB; absent if none was tried. */
  readonly scoredDb?: number;
}

/** Sorted by `firstFrame`, not overlapping. */
export type PictureEdit = readonly ChangedSpan[];

/**
 * Display numbers of originals that keep their own place: damaged pictures as the decoder conceals them. Held pictures
 * take the places of others and do not count.
 */
export function keptFrames({ firstFrame, endFrame, pictures }: ChangedSpan): number[] {
  return pictures.flatMap(({ pixels }) => {
    return pixels.kind === 'original' && pixels.frame >= firstFrame && pixels.frame < endFrame
      ? [pixels.frame]
      : [];
  });
}
