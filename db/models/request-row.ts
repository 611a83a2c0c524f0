import { BaseModel } from '../base-model.ts';

/** Columns of every table that holds the newest request for something made of a video, one row a video. */
export class RequestRow extends BaseModel {
  static override idColumn = 'videoId';
  declare videoId: string;
  /** The job that works on it, or did. */
  declare jobId: string;
  declare state: 'waiting' | 'working' | 'done' | 'failed' | 'cancelled';
  /** 0 to 100. */
  declare progress: number;
  /** Why it failed or waits, for people. */
  declare message: string | null;
  declare updatedAt: number;
}
