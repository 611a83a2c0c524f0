import type { FixOutcome } from '#common/api/quick-fixes.ts';
import type { Noticed } from '#common/noticed.ts';
import { RequestRow } from './request-row.ts';

/** The newest request for quick fixes of a video. */
export class FixRun extends RequestRow {
  static override tableName = 'fix_runs';
  static override jsonAttributes = ['fixes', 'noticed'];
  /** The version that it was requested for. */
  declare sourceVersionId: string | null;
  /** The resulting version; null while it runs and when nothing had to be changed. */
  declare resultVersionId: string | null;
  /** Seconds left at the measured rate; null while unknown. */
  declare remainingS: number | null;
  declare fixes: FixOutcome[];
  /** What somebody noticed, if it was asked for instead of quick fixes; null or absent otherwise. */
  declare noticed?: Noticed | null;
  /** Rises with every change. */
  declare revision: number;
  declare createdAt: number;
}
