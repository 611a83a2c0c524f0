import type { MendedSpan } from '../mended-pictures.ts';
import type { TimestampGap } from './dropped-frames/detect-dropped-frames.ts';
import type { PictureIndex } from './packets/picture-times.ts';
import type { StutterRun } from './stutter/stutter-history.ts';

/** What is known about the reliability of a decoded picture. */
export interface Trust {
  /** It is neither damaged nor refers to a damaged picture. */
  readonly isSound: (decoded: number) => boolean;
  /** Its own data are intact, whatever it refers to. */
  readonly speaksTrue: (decoded: number) => boolean;
  /** An earlier repair kept it and has examined it. */
  readonly isSettled: (decoded: number) => boolean;
}

/**
 * Decoded pictures whose jump is already explained: after holes in the times, at the ends of damage, at damaged data,
 * over pictures that cannot be decoded, and in what an earlier repair kept. Between pictures that only refer to damaged
 * ones, a jump is as reliable as elsewhere.
 */
export function explained(
  count: number,
  gaps: readonly TimestampGap[],
  { frameOfDecoded }: Pick<PictureIndex, 'frameOfDecoded'>,
  { isSound, speaksTrue, isSettled }: Trust,
): Set<number> {
  const taken = new Set<number>();
  const behindGaps = new Set(gaps.map((gap) => gap.frameBefore + 1));
  const isTrueStep = (i: number) => {
    const follows = i === 0 || (frameOfDecoded[i] ?? i) === (frameOfDecoded[i - 1] ?? i - 1) + 1;
    return follows && isSound(i) === isSound(i - 1) && speaksTrue(i) && speaksTrue(i - 1) && !isSettled(i);
  };
  for (let i = 0; i < count; i += 1) {
    if (behindGaps.has(frameOfDecoded[i] ?? -1) || !isTrueStep(i)) taken.add(i);
  }
  return taken;
}

/** Decoded pictures of some runs, and those right after them, whose jump the runs explain. */
export function explainedByRuns(runs: readonly StutterRun[]): number[] {
  return runs.flatMap(({ first, last }) => Array.from({ length: last + 2 - first }, (_, i) => first + i));
}

/** Pictures in some spans, by display number. */
export function framesOf(spans: readonly Pick<MendedSpan, 'first' | 'last'>[]): Set<number> {
  const frames = new Set<number>();
  for (const span of spans) for (let frame = span.first; frame <= span.last; frame += 1) frames.add(frame);
  return frames;
}
