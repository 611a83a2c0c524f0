import type { CaptionStyle } from '#common/caption-styles.ts';
import type { VideoCue } from '#common/captions.ts';
import { BaseModel } from '../base-model.ts';

/** The newest wish for a file with captions in the picture. */
export class CaptionBurn extends BaseModel {
  static override tableName = 'caption_burns';
  static override idColumn = 'videoId';
  static override jsonAttributes = ['cues'];
  declare videoId: string;
  /** The job that works on it, or did. */
  declare jobId: string;
  declare style: CaptionStyle;
  /** The result it is made of. */
  declare sourceSha256: string | null;
  /** The saved captions it is made of, and their worded cues while it is made: a kill or a change of words in between mixes nothing. */
  declare captionsRevision: number;
  declare cues: VideoCue[];
  declare state: 'waiting' | 'working' | 'done' | 'failed' | 'cancelled';
  /** 0 to 100. */
  declare progress: number;
  declare message: string | null;
  declare createdAt: number;
  declare updatedAt: number;
}
