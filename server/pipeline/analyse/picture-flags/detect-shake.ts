import type { FrameSeries } from '#server/media/grey/grey-series.ts';
import { mean, median } from '#server/media/statistics.ts';
import { DRAWN, flag, longShots, looksIn, type PictureFlag } from './picture-flag.ts';

/** Fast part of the global motion: shares of the picture width per thirtieth of a second. */
const SHAKY = 0.005;
/** Share of pictures whose change a displacement of the whole picture explains; else only things move. */
const SHAKY_EXPLAINED = 0.35;
/** Left-over difference below which a displacement explains a picture. */
const EXPLAINED_RESIDUAL = 0.6;
/** A stretch that shakes, seconds: shorter ones are a jerk. */
const MIN_SHAKE_S = 1.5;

/**
 * Shots and stretches of them that shake: the global displacement minus its moving mean over half a second, where one
 * displacement explains the picture, by its median over a second and a half around each picture.
 */
export function detectShake(series: FrameSeries, cuts: readonly number[], fps: number): PictureFlag[] {
  return longShots(series.count, cuts, fps).flatMap(([first, end]) => {
    if (isDrawn(series, first, end)) return [];
    const fast = fastMotion(series, first, end, fps);
    const judge = (from: number, to: number) =>
      shareOfWidth(fast.slice(from - first, to - first), series, fps);
    const half = Math.round((MIN_SHAKE_S * fps) / 2);
    const isShaky = fast.map(
      (_, i) => judge(Math.max(first, first + i - half), first + i + half + 1) > SHAKY,
    );
    const least = Math.min(MIN_SHAKE_S * fps, end - first);
    return runsOf(isShaky)
      .filter(([from, to]) => to - from >= least)
      .map(([from, to]) => [first + from, first + to, judge(first + from, first + to)] as const)
      .filter(([, , value]) => value > SHAKY)
      .map(([from, to, value]) => flag('shaky_footage', from, to, value, SHAKY, value / SHAKY));
  });
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
  const long = longShots(series.count, cuts, fps);
  if (long.length === 0) return null;
  return Math.max(
    ...long.map(([first, end]) =>
      shareOfWidth(fastMotion(series, first, end, fps), series, fps, leastExplained),
    ),
  );
}

/** Whether a shot is drawn or a screen: what moves there is no camera. */
function isDrawn({ looks }: FrameSeries, first: number, end: number): boolean {
  return median(looksIn(looks, first, end).map(({ flatShare }) => flatShare)) >= DRAWN;
}

/** Displacement minus its moving mean, pixels of the small picture, for each picture of a shot; null where none explains the change. */
function fastMotion(series: FrameSeries, first: number, end: number, fps: number): (number | null)[] {
  const half = Math.max(2, Math.round(fps / 4));
  return Array.from({ length: end - first }, (_, offset) => {
    const i = first + offset;
    if (offset === 0 || (series.motionResidual[i] ?? 1) >= EXPLAINED_RESIDUAL) return null;
    const from = Math.max(first + 1, i - half);
    const to = Math.min(end, i + half + 1);
    const x = (series.motionX[i] ?? 0) - mean(series.motionX.slice(from, to));
    const y = (series.motionY[i] ?? 0) - mean(series.motionY.slice(from, to));
    return Math.hypot(x, y);
  });
}

/** Median of the fast motion, share of the width per thirtieth of a second; 0 where a displacement rarely explains the change. */
function shareOfWidth(
  fast: readonly (number | null)[],
  series: FrameSeries,
  fps: number,
  leastExplained = SHAKY_EXPLAINED,
): number {
  const known = fast.filter((one) => one !== null);
  if (known.length < leastExplained * fast.length) return 0;
  return (median(known) / series.size.width) * (fps / 30);
}

/** First and end (one past the last) of each run of pictures that are so. */
function runsOf(is: readonly boolean[]): [number, number][] {
  const runs: [number, number][] = [];
  for (const [i, one] of is.entries()) {
    if (!one) continue;
    const before = runs.at(-1);
    if (before?.[1] === i) before[1] = i + 1;
    else runs.push([i, i + 1]);
  }
  return runs;
}
