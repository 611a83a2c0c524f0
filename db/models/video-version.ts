import { BaseModel } from '../base-model.ts';

/** One immutable state of a video: the original, what a repair or quick fix made of it, or an export of either. */
export class VideoVersion extends BaseModel {
  static override tableName = 'video_versions';
  declare id: string;
  declare videoId: string;
  declare kind: 'original' | 'repair' | 'fixes' | 'export';
  declare sha256: string;
  declare sizeBytes: number;
  declare reportSha256: string | null;
  declare captionsSha256: string | null;
  declare posterSha256: string | null;
  /** Exports only: the result it was made from. */
  declare sourceSha256: string | null;
  /** Exports only: shorter side of the picture in pixels. */
  declare shortSide: number | null;
  declare createdAt: number;
}
