import type { ComparisonLayout } from '#common/api/comparison.ts';
import { BaseModel } from '../base-model.ts';

/** The before/after clip of one version; the row is created by the first request. */
export class VersionPreview extends BaseModel {
  static override tableName = 'version_previews';
  static override idColumn = 'versionId';
  static override jsonAttributes = ['layout'];
  declare versionId: string;
  declare state: 'waiting' | 'making' | 'ready' | 'failed';
  /** 0 to 100. */
  declare progress: number;
  declare sha256: string | null;
  declare layout: ComparisonLayout | null;
  declare message: string | null;
  declare createdAt: number;
  declare updatedAt: number;
}
