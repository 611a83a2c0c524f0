import type { CountedPicture } from '../lost-counts.ts';
import { baseSlices } from './hevc-nal.ts';
import { createOrderReader } from './hevc-references.ts';

/** The order count of a picture, from its NAL units; null where that cannot be read. */
export type CountReader = (units: readonly Buffer[]) => Pick<CountedPicture, 'count' | 'period'> | null;

/**
 * Reads the order counts of HEVC pictures, passed one by one in decode order (ITU-T H.265, 8.3.1).
 * @param parameterSets of the sample description
 * @returns null where the sets are not supported or damaged
 */
export function createCountReader(parameterSets: readonly Buffer[]): CountReader | null {
  const read = createOrderReader(parameterSets);
  if (!read) return null;
  let period = 0;
  return (units) => {
    const [slice] = baseSlices(units);
    const picture = slice ? read(slice, true) : null;
    if (!picture) return null;
    if (picture.restarts) period += 1;
    return { count: picture.order, period };
  };
}
