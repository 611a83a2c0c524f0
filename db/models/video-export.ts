import { BaseModel } from '../base-model.ts';

/** The export of a video that is being made, or why it could not be made; gone once it is a version. */
export class VideoExport extends BaseModel {
  static override tableName = 'video_exports';
  static override idColumn = 'videoId';
  declare videoId: string;
  /** The result it is made from. */
  declare sourceSha256: string;
  /** Shorter side of the picture in pixels. */
  declare shortSide: number;
  declare state: 'waiting' | 'running' | 'failed';
  /** 0 to 100. */
  declare progress: number;
  /** Why it failed, for people. */
  declare message: string | null;
  declare updatedAt: number;
}
