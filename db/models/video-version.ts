import type { CaptionStyle } from '#common/caption-styles.ts';
import type { FixOutcome } from '#common/api/quick-fixes.ts';
import type { FixId } from '#common/fixes.ts';
import type { FixesApplied } from '#common/video.ts';
import { BaseModel } from '../base-model.ts';

/** One immutable state of a video: the original, what a repair or quick fix made of it, or an export of either. */
export class VideoVersion extends BaseModel {
  static override tableName = 'video_versions';
  static override jsonAttributes = ['fixes', 'fixesApplied'];
  declare id: string;
  declare videoId: string;
  declare kind: 'original' | 'repair' | 'fixes' | 'export' | 'platform' | 'captioned';
  declare sha256: string;
  declare sizeBytes: number;
  declare reportSha256: string | null;
  declare captionsSha256: string | null;
  declare posterSha256: string | null;
  /** Exports, platform files and files with captions only: the result it was made from. */
  declare sourceSha256: string | null;
  /** Exports only: shorter side of the picture in pixels. */
  declare shortSide: number | null;
  /** Quick fixes in it, its ancestors' included; for a platform file the one that made it. */
  declare fixes: FixOutcome[] | null;
  /** What its video shows as mended while it is the current version; null in platform files and exports. */
  declare fixesApplied: FixesApplied | null;
  /** Platform files only: the fix that made it. */
  declare platformFix: FixId | null;
  /** Files with captions in the picture only: how they are drawn, and which saved captions they show. */
  declare captionStyle: CaptionStyle | null;
  declare captionsRevision: number | null;
  declare createdAt: number;
}
