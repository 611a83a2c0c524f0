import type { AacFrame } from '#server/media/aac/aac-frame.ts';
import type { FrameSpan } from './splice-pieces.ts';

export interface JoinedFrames {
  readonly frames: readonly Buffer[];
  /** How many of them are the original's. */
  readonly kept: number;
}

/**
 * The frames of a sound with new ones in some stretches.
 * @param newFrame the frame for a place, by the number of its stretch
 * @returns null if one is missing
 */
export function joinFrames(
  frames: readonly (AacFrame | null)[],
  stretches: readonly FrameSpan[],
  newFrame: (stretch: number, place: number) => Buffer | undefined,
): JoinedFrames | null {
  const out = frames.map((frame) => frame?.bytes ?? null);
  let kept = frames.filter((frame) => frame !== null).length;
  for (const [stretch, { first, end }] of stretches.entries()) {
    for (let place = first; place < end; place += 1) {
      if (frames[place]) kept -= 1;
      out[place] = newFrame(stretch, place) ?? null;
    }
  }
  const whole = out.flatMap((frame) => frame ?? []);
  return whole.length === out.length ? { frames: whole, kept } : null;
}
