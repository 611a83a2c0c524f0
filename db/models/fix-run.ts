import type { FixOutcome } from '#common/api/quick-fixes.ts';
import { RequestRow } from './request-row.ts';

/** The newest request for quick fixes of a video. */
export class FixRun extends RequestRow {
  static override tableName = 'fix_runs';
  static override jsonAttributes = ['fixes'];
  /** The version it was asked for. */
  declare sourceVersionId: string | null;
  /** The version that came of it; null while it runs and when nothing had to be changed. */
  declare resultVersionId: string | null;
  /** Seconds left by the measured rate; null while unknown. */
  declare remainingS: number | null;
  declare fixes: FixOutcome[];
  /** Rises with every change. */
  declare revision: number;
  declare createdAt: number;
}
