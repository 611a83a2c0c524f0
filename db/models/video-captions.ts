import type { CaptionAxis, VideoCue } from '#common/captions.ts';
import { BaseModel } from '../base-model.ts';

/** The captions of a video as its people saved them; without a row they are what the repair timed. */
export class VideoCaptions extends BaseModel {
  static override tableName = 'video_captions';
  static override idColumn = 'videoId';
  static override jsonAttributes = ['cues'];
  declare videoId: string;
  declare cues: VideoCue[];
  /** Of which clip their times are. */
  declare axis: CaptionAxis;
  /** Rises with every save. */
  declare revision: number;
  declare createdAt: number;
  declare updatedAt: number;
}
