import { ticksToMs } from '#server/media/time-base.ts';
import { frameStartMs } from '../packets/picture-times.ts';
import type { PictureTimes } from '../analysis.ts';
import type { MotionSeries } from './detect-audio-sync-content.ts';

/** A stretch of pictures by display number, both ends included. */
export interface Copies {
  readonly firstFrame: number;
  readonly lastFrame: number;
}

/**
 * A picture shown for more usual intervals than this stands before a gap in the times; the gap is no part of the
 * copies.
 */
const HOLE_INTERVALS = 1.5;

/** Lost pictures that left no gap in the times. */
export interface Losses {
  /** Display number of the first picture after them. */
  readonly behind: number;
  readonly count: number;
}

/**
 * The motion of the pictures as it will be after the repair. Inserted copies are taken out, which moves later pictures
 * forward, and lost pictures are put back, which moves later ones back. The sound must fit this motion and its length.
 * @param motion change of each decoded picture, grey levels
 * @param frameOfDecoded display number of each decoded picture
 * @param copies stretches that are taken out, ascending
 * @param losses places where pictures are put back between two that stay
 */
export function motionAsMended(
  motion: readonly number[],
  frameOfDecoded: readonly number[],
  times: PictureTimes,
  copies: readonly Copies[],
  losses: readonly Losses[] = [],
): MotionSeries {
  const usualMs = ticksToMs(times.medianIntervalTicks, times.timeBase);
  const kept = frameOfDecoded.flatMap((frame, decoded) => {
    if (copies.some(({ firstFrame, lastFrame }) => frame >= firstFrame && frame <= lastFrame)) return [];
    const before = copies.filter(({ lastFrame }) => lastFrame < frame);
    const takenMs = before.reduce((sum, run) => sum + shownMs(run, times), 0);
    const lost = losses.filter(({ behind }) => behind <= frame);
    const putBackMs = lost.reduce((sum, { count }) => sum + count * usualMs, 0);
    const timeMs = frameStartMs(times, frame) - takenMs + putBackMs;
    return [{ value: motion[decoded] ?? 0, timeMs }];
  });
  return { motion: kept.map(({ value }) => value), frameTimesMs: kept.map(({ timeMs }) => timeMs) };
}

/** How long copies are shown, ms, without a gap in the times that may follow them. */
function shownMs({ firstFrame, lastFrame }: Copies, times: PictureTimes): number {
  const usualMs = ticksToMs(times.medianIntervalTicks, times.timeBase);
  const lastMs = frameStartMs(times, lastFrame);
  const nextTicks = times.ptsTicks[lastFrame + 1];
  const nextMs = nextTicks === undefined ? lastMs + usualMs : ticksToMs(nextTicks, times.timeBase);
  const isHole = !times.variableByNature && nextMs - lastMs > HOLE_INTERVALS * usualMs;
  return (isHole ? lastMs + usualMs : nextMs) - frameStartMs(times, firstFrame);
}
