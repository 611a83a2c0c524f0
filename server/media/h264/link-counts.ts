import type { CountedPicture } from '../lost-counts.ts';
import type { LinkedPicture, ReferenceLink } from './lost-references.ts';
import type { Sps } from './sps.ts';

/** Order counts of pictures, and the number at which they start over. */
export interface LinkCounts {
  readonly pictures: readonly CountedPicture[];
  readonly range: number;
}

/**
 * Order counts of H.264 pictures, from what they say about their references (ITU-T H.264, 8.2.1).
 * @param pictures decode order
 * @returns null where order counts follow from offsets (type 1), which say nothing about single pictures
 */
export function linkCounts(
  pictures: readonly LinkedPicture[],
  { frameNumBits, pocBits, pocType }: Pick<Sps, 'frameNumBits' | 'pocBits' | 'pocType'>,
): LinkCounts | null {
  if (pocType === 1) return null;
  let period = 0;
  const counted = pictures.map(({ link, pts }): CountedPicture => {
    if (link?.idr) period += 1;
    const own = { pts, count: link && countOf(link), period };
    if (link?.restartsNumbers) period += 1;
    return own;
  });
  return { pictures: counted, range: pocType === 0 ? 2 ** pocBits : 2 ** (frameNumBits + 1) };
}

/**
 * Order count. Where it follows from the frame number, that of pictures which others refer to is twice the number
 * (8.2.1.3).
 */
const countOf = ({ pocLsb, frameNum, refIdc }: ReferenceLink): number =>
  pocLsb ?? 2 * frameNum - (refIdc === 0 ? 1 : 0);
