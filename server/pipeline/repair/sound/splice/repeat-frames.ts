import type { AacFrame } from '#server/media/aac/aac-frame.ts';
import { quieterFrame } from '#server/media/aac/aac-gain.ts';
import type { FrameSpan } from './splice-pieces.ts';

/** Each repetition is so many steps quieter than the one before it, 4.5 dB... */
const STEPS = 3;
/** ...until nothing is heard, 60 dB. */
const MOST_STEPS = 40;
/** Frames on either side among which one with long windows is looked for. */
const REACH = 6;

/**
 * Coded frames for lost ones without an encoder, as none of those at hand replicates spectral bands: the last one in front and the first
 * one behind are repeated, fading towards the middle.
 * @returns by place; undefined where no frame with long windows is near
 */
export function repeatFrames(
  frames: readonly (AacFrame | null)[],
  { first, end }: FrameSpan,
): (place: number) => Buffer | undefined {
  const isLong = (frame: AacFrame | null | undefined) => frame?.beginsLong === true && frame.endsLong;
  const before = frames.slice(Math.max(0, first - REACH), first).findLast(isLong);
  const behind = frames.slice(end, end + REACH).find(isLong);
  return (place) => {
    const [since, until] = [place - first + 1, end - place];
    const isBefore = !behind || (before && since <= until);
    const source = isBefore ? before : behind;
    const away = Math.max(1, isBefore ? since : until);
    return source ? quieterFrame(source, Math.min(MOST_STEPS, STEPS * away)) : undefined;
  };
}
