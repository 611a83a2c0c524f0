/** Seconds of one tick as a fraction: 1/90000 s is `{ num: 1, den: 90000 }`. */
export interface TimeBase {
  readonly num: number;
  readonly den: number;
}

/** Where a stream states none. */
export const IN_MS: TimeBase = { num: 1, den: 1000 };

/** The time base of a clip's pictures. */
export const pictureTimeBase = (info: {
  readonly video: readonly { readonly timeBase: TimeBase }[];
}): TimeBase => info.video[0]?.timeBase ?? IN_MS;

/** Milliseconds of a time in ticks. */
export function ticksToMs(ticks: number, timeBase: TimeBase): number {
  return (ticks * timeBase.num * 1000) / timeBase.den;
}

/** A step of at least so many times the usual one has room for another picture; a lost picture makes at least 2. */
export const ROOM_FOR_ANOTHER = 1.5;
