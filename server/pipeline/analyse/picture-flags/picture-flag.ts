import type { PictureLook } from '#server/media/grey/grey-look.ts';
import type { FrameSeries } from '#server/media/grey/grey-series.ts';
import { clamp } from '#server/media/statistics.ts';

/** A property of a stretch of pictures that people may want to know; nothing is repaired because of it. */
export interface PictureFlag {
  readonly kind: 'shaky_footage' | 'poor_lighting' | 'blurry_section';
  /** First and last decoded picture of the stretch. */
  readonly first: number;
  readonly last: number;
  readonly value: number;
  readonly threshold: number;
  readonly confidence: number;
}

/** Shorter shots and stretches are not judged, seconds. */
export const MIN_SHOT_S = 1;
/** Share of evenly grey blocks from which pictures are a drawing or a screen. */
export const DRAWN = 0.75;

/** Confidence at the threshold. Next to no clip as uploaded reaches a threshold, so whatever does is reported. */
const AT_LIMIT = 0.65;

/**
 * @param end one past the last picture
 * @param excess how far the value lies beyond the threshold; 1 at the threshold
 */
export function flag(
  kind: PictureFlag['kind'],
  first: number,
  end: number,
  value: number,
  threshold: number,
  excess: number,
): PictureFlag {
  const confidence = clamp(AT_LIMIT + 0.25 * (excess - 1), AT_LIMIT, 0.95);
  return { kind, first, last: end - 1, value, threshold, confidence };
}

/** First picture and end (one past the last) of every shot that is long enough to judge. */
export function longShots(count: number, cuts: readonly number[], fps: number): [number, number][] {
  const starts = [0, ...cuts.filter((cut) => cut > 0 && cut < count)];
  return starts
    .map((start, i): [number, number] => [start, starts[i + 1] ?? count])
    .filter(([first, end]) => end - first >= MIN_SHOT_S * fps);
}

/** The measures of the pictures of a shot that were looked at, with their numbers. */
export function looksIn(
  looks: FrameSeries['looks'],
  first: number,
  end: number,
): (PictureLook & { readonly at: number })[] {
  const found: (PictureLook & { readonly at: number })[] = [];
  for (let at = first; at < end; at += 1) {
    const look = looks.get(at);
    if (look) found.push({ at, ...look });
  }
  return found;
}
