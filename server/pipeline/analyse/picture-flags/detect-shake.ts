import type { FrameSeries } from '#server/media/grey/grey-series.ts';
import { mean, median } from '#server/media/statistics.ts';
import { DRAWN, flag, longShots, looksIn, type PictureFlag } from './picture-flag.ts';

/** Fast part of the global motion from which a shot is shaky: share of the picture width per thirtieth of a second. */
const SHAKY = 0.005;
/**
 * Share of pictures whose change must be explained by a displacement of the whole picture; otherwise only objects move.
 */
const SHAKY_EXPLAINED = 0.35;
/** Remaining difference below which a displacement explains a picture. */
const EXPLAINED_RESIDUAL = 0.6;
/** Shorter shakes are a jerk, seconds. */
const MIN_SHAKE_S = 1.5;

/**
 * Finds shots, or stretches of them, that shake. It takes the global displacement minus its moving mean over half a
 * second, for pictures that one displacement explains, and the median of that over 1.5 s around each picture.
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
 * The shake of the shakiest shot of a clip, measured as for the flag `shaky_footage`: share of the picture width per
 * thirtieth of a second; null when no shot is long enough.
 * @param leastExplained share of pictures that a displacement must explain; below it a shot counts as steady
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

/** Whether a shot is a drawing or a screen: its motion is not the camera's. */
function isDrawn({ looks }: FrameSeries, first: number, end: number): boolean {
  return median(looksIn(looks, first, end).map(({ flatShare }) => flatShare)) >= DRAWN;
}

/**
 * For each picture of a shot, the displacement minus its moving mean, pixels of the small picture; null when none
 * explains the change.
 */
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

/**
 * Median of the fast motion, share of the width per thirtieth of a second; 0 when a displacement seldom explains the
 * change.
 */
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

/** First and end (one past the last) of each run of true values. */
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
