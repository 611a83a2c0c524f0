import type { DisplayOrder } from '#server/media/mp4/display-order.ts';
import type { ChangedSpan, PictureEdit } from '../picture-edit.ts';

/** Originals that stand in their own place again, display numbers: damaged pictures as the decoder conceals their loss. */
export function keptFrames({ firstFrame, endFrame, pictures }: ChangedSpan): number[] {
  return pictures.flatMap(({ pixels }) => {
    return pixels.kind === 'original' && pixels.frame >= firstFrame && pixels.frame < endFrame
      ? [pixels.frame]
      : [];
  });
}

/**
 * Places from which no damaged picture that is kept as decoded may be decoded on: those of such pictures, and of all others of a
 * damaged stretch that has some. A key picture that is rebuilt itself is as damaged as they are: alone the decoder fills it from
 * nothing, and what refers to it with it (36 dB as uploaded, 20 dB decoded from there).
 */
export function damagedPlaces(edit: PictureEdit, order: DisplayOrder): Set<number> {
  const frames = edit.flatMap((span) => {
    const { firstFrame, endFrame, mendsDamage, hiddenFrames = [] } = span;
    const kept = keptFrames(span);
    const isMixed = mendsDamage === true && kept.length > 0;
    const own = isMixed ? Array.from({ length: endFrame - firstFrame }, (_, at) => firstFrame + at) : kept;
    return [...own, ...hiddenFrames];
  });
  return new Set(frames.map((frame) => frame + order.firstShown));
}
