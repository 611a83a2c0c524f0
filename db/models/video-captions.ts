import type { CaptionAxis, VideoCue } from '#common/captions.ts';
import { BaseModel } from '../base-model.ts';

/** The captions of a video as people saved them; without a row they are those the repair timed. */
export class VideoCaptions extends BaseModel {
  static override tableName = 'video_captions';
  static override idColumn = 'videoId';
  static override jsonAttributes = ['cues'];
  declare videoId: string;
  declare cues: VideoCue[];
  /** The clip that their times refer to. */
  declare axis: CaptionAxis;
  /** Rises with every save. */
  declare revision: number;
  declare createdAt: number;
  declare updatedAt: number;
}
