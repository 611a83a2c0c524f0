import { deviation, median } from '#server/media/signal/signal.ts';
import {
  CONTENT_LIMITS,
  motionStarts,
  toOnsetGrid,
  type MotionSeries,
  type OnsetGrid,
  type OnsetSeries,
  type PictureEvent,
} from './detect-audio-sync-content.ts';

/**
 * Limits for acting on a drift that only the content shows. A line has one more degree of freedom than an offset, so
 * the limits are stricter. Measured on flashes and hits with added drifts, and on unrelated pictures and sounds
 * (`detect-audio-sync-drift.test.ts`).
 */
export const DRIFT_LIMITS = {
  /** Range of drifts that is searched, and its step, ms from the first picture to the last, on each side. */
  reachMs: 800,
  stepMs: 20,
  /** Least number of events that support the line. */
  leastEvents: 8,
  /** The line must explain the events this much better than any constant offset. */
  overConstant: 1.25,
  /**
   * Least peak above the whole correlation, standard deviations: 7.2 and more on added drifts, 4.7 at most on unrelated
   * sound.
   */
  prominence: 6,
  /** Odd and even events must give the same line: at start, middle and end within this, ms. */
  agreementMs: 45,
  /** Less drift over the whole clip cannot be told from the scatter of the events, ms. */
  leastMs: 60,
  /** Least share of events within `onLineMs` of the line; unrelated sound reaches 0.4. */
  onLineShare: 0.6,
  onLineMs: 40,
} as const;

/** Distance of sound and picture as a line over the picture's time. */
export interface SyncLine {
  /** Sound minus picture at time 0, ms. */
  readonly interceptMs: number;
  /** Growth of the distance, ms per ms. */
  readonly slope: number;
}

export interface CurvePoint {
  readonly atMs: number;
  readonly offsetMs: number;
}

export interface DriftEvidence {
  readonly line: SyncLine;
  /** Drift from the first picture to the last, ms. */
  readonly totalMs: number;
  readonly prominence: number;
  readonly overConstant: number;
  readonly events: number;
  readonly halvesAgree: boolean;
  readonly onLineShare: number;
}

export const offsetAt = ({ interceptMs, slope }: SyncLine, atMs: number) => interceptMs + slope * atMs;

/**
 * Finds an offset between what is seen and heard that grows or shrinks over the clip. Of all lines by start and drift,
 * it takes the one on which the sudden starts of motion meet most onsets (a Hough transform of the event-triggered
 * cross-correlation).
 * @returns null when there are too few events
 */
export function contentDrift(picture: MotionSeries, sound: OnsetSeries): DriftEvidence | null {
  const events = strongest(motionStarts(picture), MAX_EVENTS);
  if (events.length < DRIFT_LIMITS.leastEvents || sound.strength.length < 10) return null;
  const grid = toOnsetGrid(sound);
  const firstMs = picture.frameTimesMs[0] ?? 0;
  const lengthMs = Math.max(1, (picture.frameTimesMs.at(-1) ?? 0) - firstMs);
  const search = (part: readonly PictureEvent[]) => findLine(part, grid, firstMs, lengthMs);
  const best = search(events);
  if (!best) return null;
  const half = (parity: number) => search(events.filter((_, i) => i % 2 === parity));
  const agrees = (other: Line | null) =>
    other !== null &&
    [0, 0.5, 1].every((share) => Math.abs(at(other, share) - at(best, share)) <= DRIFT_LIMITS.agreementMs);
  const rough: SyncLine = {
    interceptMs: best.startMs - (best.driftMs / lengthMs) * firstMs,
    slope: best.driftMs / lengthMs,
  };
  const heard = hearEvents(events, grid, rough);
  const line = refine(heard, rough);
  const near = heard.filter(
    ({ atMs, offsetMs }) => Math.abs(offsetMs - offsetAt(line, atMs)) <= DRIFT_LIMITS.onLineMs,
  );
  return {
    line,
    totalMs: line.slope * lengthMs,
    prominence: best.prominence,
    overConstant: best.overConstant,
    events: events.length,
    halvesAgree: agrees(half(0)) && agrees(half(1)),
    onLineShare: near.length / events.length,
  };
}

/** More events than this cost time without adding certainty. */
const MAX_EVENTS = 300;

/** The `count` strongest events in order of time. */
function strongest(events: PictureEvent[], count: number): PictureEvent[] {
  if (events.length <= count) return events;
  return [...events]
    .sort((a, b) => b.strength - a.strength)
    .slice(0, count)
    .sort((a, b) => a.timeMs - b.timeMs);
}

/** True when the evidence is strong enough to resample the sound. */
export function isConvincingDrift(evidence: DriftEvidence): boolean {
  return (
    Math.abs(evidence.totalMs) >= DRIFT_LIMITS.leastMs &&
    evidence.prominence >= DRIFT_LIMITS.prominence &&
    evidence.overConstant >= DRIFT_LIMITS.overConstant &&
    evidence.onLineShare >= DRIFT_LIMITS.onLineShare &&
    evidence.halvesAgree
  );
}

/** Neighbouring events that give one point of the curve, their median. */
const POINT_EVENTS = 5;

/**
 * Sound minus picture at several places of the clip. Each event is measured near the line that all of them agree on,
 * and each point is the median of five neighbours, so that one wrong event moves no point.
 * @param maxPoints most points to return
 */
export function contentCurve(
  picture: MotionSeries,
  sound: OnsetSeries,
  line: SyncLine,
  maxPoints: number,
): CurvePoint[] {
  const heard = hearEvents(motionStarts(picture), toOnsetGrid(sound), line);
  const size = Math.min(POINT_EVENTS, heard.length);
  if (size < 3) return [];
  const middle = size >> 1;
  const points = heard.slice(0, heard.length - size + 1).map((_, i): CurvePoint => {
    const atMs = heard[i + middle]?.atMs ?? 0;
    const beside = heard.slice(i, i + size).map((one) => one.offsetMs - offsetAt(line, one.atMs));
    return { atMs, offsetMs: offsetAt(line, atMs) + median(beside) };
  });
  const every = Math.ceil(points.length / maxPoints);
  return points.filter((_, i) => i % every === 0);
}

interface Line {
  /** Offset at the first picture, and how much it grows until the last, ms. */
  readonly startMs: number;
  readonly driftMs: number;
  readonly prominence: number;
  readonly overConstant: number;
}

const at = ({ startMs, driftMs }: Line, share: number) => startMs + driftMs * share;

function findLine(
  events: readonly PictureEvent[],
  grid: OnsetGrid,
  firstMs: number,
  lengthMs: number,
): Line | null {
  const { stepMs } = CONTENT_LIMITS;
  const reach = Math.round(CONTENT_LIMITS.reachMs / stepMs);
  const steps = Math.round(DRIFT_LIMITS.reachMs / DRIFT_LIMITS.stepMs);
  let top = { height: 0, startMs: 0, driftMs: 0, spread: 0 };
  let constant = 0;
  for (let d = -steps; d <= steps; d++) {
    const driftMs = d * DRIFT_LIMITS.stepMs;
    const sum = new Float64Array(2 * reach + 1);
    for (const event of events) {
      const moved = event.timeMs + (driftMs * (event.timeMs - firstMs)) / lengthMs;
      const cell = Math.round((moved - grid.startMs) / stepMs);
      for (let lag = -reach; lag <= reach; lag++) {
        sum[lag + reach] = (sum[lag + reach] ?? 0) + event.strength * (grid.values[cell + lag] ?? 0);
      }
    }
    const centre = median(sum);
    let best = 0;
    for (let i = 1; i < sum.length; i++) if ((sum[i] ?? 0) > (sum[best] ?? 0)) best = i;
    const height = (sum[best] ?? 0) - centre;
    if (Math.abs(driftMs) < DRIFT_LIMITS.leastMs) constant = Math.max(constant, height);
    if (height > top.height) {
      top = { height, startMs: (best - reach) * stepMs, driftMs, spread: deviation(sum) };
    }
  }
  if (!(top.spread > 0)) return null;
  return {
    startMs: top.startMs,
    driftMs: top.driftMs,
    prominence: top.height / top.spread,
    overConstant: top.height / Math.max(constant, 1e-9),
  };
}

/** How far from the line an event's own onset may lie, ms. */
const OWN_REACH_MS = 100;
/** An event's own onset must exceed the mean onset strength by this (natural logarithm). */
const OWN_STRENGTH = 0.7;

/** For each event, the onset nearest to where the line expects it; events without one are left out. */
function hearEvents(events: readonly PictureEvent[], grid: OnsetGrid, line: SyncLine): CurvePoint[] {
  const { stepMs } = CONTENT_LIMITS;
  const reach = Math.round(OWN_REACH_MS / stepMs);
  return events.flatMap(({ timeMs }) => {
    const expected = Math.round((timeMs + offsetAt(line, timeMs) - grid.startMs) / stepMs);
    let best = expected;
    let height = Number.NEGATIVE_INFINITY;
    for (let cell = expected - reach; cell <= expected + reach; cell++) {
      // Of equal onsets, prefer the one nearer to the line.
      const value = (grid.values[cell] ?? -1) * (1 - (0.5 * Math.abs(cell - expected)) / reach);
      if (value > height) {
        height = value;
        best = cell;
      }
    }
    if (height < OWN_STRENGTH) return [];
    return [{ atMs: timeMs, offsetMs: best * stepMs + grid.startMs - timeMs }];
  });
}

/**
 * Median slope and intercept over all pairs (Theil 1950, Sen 1968), so that single wrong onsets do not turn the line.
 */
function refine(points: readonly CurvePoint[], rough: SyncLine): SyncLine {
  const slopes: number[] = [];
  points.forEach((a, i) => {
    for (const b of points.slice(i + 1)) {
      if (b.atMs - a.atMs > 1000) slopes.push((b.offsetMs - a.offsetMs) / (b.atMs - a.atMs));
    }
  });
  if (slopes.length < 3) return rough;
  const slope = median(slopes);
  return { slope, interceptMs: median(points.map(({ atMs, offsetMs }) => offsetMs - slope * atMs)) };
}
