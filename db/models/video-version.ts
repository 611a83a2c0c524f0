import type { CaptionStyle } from '#common/caption-styles.ts';
import type { FixOutcome } from '#common/api/quick-fixes.ts';
import type { FixId } from '#common/fixes.ts';
import type { MediaSummary } from '#common/report.ts';
import type { FixesApplied } from '#common/video.ts';
import { BaseModel } from '../base-model.ts';

/** One immutable file of a video: the original, the result of a repair or quick fix, or an export of either. */
export class VideoVersion extends BaseModel {
  static override tableName = 'video_versions';
  static override jsonAttributes = ['fixes', 'fixesApplied', 'media'];
  declare id: string;
  declare videoId: string;
  declare kind: 'original' | 'repair' | 'fixes' | 'export' | 'platform' | 'captioned';
  declare sha256: string;
  declare sizeBytes: number;
  declare reportSha256: string | null;
  declare captionsSha256: string | null;
  declare posterSha256: string | null;
  /** Only for exports, platform files and files with captions: the result it was made from. */
  declare sourceSha256: string | null;
  /** Only for exports: shorter side of the picture in pixels. */
  declare shortSide: number | null;
  /** Quick fixes in it, including those of its ancestors; for a platform file, the fix that made it. */
  declare fixes: FixOutcome[] | null;
  /** What its video shows as repaired while it is the current version; null for platform files and exports. */
  declare fixesApplied: FixesApplied | null;
  /** Only for versions with quick fixes: what the file holds; a repair has it in its report. */
  declare media: MediaSummary | null;
  /** How far its sound was moved by hand since the repair or the original, ms; null for not at all. */
  declare soundMovedMs: number | null;
  /** Only for platform files: the fix that made it. */
  declare platformFix: FixId | null;
  /** Only for files with captions in the picture: how they are drawn, and which saved captions they show. */
  declare captionStyle: CaptionStyle | null;
  declare captionsRevision: number | null;
  declare createdAt: number;
}
