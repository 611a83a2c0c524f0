import type { FrameSeries } from '#server/media/grey/grey-series.ts';
import { clamp, mean, median, quantile } from '#server/media/statistics.ts';

/** One property of a shot that people may want to know; nothing is repaired because of it. */
export interface PictureFlag {
  readonly kind: 'shaky_footage' | 'poor_lighting' | 'blurry_section';
  /** First and last decoded picture of the stretch. */
  readonly first: number;
  readonly last: number;
  readonly value: number;
  readonly threshold: number;
  readonly confidence: number;
}

/** Shots shorter than this are not judged, seconds. */
const MIN_SHOT_S = 1;
/** Fast part of the global motion: shares of the picture width per thirtieth of a second. */
const SHAKY = 0.005;
/** Share of pictures whose change a displacement of the whole picture explains; else only things move. */
const SHAKY_EXPLAINED = 0.35;
/** Left-over difference below which a displacement explains a picture. */
const EXPLAINED_RESIDUAL = 0.6;
/** 90th percentile of luma (full range) below which a shot is dark. */
const DARK_P90 = 70;
/** Share of crushed pixels that a dark shot also has. */
const DARK_CRUSHED = 0.2;
/** Below this luma a shot is black by intention (fades, titles), not badly lit. */
const BLACK_P90 = 16;
/** Sharpness against the clip's own best second below which a whole shot is blurry. */
const BLURRY = 0.12;

/**
 * Shaky, dark and blurry shots. Shaky: the global displacement minus its moving mean over half a second,
 * where one displacement explains the picture.
 * Dark: 90th percentile of luma and crushed share. Blurry: gradient energy against the clip's own best
 * second. Whole shots only, never single pictures.
 */
export function detectPictureFlags(series: FrameSeries, cuts: readonly number[], fps: number): PictureFlag[] {
  const flags: PictureFlag[] = [];
  const best = bestSecond(series.sharpness, fps);
  for (const [first, end] of shots(cuts, series.count)) {
    if (end - first < MIN_SHOT_S * fps) continue;
    const shaky = shakiness(series, first, end, fps);
    if (shaky > SHAKY) flags.push(flag('shaky_footage', first, end, shaky, SHAKY, shaky / SHAKY));
    const bright = median(series.lumaP90.slice(first, end));
    const crushed = median(series.crushedShare.slice(first, end));
    if (bright < DARK_P90 && bright > BLACK_P90 && crushed > DARK_CRUSHED) {
      flags.push(flag('poor_lighting', first, end, bright, DARK_P90, DARK_P90 / Math.max(1, bright)));
    }
    const sharp = median(series.sharpness.slice(first, end)) / Math.max(1e-6, best);
    if (sharp < BLURRY && bright > BLACK_P90 && best > 0) {
      flags.push(flag('blurry_section', first, end, sharp, BLURRY, BLURRY / Math.max(1e-3, sharp)));
    }
  }
  return flags;
}

/**
 * The shake of the shakiest shot of a clip, by the figure that the flag `shaky_footage` is judged by: share of the picture width
 * per thirtieth of a second; null when no shot is long enough to tell.
 * @param leastExplained share of pictures that a displacement must explain, else a shot counts as steady
 */
export function shakeOf(
  series: FrameSeries,
  cuts: readonly number[],
  fps: number,
  leastExplained = SHAKY_EXPLAINED,
): number | null {
  const long = shots(cuts, series.count).filter(([first, end]) => end - first >= MIN_SHOT_S * fps);
  if (long.length === 0) return null;
  return Math.max(...long.map(([first, end]) => shakiness(series, first, end, fps, leastExplained)));
}

function flag(
  kind: PictureFlag['kind'],
  first: number,
  end: number,
  value: number,
  threshold: number,
  excess: number,
): PictureFlag {
  return {
    kind,
    first,
    last: end - 1,
    value,
    threshold,
    confidence: clamp(0.5 + 0.25 * (excess - 1), 0.5, 0.95),
  };
}

/** First picture and end (one past the last) of every shot. */
export function shots(cuts: readonly number[], count: number): [number, number][] {
  const starts = [0, ...cuts.filter((cut) => cut > 0 && cut < count)];
  return starts.map((start, i) => [start, starts[i + 1] ?? count]);
}

/**
 * Median over the shot of the displacement minus its moving mean, where a displacement explains the change;
 * 0 where it rarely does.
 */
function shakiness(
  series: FrameSeries,
  first: number,
  end: number,
  fps: number,
  leastExplained = SHAKY_EXPLAINED,
): number {
  const half = Math.max(2, Math.round(fps / 4));
  const fast: number[] = [];
  for (let i = first + 1; i < end; i += 1) {
    if ((series.motionResidual[i] ?? 1) >= EXPLAINED_RESIDUAL) continue;
    const from = Math.max(first + 1, i - half);
    const to = Math.min(end, i + half + 1);
    const x = (series.motionX[i] ?? 0) - mean(series.motionX.slice(from, to));
    const y = (series.motionY[i] ?? 0) - mean(series.motionY.slice(from, to));
    fast.push(Math.hypot(x, y));
  }
  if (fast.length < leastExplained * (end - first)) return 0;
  return (median(fast) / series.size.width) * (fps / 30);
}

function bestSecond(sharpness: readonly number[], fps: number): number {
  const window = Math.max(1, Math.round(fps));
  const seconds: number[] = [];
  for (let at = 0; at < sharpness.length; at += window)
    seconds.push(median(sharpness.slice(at, at + window)));
  return quantile(seconds, 1);
}
