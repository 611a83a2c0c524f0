import { MAX_CURVE_POINTS } from '#common/report.ts';
import { mean, median, percentile } from '#server/media/signal.ts';
import type { Finding } from './analysis.ts';
import type { WindSeries, WindWindow } from './detect-wind-noise-series.ts';

/**
 * Limits of the wind detector. Measured on real wind (phone and action camera microphones, outdoor
 * recordings), alone and under real speech at -5 to 10 dB, against clean speech, rotors, a plane, a train,
 * roof-top rumble, hum, brown and pink noise; each limit lies between the two groups. The features are those of
 * Nelke and Vary (2014, sub-band centroid and low-band energy) applied to the background instead of the whole
 * spectrum, so that a voice over the wind does not hide it.
 */
export const WIND_LIMITS = {
  /** Background 60-500 Hz, dBFS: camera wind lies at -40 to -18, a quiet roof at -42, rooms below -43. */
  floorDb: -40.5,
  /** Under a quiet voice wind is quieter too: below the limit above everything else must be this plain. */
  quietFloorDb: -44,
  quietMargin: 0.5,
  /**
   * Background below 500 Hz over background 1-4 kHz, dB: wind under a voice at 5 dB 15.2 up, alone to 28; rumble that
   * falls by 6 dB per octave (roads) 13.4 at most, pink noise 2.
   */
  lowOverHighDb: 14.2,
  /** Gusts that no road has (flutter from 1.1 dB, all of it at 1.6) make up for this much of it, dB. */
  gustGrantDb: 3.2,
  gustGrantFromDb: 1.1,
  gustGrantToDb: 1.6,
  /** The same at 4 Hz resolution: wind under a voice up to 0.64, music from 0.82, rotor 0.7. */
  fineLineShare: 0.68,
  /** Likeness of the lows to those 256 ms before: wind up to 0.21, roof 0.25, rotor 0.32, music 0.33 to 0.96. */
  lineSteadiness: 0.24,
  /**
   * The same in the middle window of a windy stretch with deep rumble (20-80 Hz at most 8 dB below 60-500 Hz): wind up
   * to 0.13, the inside of cars and trains 0.18 to 0.22. Hum of a recorder under a phone's wind, which has no rumble, 0.18.
   */
  usualSteadiness: 0.15,
  deepRumbleDb: -8,
  /**
   * Lines in the pauses of that window: wind under a voice up to 0.3, babble of a coffee shop 0.35, which never is
   * plain; plain wind over notes has 0.35 too.
   */
  usualPauseTonalShare: 0.32,
  /** Everything over background, dB: wind under a voice at 5 dB at most 15, clean speech from 17. */
  totalOverFloorDb: 16,
  /** Rumble 20-80 Hz that no voice has: from this level on, dBFS, up to 4 dB more are granted above. */
  rumbleDb: -42,
  rumbleGrantDb: 4,
  /** Slope 100-1600 Hz, dB per octave: wind -4.4 to -10, plane -2.4, pink noise -3. */
  tiltDbPerOctave: -4.2,
  /** Steeper than any wind measured (-15.6): hum and filtered noise. */
  tiltFloorDbPerOctave: -17.5,
  /** Lines in the pauses, share of power: wind under a voice up to 0.35, breathless narration 0.42, rotor 0.6. */
  pauseTonalShare: 0.4,
  /** Spread of the quarter-second background (60th over 10th percentile) within +-6 s, dB. */
  gustDb: 2,
  /**
   * Mean distance of a quarter second from the middle of its neighbours, dB, scaled to the step of plain noise: wind
   * on microphones 1.05 up, engines and roads 0.55 to 0.8. A swell that takes seconds, as of a passing car, has none.
   */
  flutterDb: 0.85,
  /** Slow gusts make up for fast ones and the other way round, down to these shares of their limits. */
  leastSlowShare: 0.75,
  leastFastShare: 0.85,
} as const;

/** Seconds on each side in which gusts are looked for. */
const GUST_REACH_MS = 6000;
/** Blocks below this level are pauses of the recording and say nothing about gusts. */
const GUST_FLOOR_DB = -60;
/** A wind span grows into its neighbourhood while the background stays within this of the span's own, dB. */
const GROW_DB = 10;
/** Margin from which a single window counts without a windy neighbour. */
const ALONE_MARGIN = 0.5;
/** Margins of the windows of a stretch together: birds and babble pass every limit for a moment, but hardly. */
const RUN_MARGIN = 0.12;
/** Two windy stretches closer than this are one. */
const JOIN_MS = 1500;

export interface WindSpan {
  readonly startMs: number;
  readonly endMs: number;
  /** Background 60-500 Hz of the span, dBFS. */
  readonly levelDb: number;
}

/** How unsteady the background is around a window. */
export interface Gusts {
  readonly spreadDb: number;
  readonly flutterDb: number;
}

/** Gust figures within `GUST_REACH_MS` of the middle of a window; zeros where there is no sound. */
export function measureGusts(series: WindSeries, window: WindWindow): Gusts {
  const middle = (window.startMs + window.endMs) / 2;
  const first = Math.max(0, Math.floor((middle - GUST_REACH_MS) / series.blockMs));
  const last = Math.ceil((middle + GUST_REACH_MS) / series.blockMs);
  const blocks = series.blockFloorDb.slice(first, last).filter((level) => level > GUST_FLOOR_DB);
  if (blocks.length < 4) return { spreadDb: 0, flutterDb: 0 };
  const bends = blocks.slice(1, -1).map((level, i) => {
    return Math.abs(level - ((blocks[i] ?? level) + (blocks[i + 2] ?? level)) / 2);
  });
  return {
    spreadDb: percentile(blocks, 0.6) - percentile(blocks, 0.1),
    // Of independent levels a bend is sqrt(1.5) and a step sqrt(2) times the deviation.
    flutterDb: mean(bends) * Math.sqrt(2 / 1.5),
  };
}

/**
 * How clearly a window is wind: the smallest margin over the limits, in units where 0 is the limit and 1 is
 * plainly beyond; negative when one of energy, shape and gusts speaks against wind. All three must agree.
 */
export function windMargin(window: WindWindow, gusts: Gusts): number {
  const { floorDb, tiltDbPerOctave: tilt } = window;
  const { rumbleDb, rumbleGrantDb } = WIND_LIMITS;
  const slow = gusts.spreadDb / WIND_LIMITS.gustDb;
  const fast = gusts.flutterDb / WIND_LIMITS.flutterDb;
  const granted = Math.min(rumbleGrantDb, Math.max(0, window.lowFloorDb - rumbleDb));
  const { gustGrantDb, gustGrantFromDb: from, gustGrantToDb: to } = WIND_LIMITS;
  const gusty = gustGrantDb * Math.min(1, Math.max(0, (gusts.flutterDb - from) / (to - from)));
  const shape = Math.min(
    (floorDb - window.highFloorDb - WIND_LIMITS.lowOverHighDb + gusty) / 5,
    (WIND_LIMITS.totalOverFloorDb + granted - (window.totalDb - floorDb)) / 5,
    (WIND_LIMITS.tiltDbPerOctave - tilt) / 2,
    (tilt - WIND_LIMITS.tiltFloorDbPerOctave) / 5,
    (WIND_LIMITS.pauseTonalShare - window.pauseTonalShare) / 0.1,
    (WIND_LIMITS.fineLineShare - window.fineLineShare) / 0.2,
    (WIND_LIMITS.lineSteadiness - window.lineSteadiness) / 0.1,
    ((slow + fast) / 2 - 1) / 0.6,
    (slow - WIND_LIMITS.leastSlowShare) / 0.25,
    (fast - WIND_LIMITS.leastFastShare) / 0.25,
  );
  const quiet = floorDb < WIND_LIMITS.floorDb && shape >= WIND_LIMITS.quietMargin;
  return Math.min(shape, (floorDb - (quiet ? WIND_LIMITS.quietFloorDb : WIND_LIMITS.floorDb)) / 6);
}

/** Windy stretches of a clip; a pure function over the measured series, times in ms from its first sample. */
export function findWindSpans(series: WindSeries): { spans: WindSpan[]; confidence: number } {
  const margins = series.windows.map((window) => windMargin(window, measureGusts(series, window)));
  const windy = windyRuns(series.windows, margins).flat();
  if (windy.length === 0) return { spans: [], confidence: 0 };
  const best = percentile(
    windy.map(({ margin }) => margin),
    0.75,
  );
  const spans: { startMs: number; endMs: number }[] = [];
  for (const { window } of windy) {
    const { startMs, endMs } = growWindow(series, window);
    const last = spans.at(-1);
    if (last && startMs <= last.endMs + JOIN_MS) last.endMs = Math.max(last.endMs, endMs);
    else spans.push({ startMs, endMs });
  }
  return {
    spans: spans.map((span) => ({ ...span, levelDb: spanLevelDb(series, span) })),
    confidence: 0.6 + 0.35 * Math.min(1, best),
  };
}

interface WindyWindow {
  readonly window: WindWindow;
  readonly margin: number;
}

/** Stretches of windy windows, one window between two of them may miss, that hold up as a whole. */
function windyRuns(windows: readonly WindWindow[], margins: readonly number[]): WindyWindow[][] {
  const runs: WindyWindow[][] = [];
  let lastAt = Number.NEGATIVE_INFINITY;
  for (const [i, window] of windows.entries()) {
    const margin = margins[i] ?? -1;
    const company = Math.max(margins[i - 1] ?? -1, margins[i + 1] ?? -1);
    // A window on its own must be plain, unless the clip has no other.
    if (margin < 0 || (company < 0 && margin < ALONE_MARGIN && margins.length >= 3)) continue;
    const run = i - lastAt <= 2 ? runs.at(-1) : undefined;
    if (run) run.push({ window, margin });
    else runs.push([{ window, margin }]);
    lastAt = i;
  }
  return runs.filter((run) => {
    const usual = (pick: (window: WindWindow) => number) => median(run.map(({ window }) => pick(window)));
    const plain = run.reduce((sum, { margin }) => sum + margin, 0) >= RUN_MARGIN;
    const deep = usual((window) => window.lowFloorDb - window.floorDb) > WIND_LIMITS.deepRumbleDb;
    const stays = deep && usual((window) => window.lineSteadiness) > WIND_LIMITS.usualSteadiness;
    const unplain = Math.max(...run.map(({ margin }) => margin)) < ALONE_MARGIN;
    const babbles = unplain && usual((window) => window.pauseTonalShare) > WIND_LIMITS.usualPauseTonalShare;
    return !stays && !babbles && (plain || margins.length < 3);
  });
}

/** Median background 60-500 Hz of a span, dBFS: the figure of the report, before and after. */
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

/** Shortest stretch that a point of the level curve stands for, ms. */
const CURVE_STEP_MS = 1000;

/**
 * Background 60-500 Hz over the whole sound: the median of each second, or of longer stretches so that there are
 * `MAX_CURVE_POINTS` at most. Times in ms from the first sample.
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

function growWindow(series: WindSeries, window: WindWindow): { startMs: number; endMs: number } {
  const limit = Math.max(Math.min(WIND_LIMITS.floorDb, window.floorDb), window.floorDb - GROW_DB);
  const { blockMs, blockFloorDb } = series;
  const gap = Math.ceil(JOIN_MS / blockMs);
  const walk = (from: number, step: 1 | -1): number => {
    let reached = from;
    for (let i = from + step; i >= 0 && i < blockFloorDb.length && Math.abs(i - reached) <= gap; i += step) {
      if ((blockFloorDb[i] ?? -140) >= limit) reached = i;
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
 * Wind on the microphone, told from engines (lines that stay in the pauses), rumble and room tone (steady or
 * quiet) and music (lines): energy, shape and gusts of the background must agree.
 * @param toTimeMs container time of a moment counted in samples from the start
 * @returns one finding for the clip with all its windy spans, or null
 */
export function detectWindNoise(
  series: WindSeries,
  toTimeMs: (sampleTimeMs: number) => number,
): Finding | null {
  const { spans, confidence } = findWindSpans(series);
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
      threshold: value < WIND_LIMITS.floorDb ? WIND_LIMITS.quietFloorDb : WIND_LIMITS.floorDb,
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
    },
  };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
