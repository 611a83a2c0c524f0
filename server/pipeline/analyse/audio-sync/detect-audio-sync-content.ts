import { deviation, mean, median } from '#server/media/signal/signal.ts';

/** Motion of the pictures: for each one, the difference to the one before and the time it is shown. */
export interface MotionSeries {
  readonly motion: readonly number[];
  readonly frameTimesMs: readonly number[];
}

/** Strength of onsets (sudden starts) in the sound, and the time of each value, ms. */
export interface OnsetSeries {
  readonly strength: ArrayLike<number>;
  readonly timesMs: ArrayLike<number>;
}

/**
 * Limits for acting on content. Measured on real clips whose sound was moved by known amounts: talking heads, music and
 * street scenes stay below them; hits, claps and drops that are both seen and heard lie above.
 */
export const CONTENT_LIMITS = {
  /** Range of offsets that is searched, ms on each side. */
  reachMs: 1500,
  stepMs: 5,
  /** Least height of the peak of the cross-correlation above its surroundings, in standard deviations. */
  prominence: 7,
  /** Highest second peak, as a share of the main one. */
  rivalShare: 0.6,
  /** Peaks of at least this share of the highest are equal to it: the events come in a regular beat. */
  equalShare: 0.85,
  /** Of equal peaks, the one nearest to zero is taken when the second is this much farther away, ms,... */
  aloneMs: 150,
  /** ...and lies beyond the offsets that occur in practice. */
  secondMs: 550,
  /** Least number of events that support the peak. */
  leastEvents: 4,
  /** The two halves of the clip must give the same offset within this, ms. */
  agreementMs: 45,
  /** Early sound: detectable from 45 ms (ITU-R BT.1359-1). */
  offsetMs: 45,
  /**
   * Late sound: detectable from 125 ms. Clips that are cut to music change a picture or two before the beat (45 to 55
   * ms seen).
   */
  lateMs: 80,
} as const;

export interface ContentEvidence {
  /** Sound minus picture, ms. */
  readonly offsetMs: number;
  /** Height of the peak above the rest of the correlation, in standard deviations. */
  readonly prominence: number;
  readonly rivalShare: number;
  /** Number of sudden starts of motion that were used. */
  readonly events: number;
  /** True when both halves of the events give the same offset. */
  readonly halvesAgree: boolean;
}

export interface PictureEvent {
  readonly timeMs: number;
  readonly strength: number;
}

/** Motion is compared with that of this long before, ms, of which at least this many pictures are needed. */
const BEFORE_MS = 500;
const LEAST_BEFORE = 3;
/**
 * Rise from which motion is an event of strength 1: grey levels that are noise, a share of the usual motion before, and
 * so many times its scatter (median absolute deviation).
 */
const RISE = { noise: 0.5, levelShare: 0.5, spreads: 3 } as const;
/** It also moves this many times more than the picture before, or the motion started earlier. */
const START_RATIO = 1.3;
/** Stronger events count as this, so that a cut does not outweigh all others. */
const MOST_STRENGTH = 4;
/** Starts within this time are one event, ms... */
const ONE_EVENT_MS = 250;
/** ...seen at the first of them, unless a later one is this many times stronger. */
const OUTDOES = 1.5;

/**
 * Finds sudden starts of motion: pictures whose motion stands far above the half second before. A cut counts as one
 * too. At most four a second: within 250 ms the first one counts, unless a later one is much stronger.
 */
export function motionStarts({ motion, frameTimesMs }: MotionSeries): PictureEvent[] {
  const events: PictureEvent[] = [];
  let from = 0;
  for (let i = LEAST_BEFORE; i < motion.length; i++) {
    const now = frameTimesMs[i] ?? 0;
    while ((frameTimesMs[from] ?? 0) < now - BEFORE_MS) from++;
    const before = motion.slice(from, i);
    if (before.length < LEAST_BEFORE) continue;
    const level = median(before);
    const spread = median(before.map((value) => Math.abs(value - level)));
    const rise = (motion[i] ?? 0) - level;
    const strength = rise / (RISE.noise + RISE.levelShare * level + RISE.spreads * spread);
    // The event began between the previous picture and this one, or right when this one was taken; a third of the way
    // back is the estimate.
    const timeMs = now - (now - (frameTimesMs[i - 1] ?? now)) / 3;
    if (strength > 1 && (motion[i] ?? 0) > (motion[i - 1] ?? 0) * START_RATIO) {
      const last = events.at(-1);
      if (last && timeMs - last.timeMs < ONE_EVENT_MS) {
        // Something that appears and vanishes within this time is one event, seen when it appears.
        if (strength > OUTDOES * last.strength) events[events.length - 1] = { timeMs, strength };
      } else events.push({ timeMs, strength });
    }
  }
  return events.map((event) => ({ ...event, strength: Math.min(MOST_STRENGTH, event.strength) }));
}

/**
 * Offset between what is seen and what is heard: sums the sound's onsets around every sudden start of motion
 * (event-triggered cross-correlation).
 * @returns null when there is nothing to compare
 */
export function contentOffset(picture: MotionSeries, sound: OnsetSeries): ContentEvidence | null {
  const events = motionStarts(picture);
  if (events.length < 2 || sound.strength.length < 10) return null;
  const grid = toOnsetGrid(sound);
  const whole = correlate(events, grid);
  const peak = findPeak(whole, events.length);
  if (!peak) return null;
  const of = (part: readonly PictureEvent[]) => findPeak(correlate(part, grid), part.length);
  const half = (parity: number) => of(events.filter((_, i) => i % 2 === parity));
  const odd = half(1);
  const even = half(0);
  const near = (other: { offsetMs: number } | null) =>
    other !== null && Math.abs(other.offsetMs - peak.offsetMs) <= CONTENT_LIMITS.agreementMs;
  return { ...peak, events: events.length, halvesAgree: near(odd) && near(even) };
}

/** True when the evidence is strong enough to move the sound. */
export function isConvincing(evidence: ContentEvidence): boolean {
  return (
    evidence.events >= CONTENT_LIMITS.leastEvents &&
    evidence.prominence >= CONTENT_LIMITS.prominence &&
    evidence.rivalShare <= CONTENT_LIMITS.rivalShare &&
    evidence.halvesAgree
  );
}

/** Onset strength on a regular grid of `CONTENT_LIMITS.stepMs`, with the mean removed. */
export interface OnsetGrid {
  readonly startMs: number;
  readonly values: Float64Array;
}

/** Deviation of the bell that each onset is spread over, ms: half a picture at 30 a second. */
const SPREAD_MS = 15;

/** Puts onsets on a grid: compressed, so that one bang does not outweigh ten taps, and spread over some cells. */
export function toOnsetGrid({ strength, timesMs }: OnsetSeries): OnsetGrid {
  const { stepMs } = CONTENT_LIMITS;
  const deviationCells = SPREAD_MS / stepMs;
  const reach = 2 * deviationCells;
  const startMs = timesMs[0] ?? 0;
  const endMs = timesMs[timesMs.length - 1] ?? startMs;
  const values = new Float64Array(Math.ceil((endMs - startMs) / stepMs) + 1);
  const level = mean(strength) + 1e-9;
  for (let i = 0; i < strength.length; i++) {
    const cell = Math.round(((timesMs[i] ?? 0) - startMs) / stepMs);
    const value = Math.log1p((strength[i] ?? 0) / level);
    for (let d = -reach; d <= reach; d++) {
      const at = cell + d;
      if (at < 0 || at >= values.length) continue;
      values[at] = Math.max(values[at] ?? 0, value * Math.exp(-0.5 * (d / deviationCells) ** 2));
    }
  }
  const centre = mean(values);
  return { startMs, values: values.map((value) => value - centre) };
}

function correlate(events: readonly PictureEvent[], grid: OnsetGrid): Float64Array {
  const { reachMs, stepMs } = CONTENT_LIMITS;
  const reach = Math.round(reachMs / stepMs);
  const sum = new Float64Array(2 * reach + 1);
  for (const event of events) {
    const cell = Math.round((event.timeMs - grid.startMs) / stepMs);
    for (let lag = -reach; lag <= reach; lag++) {
      const value = grid.values[cell + lag];
      if (value !== undefined) sum[lag + reach] = (sum[lag + reach] ?? 0) + event.strength * value;
    }
  }
  return sum;
}

interface Peak {
  readonly offsetMs: number;
  readonly prominence: number;
  readonly rivalShare: number;
}

/** Values this close to a peak belong to it, ms. */
const PEAK_REACH_MS = 100;

/**
 * The shift that explains most events; a regular beat fits at every period. When two explain equally many, to half an
 * event, the one nearest to zero is taken if the next one is far enough away.
 */
function findPeak(sum: Float64Array, events: number): Peak | null {
  const { reachMs, stepMs, equalShare, aloneMs, secondMs } = CONTENT_LIMITS;
  const reach = Math.round(reachMs / stepMs);
  const guard = Math.round(PEAK_REACH_MS / stepMs);
  const centre = median(sum);
  let top = 0;
  for (const value of sum) top = Math.max(top, value - centre);
  if (top <= 0) return null;
  const tops: number[] = [];
  for (let i = 0; i < sum.length; i++) {
    if ((sum[i] ?? 0) - centre < equalShare * top) continue;
    const last = tops.at(-1);
    if (last === undefined || i - last > guard) tops.push(i);
    else if ((sum[i] ?? 0) > (sum[last] ?? 0)) tops[tops.length - 1] = i;
  }
  const equal = tops
    .filter((i) => (sum[i] ?? 0) - centre >= top * (1 - 0.5 / events))
    .sort((a, b) => Math.abs(a - reach) - Math.abs(b - reach));
  const best = equal[0] ?? 0;
  const height = (sum[best] ?? 0) - centre;
  const nextMs = equal[1] === undefined ? reachMs : Math.abs(equal[1] - reach) * stepMs;
  const crowded =
    equal[1] !== undefined && (nextMs < secondMs || nextMs - Math.abs(best - reach) * stepMs < aloneMs);
  const others = sum.filter((_, i) => tops.every((peak) => Math.abs(i - peak) > guard));
  const spread = deviation(others);
  if (!(spread > 0)) return null;
  const rival = Math.max(...others) - centre;
  return {
    offsetMs: (best - reach) * stepMs,
    prominence: height / spread,
    rivalShare: crowded ? 1 : rival / height,
  };
}
