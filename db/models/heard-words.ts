import type { VideoCue } from '#common/captions.ts';
import { BaseModel } from '../base-model.ts';

/** What a speech engine heard in a video; kept while it listens anew. */
export class HeardWords extends BaseModel {
  static override tableName = 'heard_words';
  static override idColumn = 'videoId';
  static override jsonAttributes = ['cues'];
  declare videoId: string;
  /** The job that listens, or did. */
  declare jobId: string;
  declare state: 'waiting' | 'working' | 'done' | 'failed';
  /** 0 to 100. */
  declare progress: number;
  declare cues: VideoCue[] | null;
  declare message: string | null;
  declare createdAt: number;
  declare updatedAt: number;
}
