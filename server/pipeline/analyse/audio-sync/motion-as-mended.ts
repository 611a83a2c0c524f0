import { ticksToMs } from '#server/media/time-base.ts';
import { frameStartMs } from '../packets/picture-times.ts';
import type { PictureTimes } from '../analysis.ts';
import type { MotionSeries } from './detect-audio-sync-content.ts';

/** A stretch of pictures by display number, both ends included. */
export interface Copies {
  readonly firstFrame: number;
  readonly lastFrame: number;
}

/** A picture shown longer than this many usual intervals stands before a hole, which is no part of the copies. */
const HOLE_INTERVALS = 1.5;

/** Pictures that are lost without a trace in the times. */
export interface Losses {
  /** Display number of the first picture behind them. */
  readonly behind: number;
  readonly count: number;
}

/**
 * How the pictures move once copies that made the clip longer are taken out and what stands behind them has moved forward, and once
 * lost pictures are put back and what stands behind them has moved back: that is what sound must fit, and the length that it is held against.
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

/** How long copies are shown, ms; without the hole in the times that may follow them. */
function shownMs({ firstFrame, lastFrame }: Copies, times: PictureTimes): number {
  const usualMs = ticksToMs(times.medianIntervalTicks, times.timeBase);
  const lastMs = frameStartMs(times, lastFrame);
  const nextTicks = times.ptsTicks[lastFrame + 1];
  const nextMs = nextTicks === undefined ? lastMs + usualMs : ticksToMs(nextTicks, times.timeBase);
  const isHole = !times.variableByNature && nextMs - lastMs > HOLE_INTERVALS * usualMs;
  return (isHole ? lastMs + usualMs : nextMs) - frameStartMs(times, firstFrame);
}
