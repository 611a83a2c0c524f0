import { MAX_CURVE_POINTS } from '#common/report.ts';
import { mean, median, percentile } from '#server/media/signal/signal.ts';
import { ACT_CONFIDENCE, type Finding, type SpeechSpan } from '../analysis.ts';
import {
  isVoiced,
  measureSurroundings,
  WIND_LIMITS,
  windMargin,
  type Surroundings,
} from './detect-wind-noise-margin.ts';
import type { WindSeries, WindWindow } from './detect-wind-noise-series.ts';

/** A wind span grows while the background stays within this of its own level, dB. */
const GROW_DB = 10;
/**
 * Share of the windows of a stretch that lie at or below the level by which it grows; windows at the edges hold wind
 * only in part. With this, spans around 4 and 8 s of wind in 61 voices reach 1.9 s beyond the wind (2.7 s by the level
 * of each window).
 */
const RUN_LEVEL = 0.75;
/**
 * A span does not grow where every window is as clearly no wind as this. Of 1288 windows of wind under voices at 0 to
 * 10 dB, the lowest margin is -1.0; windows of engines, planes and drones have -7.1 to -1.9, a steady road -1.3 to
 * -0.7.
 */
const AGAINST_MARGIN = -1.4;
/** Margin from which a single window counts without a windy neighbour. */
const ALONE_MARGIN = 0.5;
/**
 * Under a voice, which covers much of the wind, this margin suffices if a neighbour misses the limit by no more than
 * this.
 */
const NEARLY_MARGIN = 0.15;
const NEARLY_COMPANY = -0.25;
/**
 * Margin from which a window may hold wind for somebody who heard it. Of 88 mixtures of voices with six winds at 0 and
 * 5 dB that the usual limits miss, 81 have such a window (docs/benchmarks/wind.md, "When somebody hears it").
 */
const HEARD_MARGIN = -1;
/** Least sum of the margins of a stretch: birds and babble pass every limit for a moment, but barely. */
const RUN_MARGIN = 0.12;
/** Windy stretches closer than this are joined, ms. */
const JOIN_MS = 1500;

export interface WindSpan {
  readonly startMs: number;
  readonly endMs: number;
  /** Background at 60-500 Hz of the span, dBFS. */
  readonly levelDb: number;
}

/** Windy stretches of a clip, and their confidence, 0 to 1; 0 if there are none. */
export interface WindFound {
  readonly spans: readonly WindSpan[];
  readonly confidence: number;
  /** See `findWindHeard`. */
  readonly isHeard?: boolean;
}

/**
 * Finds wind on the microphone. It is told from engines (lines that stay in the pauses), rumble and room tone (steady
 * or quiet) and music (lines): energy, shape and gusts of the background must agree. A pure function of the measured
 * series; times in ms from its first sample.
 * @param speech where somebody speaks, on the same time axis
 */
export function findWindSpans(series: WindSeries, speech: readonly SpeechSpan[]): WindFound {
  const judged = judgeWindows(series, speech);
  const runs = windyRuns(judged);
  if (runs.length === 0) return { spans: [], confidence: 0 };
  const best = percentile(
    runs.flat().map(({ margin }) => margin),
    0.75,
  );
  return { spans: growRuns(series, judged, runs), confidence: 0.6 + 0.35 * Math.min(1, best) };
}

/**
 * Finds wind that somebody says is there: all windows that wind may be in. Whoever heard the clip tells wind from an
 * engine better than the limits of `findWindSpans`, so these only have to leave out what sounds nothing like wind.
 * @param speech where somebody speaks, on the same time axis
 */
export function findWindHeard(series: WindSeries, speech: readonly SpeechSpan[]): WindFound {
  const judged = judgeWindows(series, speech);
  const runs = runsOf(judged, ({ margin }) => margin >= HEARD_MARGIN);
  if (runs.length === 0) return { spans: [], confidence: 0 };
  return { spans: growRuns(series, judged, runs), confidence: ACT_CONFIDENCE, isHeard: true };
}

interface JudgedWindow {
  readonly window: WindWindow;
  readonly around: Surroundings;
  readonly margin: number;
}

function judgeWindows(series: WindSeries, speech: readonly SpeechSpan[]): JudgedWindow[] {
  return series.windows.map((window) => {
    const around = measureSurroundings(series, window, speech);
    return { window, around, margin: windMargin(window, around) };
  });
}

/** The stretches of windy windows with what is as loud beside them. */
function growRuns(
  series: WindSeries,
  judged: readonly JudgedWindow[],
  runs: readonly (readonly JudgedWindow[])[],
): WindSpan[] {
  const against = blocksAgainst(series, judged);
  const spans: { startMs: number; endMs: number }[] = [];
  for (const run of runs) {
    const levelDb = percentile(
      run.map(({ window }) => window.floorDb),
      RUN_LEVEL,
    );
    for (const { window } of run) {
      const { startMs, endMs } = growWindow(series, window, Math.max(levelDb, window.floorDb), against);
      const last = spans.at(-1);
      if (last && startMs <= last.endMs + JOIN_MS) last.endMs = Math.max(last.endMs, endMs);
      else spans.push({ startMs, endMs });
    }
  }
  return spans.map((span) => ({ ...span, levelDb: spanLevelDb(series, span) }));
}

/** Stretches of windy windows that hold up as a whole; one window between two others may miss the limits. */
function windyRuns(judged: readonly JudgedWindow[]): JudgedWindow[][] {
  const few = judged.length < 3;
  const runs = runsOf(judged, ({ margin, around }, i) => {
    const company = Math.max(judged[i - 1]?.margin ?? -1, judged[i + 1]?.margin ?? -1);
    const nearly = isVoiced(around) && margin >= NEARLY_MARGIN && company >= NEARLY_COMPANY;
    // A single window must be clear, unless the clip has too few others.
    return margin >= 0 && (company >= 0 || nearly || margin >= ALONE_MARGIN || few);
  });
  return runs.filter((run) => holdsUp(run, few));
}

/** Stretches of windy windows; one that is not may lie between two that are. */
function runsOf(
  judged: readonly JudgedWindow[],
  isWindy: (one: JudgedWindow, place: number) => boolean,
): JudgedWindow[][] {
  const runs: JudgedWindow[][] = [];
  let lastAt = Number.NEGATIVE_INFINITY;
  for (const [i, one] of judged.entries()) {
    if (!isWindy(one, i)) continue;
    const run = i - lastAt <= 2 ? runs.at(-1) : undefined;
    if (run) run.push(one);
    else runs.push([one]);
    lastAt = i;
  }
  return runs;
}

/** @param short whether the clip has too few windows for one to confirm another */
function holdsUp(run: readonly JudgedWindow[], short: boolean): boolean {
  const usual = (pick: (one: JudgedWindow) => number) => median(run.map(pick));
  const plain = run.reduce((sum, { margin }) => sum + margin, 0) >= RUN_MARGIN;
  const deep = usual(({ window }) => window.lowFloorDb - window.floorDb) > WIND_LIMITS.deepRumbleDb;
  const steadiness = usual(({ window }) => window.lineSteadiness);
  const lines = WIND_LIMITS.stayingLines;
  const voiced = usual(({ around }) => around.voiceShare) >= WIND_LIMITS.voicedShare;
  const lined =
    usual(({ window }) => window.fineLineShare) > lines.share &&
    steadiness > (voiced ? lines.steadinessUnderVoice : lines.steadiness);
  const stays = lined || (deep && steadiness > WIND_LIMITS.usualSteadiness);
  const lowBurst = usual(({ around }) => around.lowBurst);
  const even = lowBurst < (deep ? WIND_LIMITS.deepBurst : WIND_LIMITS.leastBurst);
  const rate = (pick: (window: WindWindow) => number) => meanOverTime(run, pick);
  const crackles = rate((window) => window.cracklesPerSecond) > WIND_LIMITS.cracklesPerSecond;
  const best = Math.max(...run.map(({ margin }) => margin));
  const { knocks } = WIND_LIMITS;
  const knocked =
    best < knocks.plainMargin &&
    lowBurst > knocks.lowBurst &&
    rate((window) => window.knocksPerSecond) > knocks.perSecond;
  const unplain = best < ALONE_MARGIN;
  const babbles = unplain && usual(({ window }) => window.pauseTonalShare) > WIND_LIMITS.usualPauseTonalShare;
  return !stays && !even && !crackles && !knocked && !babbles && (plain || short);
}

/** Mean of a rate over windows, weighted by their length, because the last window of a sound may be short. */
function meanOverTime(run: readonly JudgedWindow[], rate: (window: WindWindow) => number): number {
  const lengthMs = ({ startMs, endMs }: WindWindow) => endMs - startMs;
  const total = mean(run.map(({ window }) => lengthMs(window)));
  return mean(run.map(({ window }) => rate(window) * lengthMs(window))) / total;
}

/** Median background at 60-500 Hz of a span, dBFS: the value in the report, before and after. */
export function spanLevelDb(
  series: WindSeries,
  span: { readonly startMs: number; readonly endMs: number },
): number {
  const first = Math.floor(span.startMs / series.blockMs);
  const blocks = series.blockFloorDb.slice(
    first,
    Math.max(first + 1, Math.ceil(span.endMs / series.blockMs)),
  );
  return blocks.length > 0 ? percentile(blocks, 0.5) : (series.windows[0]?.floorDb ?? -140);
}

/** Shortest stretch for one point of the level curve, ms. */
const CURVE_STEP_MS = 1000;

/**
 * Background at 60-500 Hz over the whole sound: the median of each second, or of longer stretches so that there are at
 * most `MAX_CURVE_POINTS`. Times in ms from the first sample.
 */
export function levelCurve(series: WindSeries): WindSpan[] {
  const blocks = series.blockFloorDb.length;
  const size = Math.max(Math.round(CURVE_STEP_MS / series.blockMs), Math.ceil(blocks / MAX_CURVE_POINTS));
  return Array.from({ length: Math.ceil(blocks / size) }, (_, i) => {
    const span = {
      startMs: i * size * series.blockMs,
      endMs: Math.min(blocks, (i + 1) * size) * series.blockMs,
    };
    return { ...span, levelDb: spanLevelDb(series, span) };
  });
}

/** Which blocks lie only in windows that are clearly no wind; an engine may be as loud as the wind next to it. */
function blocksAgainst({ blockMs, blockFloorDb }: WindSeries, judged: readonly JudgedWindow[]): boolean[] {
  const against = blockFloorDb.map(() => false);
  const mark = (value: boolean) => {
    for (const { window, margin } of judged) {
      if (margin < AGAINST_MARGIN !== value) continue;
      const first = Math.ceil(window.startMs / blockMs - 0.5);
      const end = Math.min(against.length, Math.ceil(window.endMs / blockMs - 0.5));
      for (let block = first; block < end; block++) against[block] = value;
    }
  };
  mark(true);
  // One window that may be wind outweighs all others.
  mark(false);
  return against;
}

/**
 * A windy window extended by equally loud surroundings.
 * @param levelDb background of the wind, dBFS
 */
function growWindow(
  { blockMs, blockFloorDb }: WindSeries,
  window: WindWindow,
  levelDb: number,
  against: readonly boolean[],
): { startMs: number; endMs: number } {
  const limit = Math.max(Math.min(WIND_LIMITS.floorDb, levelDb), levelDb - GROW_DB);
  const gap = Math.ceil(JOIN_MS / blockMs);
  const walk = (from: number, step: 1 | -1): number => {
    let reached = from;
    for (let i = from + step; i >= 0 && i < blockFloorDb.length && Math.abs(i - reached) <= gap; i += step) {
      if ((blockFloorDb[i] ?? -140) >= limit && !against[i]) reached = i;
    }
    return reached;
  };
  const first = walk(Math.round(window.startMs / blockMs), -1);
  const last = walk(Math.min(blockFloorDb.length - 1, Math.round(window.endMs / blockMs) - 1), 1);
  return {
    startMs: Math.min(window.startMs, first * blockMs),
    endMs: Math.max(window.endMs, (last + 1) * blockMs),
  };
}

/**
 * Makes one finding for the clip with all its windy stretches.
 * @param toTimeMs converts ms from the first sample to container time
 * @returns null if there are none
 */
export function toWindFinding(
  series: WindSeries,
  { spans, confidence, isHeard }: WindFound,
  toTimeMs: (sampleTimeMs: number) => number,
): Finding | null {
  const first = spans[0];
  const last = spans.at(-1);
  if (!first || !last) return null;
  const value = Math.max(...spans.map((span) => span.levelDb));
  return {
    kind: 'wind_noise',
    startMs: toTimeMs(first.startMs),
    endMs: toTimeMs(last.endMs),
    firstFrame: null,
    lastFrame: null,
    count: spans.length,
    confidence,
    detector: 'detect-wind-noise',
    measure: {
      name: 'background below 500 Hz',
      unit: 'dBFS',
      threshold: lowestFloorDb(value),
      value: round(value),
    },
    curve: {
      quantity: 'low_band_level',
      unit: 'dBFS',
      source: 'samples',
      points: levelCurve(series).map(({ startMs, endMs, levelDb }) => {
        return { atMs: Math.round(toTimeMs((startMs + endMs) / 2)), value: round(levelDb) };
      }),
    },
    detail: {
      kind: 'wind_noise',
      spans: spans.map((span) => ({
        startMs: toTimeMs(span.startMs),
        endMs: toTimeMs(span.endMs),
        levelDb: round(span.levelDb),
      })),
      ...(isHeard && { isHeard }),
    },
  };
}

/** The highest limit that wind of this level passes, dBFS. */
function lowestFloorDb(levelDb: number): number {
  const { floorDb, quietFloorDb, voicedFloorDb } = WIND_LIMITS;
  return [floorDb, quietFloorDb].find((limit) => levelDb >= limit) ?? voicedFloorDb;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
