import type { FrameSeries } from '#server/media/grey/grey-series.ts';
import { detectLooks } from './detect-looks.ts';
import { detectShake } from './detect-shake.ts';
import type { PictureFlag } from './picture-flag.ts';

/**
 * Finds shaky shots, and stretches that are dark or out of focus; never single pictures.
 * @param cuts first pictures of new shots, ascending
 * @param fps pictures a second
 */
export function detectPictureFlags(series: FrameSeries, cuts: readonly number[], fps: number): PictureFlag[] {
  return [...detectShake(series, cuts, fps), ...detectLooks(series, cuts, fps)];
}
