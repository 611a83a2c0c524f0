import type { StorylineDto } from '#common/api/storyline.ts';
import { BaseModel } from '../base-model.ts';

/** The storyline of one version; kept while it is made again. */
export class StorylineRow extends BaseModel {
  static override tableName = 'storylines';
  static override idColumn = 'versionId';
  static override jsonAttributes = ['storyline'];
  declare versionId: string;
  /** The job that makes it, or made it. */
  declare jobId: string;
  declare state: 'waiting' | 'working' | 'ready' | 'failed';
  /** 0 to 100. */
  declare progress: number;
  declare storyline: StorylineDto | null;
  declare message: string | null;
  declare createdAt: number;
  declare updatedAt: number;
}
