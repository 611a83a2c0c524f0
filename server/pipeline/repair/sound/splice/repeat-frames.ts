import type { AacFrame } from '#server/media/aac/aac-frame.ts';
import { quieterFrame } from '#server/media/aac/aac-gain.ts';
import type { FrameSpan } from './splice-pieces.ts';

/** Each repetition is this many gain steps quieter than the one before, 4.5 dB... */
const STEPS = 3;
/** ...until nothing is audible, 60 dB. */
const MOST_STEPS = 40;
/** Frames on either side among which one with long windows is searched. */
const REACH = 6;

/**
 * Makes coded frames for lost ones without an encoder, because no available one does spectral band replication. The
 * last frame before and the first one after are repeated, fading towards the middle.
 * @returns by place; undefined if no frame with long windows is near
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
