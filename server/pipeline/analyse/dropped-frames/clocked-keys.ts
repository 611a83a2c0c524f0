import type { PictureTimes } from '../analysis.ts';

/** Keys this close together are in every window of steps, and what they change is the clip's usual change. */
const LEAST_DISTANCE = 20;
/** At least this many keys must have followed the one before at the same distance for it to be the encoder's. */
const LEAST_ALIKE = 2;

/**
 * Key pictures that come when the encoder's count of pictures is full, not because the picture changed. There the whole
 * picture is coded anew, and at low rates it changes as if it had moved farther. Where pictures were lost from coded
 * video in front of a key picture, the distance is shorter.
 * @returns by decoded picture
 */
export function clockedKeys(
  { keyframe }: Pick<PictureTimes, 'keyframe'>,
  frameOfDecoded: readonly number[],
): ReadonlySet<number> {
  const keys = frameOfDecoded.flatMap((frame, decoded) => (keyframe[frame] ? [decoded] : []));
  const distances = keys.slice(1).map((key, before) => key - (keys[before] ?? 0));
  const full = Math.max(0, ...distances);
  const isClock = full >= LEAST_DISTANCE && distances.filter((one) => one === full).length >= LEAST_ALIKE;
  return new Set(isClock ? keys.slice(1).filter((_, at) => distances[at] === full) : []);
}
