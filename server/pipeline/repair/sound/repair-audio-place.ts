import {
  sampleOfTime,
  soundStartMs,
  timeOfSample,
  warmUpMs,
  type SoundClock,
} from '#server/media/signal/pcm-clock.ts';
import type { MeasuredCurve } from '../../analyse/analysis.ts';
import { CONTAINER_LIMITS } from '../../analyse/audio-sync/detect-audio-sync-container.ts';
import type { Filling } from './repair-audio-holes.ts';
import { timeStretch, type SyncPlan } from './repair-audio-sync.ts';

/**
 * The clock of a sound that is played without a break. The first frame of many recordings is encoder warm-up and stated
 * to last until the second one. Played back to back, everything after it would come early by that, so times count back
 * from the second frame.
 */
export function withoutWarmUp(clock: SoundClock): SoundClock {
  const waitMs = warmUpMs(clock);
  if (waitMs < CONTAINER_LIMITS.holeMs) return clock;
  return { ...clock, startMs: [soundStartMs(clock) + waitMs, ...clock.startMs.slice(1)] };
}

/** What was inserted before a sample of the original. */
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
  /** Time planned for it, ms. */
  wantedMs(sample: number): number;
}

/**
 * Converts times of the original to times of the repaired sound, both in ms from their first samples.
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

/** Duration of what was filled in at or before a sample of the original, ms. */
function addedMs(filled: readonly FilledHole[], sample: number): number {
  return filled.filter((hole) => hole.beforeSample <= sample).reduce((sum, hole) => sum + hole.durationMs, 0);
}

/**
 * Places of a repaired sound, by its samples.
 * @param clock of the original; `made` is that of the file with the new sound, measured by decoding it
 * @param filled holes of the original that were filled
 * @param fileStartMs when the new file begins, on the original's time axis; at the first decoded sample by default
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
      // A drift shown by the timestamps is corrected towards them; one shown only by the content, away from them.
      return startMs + plan.shiftMs + (timeOfSample(clock, sample) - startMs) * timeStretch(plan);
    },
  };
}

/** Largest distance between where a sample plays and where it should: at start, quarters and end; ms. */
export function largestResidualMs(clock: SoundClock, places: SoundPlaces): number {
  const residuals = [0, 0.25, 0.5, 0.75, 1].map((share) => {
    const sample = Math.floor(share * (clock.sampleCount - 1));
    return Math.abs(places.placedMs(sample) - places.wantedMs(sample));
  });
  return Math.max(...residuals);
}

/**
 * Kept frames keep their times. If a spliced file differs by more than this, data hidden by an edit list are damaged.
 * The goal for any repair is 5 ms.
 */
const MOST_RESIDUAL_MS = 5;

/**
 * Whether a sound with new frames between its own decodes without a complaint and plays kept frames at the same times.
 * @param clock of the original; `made` is that of the file with the new sound
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
