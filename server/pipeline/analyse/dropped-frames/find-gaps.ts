import type { FrameSeries } from '#server/media/grey/grey-series.ts';
import type { LostBetween } from '#server/media/lost-counts.ts';
import type { PictureTimes } from '../analysis.ts';
import type { createChangeTo } from './change-to.ts';
import { countedGaps, withCounted } from './counted-gaps.ts';
import { detectTimestampGaps, type TimestampGap } from './detect-dropped-frames.ts';
import { withoutHolds, withoutRests, withoutUnevenStart, withoutWaits } from './gaps-at-rest.ts';
import { findHolesWithoutLoss } from './gaps-without-loss.ts';

export interface GapsInput {
  readonly times: PictureTimes;
  /** Pictures that the stream counts but the file does not contain. */
  readonly lost: readonly LostBetween[];
  readonly series: Pick<FrameSeries, 'blockDiff' | 'meanDiff' | 'motionX' | 'motionY'>;
  readonly changeTo: ReturnType<typeof createChangeTo>;
  /** Pictures whose steps are unreliable. */
  readonly unfit: ReadonlySet<number>;
  /** Whether an empty place says that the picture stays (`countsPlaces`). */
  readonly holdsPictures: boolean;
}

export interface Gaps {
  /** All holes in the times. */
  readonly listed: readonly TimestampGap[];
  /** Holes in which nothing is missing. */
  readonly empty: readonly TimestampGap[];
  readonly gaps: readonly TimestampGap[];
}

/**
 * Finds holes in the times, and those in which pictures are missing: by the count of the stream, else by the motion.
 */
export function findGaps({ times, lost, series, changeTo, unfit, holdsPictures }: GapsInput): Gaps {
  const moves = series.blockDiff.get(1) ?? [];
  const counted = new Set(countedGaps(times, lost));
  const moveTo = changeTo(moves);
  const listed = withCounted(detectTimestampGaps(times), [...counted]);
  const uncounted = listed.filter((gap) => !counted.has(gap));
  const open = withoutWaits(withoutUnevenStart(uncounted, times, moveTo), moveTo);
  const without = holdsPictures ? withoutHolds : times.variableByNature ? withoutRests : null;
  const empty = without
    ? []
    : findHolesWithoutLoss(open, {
        blockTo: changeTo(moves, { unfit }),
        blockOverTwoTo: changeTo(series.blockDiff.get(2) ?? [], { steps: 2, unfit }),
        wholeTo: changeTo(series.meanDiff, { unfit }),
        shiftXTo: changeTo(series.motionX, { unfit }),
        shiftYTo: changeTo(series.motionY, { unfit }),
      });
  const told = new Set(without ? without(open, moveTo) : open.filter((gap) => !empty.includes(gap)));
  return { listed, empty, gaps: listed.filter((gap) => counted.has(gap) || told.has(gap)) };
}
