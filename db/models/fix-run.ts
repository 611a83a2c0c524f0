import type { FixOutcome } from '#common/api/quick-fixes.ts';
import { RequestRow } from './request-row.ts';

/** The newest request for quick fixes of a video. */
export class FixRun extends RequestRow {
  static override tableName = 'fix_runs';
  static override jsonAttributes = ['fixes'];
  /** The version that it was requested for. */
  declare sourceVersionId: string | null;
  /** The resulting version; null while it runs and when nothing had to be changed. */
  declare resultVersionId: string | null;
  /** Seconds left at the measured rate; null while unknown. */
  declare remainingS: number | null;
  declare fixes: FixOutcome[];
  /** Rises with every change. */
  declare revision: number;
  declare createdAt: number;
}
