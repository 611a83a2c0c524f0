import { Model } from 'objection';
import type { LiveFindings } from '#common/live-findings.ts';
import type { StepRecord } from '#common/report.ts';
import type { FixesApplied, ProcessingStepId, VideoIssues, VideoStatus } from '#common/video.ts';
import { BaseModel } from '../base-model.ts';
import { VideoVersion } from './video-version.ts';

export class Video extends BaseModel {
  static override tableName = 'videos';
  static override jsonAttributes = ['issues', 'fixesApplied', 'steps', 'liveFindings'];
  static override booleanColumns = ['isSample', 'shared'];
  declare id: string;
  declare userId: string;
  declare uploadId: string | null;
  declare originalFileName: string;
  /** Derived from the name, for searching and for sorting (`video-columns.ts`). */
  declare nameLower: string;
  declare nameKey: string;
  /** Bytes of the original. */
  declare fileSize: number;
  declare originalSha256: string;
  /** The version that stream and download serve; null until the first result. */
  declare currentVersionId: string | null;
  declare status: VideoStatus;
  /** 0 to 100; never falls within an attempt. */
  declare progress: number;
  declare currentStep: ProcessingStepId | null;
  declare remainingSeconds: number | null;
  declare errorCode: string | null;
  declare errorMessage: string | null;
  declare issues: VideoIssues | null;
  /** Derived from `issues`, for filtering; null before the analysis. */
  declare defectKinds: string | null;
  declare fixesApplied: FixesApplied;
  /** Derived from `fixesApplied`. */
  declare fixesCount: number;
  declare steps: StepRecord[];
  /** What a running repair has found and repaired so far; null otherwise. */
  declare liveFindings: LiveFindings | null;
  /** Rises with every change; clients ignore older states. */
  declare version: number;
  /** The attempt that may write; a late worker of an earlier attempt matches no row. */
  declare attempt: number;
  declare durationMs: number | null;
  declare width: number | null;
  declare height: number | null;
  /** Number of cues of the saved captions; null while they are those the repair timed. */
  declare captionCount: number | null;
  declare isSample: boolean;
  declare shared: boolean;
  declare createdAt: number;
  declare updatedAt: number;
  declare completedAt: number | null;

  declare currentVersion?: VideoVersion | null;

  static override get relationMappings() {
    return {
      currentVersion: {
        relation: Model.BelongsToOneRelation,
        modelClass: VideoVersion,
        join: { from: 'videos.currentVersionId', to: 'video_versions.id' },
      },
    };
  }
}
