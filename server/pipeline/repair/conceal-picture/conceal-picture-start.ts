import type { LostBlocks } from '#server/media/lost-blocks.ts';
import type { GreyPlane } from '../rebuild-pictures/rebuild-pictures-grid.ts';
import type { MotionKernel } from '../rebuild-pictures/rebuild-pictures-kernel.ts';
import { movedErrors } from './conceal-picture-errors.ts';

/** Mean square error that says nothing of a block: noise and rounding. */
const FLOOR = 2;
/** How many times as far from the picture before as usual a block must be to speak for a fault. */
const TORN_TIMES = 2.5;
/** Logarithm that one block speaks for or against it with at most. */
const MOST_SAID = 2;

/**
 * From which block on a picture shows a fault. Data behind it that are wrong but possible make blocks that the picture before
 * holds nowhere; what they differ from it by along the motion is held against what that one differs from its own. The place is taken where
 * all blocks behind it speak most for a fault (cumulative sum test: Page, "Continuous inspection schemes", 1954).
 * @param lost as far as it is known: data are impossible from its first block on
 * @param mostBefore blocks at most in front of that which are looked at
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
