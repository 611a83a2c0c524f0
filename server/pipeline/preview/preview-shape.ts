/** Pictures per second as a fraction, the form in which rates are exact. */
export interface Rate {
  readonly num: number;
  readonly den: number;
}

/** The rates of the film and television standards (SMPTE ST 2036-1 table 2, halves of the fast ones). */
const STANDARD_RATES: readonly Rate[] = [
  { num: 24_000, den: 1001 },
  { num: 24, den: 1 },
  { num: 25, den: 1 },
  { num: 30_000, den: 1001 },
  { num: 30, den: 1 },
];
/** At a higher rate, a preview shows every second picture, and so on: it shows what changed, not smoothness. */
const MOST_RATE = 31;
const LEAST_RATE = 5;
const DEFAULT_RATE: Rate = { num: 30, den: 1 };

/**
 * The rate of a preview is the clip's, because any other would repeat pictures and look like the defect itself; it is
 * halved until it is at most 31 a second.
 */
export function previewRate(frameRate: number | null): Rate {
  if (frameRate === null || !Number.isFinite(frameRate) || frameRate <= 0) return DEFAULT_RATE;
  let rate = frameRate;
  while (rate > MOST_RATE) rate /= 2;
  rate = Math.max(LEAST_RATE, rate);
  const near = STANDARD_RATES.find(({ num, den }) => Math.abs(num / den - rate) < 0.005);
  return near ?? { num: Math.round(rate * 1000), den: 1000 };
}

const SHORT_SIDE_PX = 480;
const LONG_SIDE_PX = 854;

/** Size of one half: the clip's shape, at most 854 x 480 or 480 x 854, never larger than the clip, even sides. */
export function evenSize(width: number, height: number): { width: number; height: number } {
  const factor = Math.min(1, SHORT_SIDE_PX / Math.min(width, height), LONG_SIDE_PX / Math.max(width, height));
  const even = (side: number) => Math.max(2, Math.round((side * factor) / 2) * 2);
  return { width: even(width), height: even(height) };
}
