import { BaseModel } from '../base-model.ts';

/** One immutable state of a video: the original, or what a repair or quick fix made of it. */
export class VideoVersion extends BaseModel {
  static override tableName = 'video_versions';
  declare id: string;
  declare videoId: string;
  declare kind: 'original' | 'repair' | 'fixes';
  declare sha256: string;
  declare sizeBytes: number;
  declare reportSha256: string | null;
  declare captionsSha256: string | null;
  declare posterSha256: string | null;
  declare createdAt: number;
}
