import {
  sampleOfTime,
  soundStartMs,
  timeOfSample,
  warmUpMs,
  type SoundClock,
} from '#server/media/signal/pcm-clock.ts';
import type { MeasuredCurve } from '../../analyse/analysis.ts';
import { CONTAINER_LIMITS } from '../../analyse/audio-sync/detect-audio-sync-container.ts';
import type { Filling } from './repair-audio-render.ts';
import { timeStretch, type SyncPlan } from './repair-audio-sync.ts';

/**
 * The clock of a sound as it is played without a break. The first frame of many recordings is the coder's warm-up and is said to last
 * until the second begins; played on at once, all behind it would come early by that. So it counts back from the second.
 */
export function withoutWarmUp(clock: SoundClock): SoundClock {
  const waitMs = warmUpMs(clock);
  if (waitMs < CONTAINER_LIMITS.holeMs) return clock;
  return { ...clock, startMs: [soundStartMs(clock) + waitMs, ...clock.startMs.slice(1)] };
}

/** What was put in before a sample of the original. */
export interface FilledHole {
  readonly beforeSample: number;
  readonly durationMs: number;
}

export const durationsOf = (fillings: readonly Filling[], { rateHz }: SoundClock): FilledHole[] =>
  fillings.map(({ beforeSample, sampleCount }) => ({
    beforeSample,
    durationMs: (sampleCount / rateHz) * 1000,
  }));

/** Where samples of the original are played after the repair, on the original's time axis. */
export interface SoundPlaces {
  /** Time at which the new sound plays a sample of the original, ms. */
  placedMs(sample: number): number;
  /** Time at which the plan wants it, ms. */
  wantedMs(sample: number): number;
}

/**
 * Where the samples of a mended sound lie: a time from the first sample of the original to the time from the first
 * sample of the new sound, both in ms.
 * @param filled holes of the original that were filled
 */
export function timesInMended(
  clock: SoundClock,
  plan: SyncPlan,
  filled: readonly FilledHole[],
): (ms: number) => number {
  return (ms) => {
    const sample = (ms * clock.rateHz) / 1000;
    return (ms + addedMs(filled, sample)) * plan.stretch;
  };
}

/** Length of what was filled in before a sample of the original or right at it, ms. */
function addedMs(filled: readonly FilledHole[], sample: number): number {
  return filled.filter((hole) => hole.beforeSample <= sample).reduce((sum, hole) => sum + hole.durationMs, 0);
}

/**
 * Places of a sound that was mended on its samples.
 * @param clock the original's, @param made that of the file with the new sound, measured by decoding it
 * @param filled holes of the original that were filled
 * @param fileStartMs when the new file begins, on the original's time axis; with the first decoded sample where left out
 */
export function soundPlaces(
  clock: SoundClock,
  made: SoundClock,
  plan: SyncPlan,
  filled: readonly FilledHole[],
  fileStartMs = soundStartMs(clock),
): SoundPlaces {
  const startMs = soundStartMs(clock);
  const perMs = clock.rateHz / 1000;
  return {
    placedMs(sample) {
      const added = addedMs(filled, sample) * perMs;
      const place = timeOfSample(made, (sample + added) * plan.stretch * (made.rateHz / clock.rateHz));
      return fileStartMs + plan.shiftMs + place;
    },
    wantedMs(sample) {
      // A drift that the timestamps show is mended towards them; one that only the content shows is mended away from them.
      return startMs + plan.shiftMs + (timeOfSample(clock, sample) - startMs) * timeStretch(plan);
    },
  };
}

/** Largest distance between where a sample plays and where it should: start, quarters, end; ms. */
export function largestResidualMs(clock: SoundClock, places: SoundPlaces): number {
  const residuals = [0, 0.25, 0.5, 0.75, 1].map((share) => {
    const sample = Math.floor(share * (clock.sampleCount - 1));
    return Math.abs(places.placedMs(sample) - places.wantedMs(sample));
  });
  return Math.max(...residuals);
}

/** Frames that stay keep their times; where a spliced file says otherwise, what an edit hides of it is damaged. The goal for any repair is 5 ms. */
const MOST_RESIDUAL_MS = 5;

/**
 * Whether a sound with new frames between its own decodes without a complaint, and plays what stays where it did.
 * @param clock the original's, @param made that of the file with the new sound
 */
export function staysInPlace(clock: SoundClock, made: SoundClock, places: SoundPlaces): boolean {
  return made.refusedPackets === 0 && largestResidualMs(clock, places) <= MOST_RESIDUAL_MS;
}

/** The points of a sync curve after the repair, sound minus picture in ms. */
export function syncCurveAfter(curve: MeasuredCurve, clock: SoundClock, places: SoundPlaces): number[] {
  return curve.points.map(({ atMs, value }) => {
    if (curve.source === 'content') {
      // What is seen at `atMs` was heard `value` later.
      return roundMs(places.placedMs(sampleOfTime(clock, atMs + value)) - atMs);
    }
    const sample = sampleOfTime(clock, atMs);
    return roundMs(places.placedMs(sample) - places.wantedMs(sample));
  });
}

/** The points after all packets were moved by the same time. */
export function movedCurve(curve: MeasuredCurve, shiftMs: number): number[] {
  return curve.points.map(({ value }) => roundMs(value + shiftMs));
}

function roundMs(ms: number): number {
  return Math.round(ms * 100) / 100;
}
