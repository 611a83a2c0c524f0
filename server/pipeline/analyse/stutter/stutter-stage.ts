import type { FrameSeries } from '#server/media/grey/grey-series.ts';

/** By this many pictures behind a run whatever enters has begun to show... */
const FLANK = 6;
/**
 * ...and the picture has this many times the detail (mean squared gradient) of the run. In two montages, of whose plates two and three pictures were
 * taken out, it has 100 and 54 times as much; behind runs planted right behind cuts 1.2 times at most, in one of motion graphics 4.7.
 */
const MIN_GAIN = 10;

/**
 * True for a run right behind a cut that shows an empty stage: a plate or a backdrop that rests until words, pictures or somebody enter. What was filmed
 * has its detail from its first picture on; a copy of it has as much.
 */
export function isEmptyStage(
  { sharpness }: Pick<FrameSeries, 'sharpness'>,
  {
    first,
    last,
    cutSet,
  }: { readonly first: number; readonly last: number; readonly cutSet: ReadonlySet<number> },
): boolean {
  if (!cutSet.has(first - 1) && !cutSet.has(first)) return false;
  let shown = last;
  while (shown < last + FLANK && shown + 1 < sharpness.length && !cutSet.has(shown + 1)) shown += 1;
  return (sharpness[shown] ?? 0) >= MIN_GAIN * Math.max(1, sharpness[last] ?? 0);
}
