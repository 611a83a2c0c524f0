import type { FixOutcome } from '#common/api/quick-fixes.ts';
import { BaseModel } from '../base-model.ts';

/** The newest request for quick fixes of a video. */
export class FixRun extends BaseModel {
  static override tableName = 'fix_runs';
  static override idColumn = 'videoId';
  static override jsonAttributes = ['fixes'];
  declare videoId: string;
  /** The job that works on it, or did. */
  declare jobId: string;
  /** The version it was asked for. */
  declare sourceVersionId: string | null;
  /** The version that came of it; null while it runs and when nothing had to be changed. */
  declare resultVersionId: string | null;
  declare state: 'waiting' | 'working' | 'done' | 'failed' | 'cancelled';
  /** 0 to 100. */
  declare progress: number;
  /** Seconds left by the measured rate; null while unknown. */
  declare remainingS: number | null;
  declare fixes: FixOutcome[];
  declare message: string | null;
  /** Rises with every change. */
  declare revision: number;
  declare createdAt: number;
  declare updatedAt: number;
}
