import type { DisplayOrder } from '#server/media/mp4/display-order.ts';
import { keptFrames, type PictureEdit } from '../picture-edit.ts';

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
