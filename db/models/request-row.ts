import { BaseModel } from '../base-model.ts';

/** Columns of every table with the newest request for something made from a video, one row per video. */
export class RequestRow extends BaseModel {
  static override idColumn = 'videoId';
  declare videoId: string;
  /** The job that works on it, or worked on it. */
  declare jobId: string;
  declare state: 'waiting' | 'working' | 'done' | 'failed' | 'cancelled';
  /** 0 to 100. */
  declare progress: number;
  /** Why it failed or is waiting, in a sentence for people. */
  declare message: string | null;
  declare updatedAt: number;
}
