import type { DisplayOrder } from '#server/media/mp4/display-order.ts';
import { keptFrames, type PictureEdit } from '../picture-edit.ts';

/**
 * Places at which no decode of a damaged picture that stays as decoded may start: those of such pictures, and of all
 * others in the same damaged stretch. A rebuilt key picture is as damaged as they are. Decoded first, it is filled from
 * nothing, and so is what refers to it (20 dB decoded from there, 36 dB as uploaded).
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
