import type { LostBlocks } from '#server/media/lost-blocks.ts';
import type { GreyPlane } from '../rebuild-pictures/rebuild-pictures-grid.ts';
import type { MotionKernel } from '../rebuild-pictures/rebuild-pictures-kernel.ts';
import { movedErrors } from './conceal-picture-errors.ts';

/** Mean square error of a block that means nothing: noise and rounding. */
const FLOOR = 2;
/** A block this many times as far from the picture before as usual points to a fault. */
const TORN_TIMES = 2.5;
/** Most that one block counts for or against a fault, as a logarithm. */
const MOST_SAID = 2;

/**
 * Finds the block from which a picture shows a fault. Data that are wrong but still decodable make blocks that the
 * picture before does not hold. Their errors along the motion are compared with the same errors of the picture before.
 * The result is the place after which all blocks together point most to a fault (cumulative sum test: Page, "Continuous
 * inspection schemes", 1954).
 * @param lost the known loss: from its first block on, data cannot be decoded
 * @param mostBefore most blocks before it that are examined
 */
export function firstTornBlock(
  earlier: GreyPlane,
  before: GreyPlane,
  damaged: GreyPlane,
  lost: LostBlocks,
  kernel: MotionKernel,
  mostBefore = Infinity,
): number {
  const across = Math.ceil(damaged.width / lost.size);
  const end = Math.min(damaged.height, lost.size * Math.ceil(lost.first / across));
  if (end === 0) return lost.first;
  const usual = movedErrors(earlier, before, end, lost.size, kernel);
  const own = movedErrors(before, damaged, end, lost.size, kernel);
  let [first, most, sum] = [lost.first, 0, 0];
  for (let block = lost.first - 1; block >= Math.max(0, lost.first - mostBefore); block -= 1) {
    const said = Math.log(((own[block] ?? 0) + FLOOR) / ((usual[block] ?? 0) + FLOOR) / TORN_TIMES);
    sum += Math.max(-MOST_SAID, Math.min(MOST_SAID, said));
    if (sum <= most) continue;
    [first, most] = [block, sum];
  }
  return first;
}
