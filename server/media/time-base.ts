/** Seconds of one tick as a fraction: 1/90000 s is `{ num: 1, den: 90000 }`. */
export interface TimeBase {
  readonly num: number;
  readonly den: number;
}

/** Milliseconds of a time in ticks. */
export function ticksToMs(ticks: number, timeBase: TimeBase): number {
  return (ticks * timeBase.num * 1000) / timeBase.den;
}

/** A step of at least so many times the usual one has room for another picture; a lost picture makes at least 2. */
export const ROOM_FOR_ANOTHER = 1.5;
