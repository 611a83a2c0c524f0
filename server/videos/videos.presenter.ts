import type { LimitedExport, StatusDto, VideoDto } from '#common/api/videos.ts';
import type { Video } from '#db/models/video.ts';

/**
 * Row -> state of processing.
 * @param queuePosition number of jobs before this one; null when it is not waiting
 * @param limitedExport the smaller copy that Download gives; null when it gives the whole result
 */
export function toStatusDto(
  video: Video,
  queuePosition: number | null,
  limitedExport: LimitedExport | null,
): StatusDto {
  return {
    id: video.id,
    status: video.status,
    progress: video.progress,
    currentStep: video.currentStep,
    estimatedTimeRemaining: video.remainingSeconds,
    errorMessage: video.errorMessage,
    errorCode: video.errorCode,
    queuePosition,
    steps: video.steps,
    findings: video.liveFindings,
    version: video.version,
    updatedAt: new Date(video.updatedAt).toISOString(),
    limitedExport,
  };
}

/** Row with its `currentVersion` -> entry of the library. */
export function toVideoDto(
  video: Video,
  queuePosition: number | null,
  limitedExport: LimitedExport | null,
): VideoDto {
  const result = video.currentVersion ?? null;
  return {
    ...toStatusDto(video, queuePosition, limitedExport),
    originalFileName: video.originalFileName,
    fileSize: video.fileSize,
    createdAt: new Date(video.createdAt).toISOString(),
    issues: video.issues,
    fixesApplied: video.fixesApplied,
    durationMs: video.durationMs,
    width: video.width,
    height: video.height,
    hasPoster: (result?.posterSha256 ?? null) !== null,
    hasReport: (result?.reportSha256 ?? null) !== null,
    hasCaptions:
      video.captionCount === null ? (result?.captionsSha256 ?? null) !== null : video.captionCount > 0,
    unchanged: result?.sha256 === video.originalSha256,
    resultSizeBytes: result?.sizeBytes ?? null,
    originalSha256: video.originalSha256,
    resultSha256: result?.sha256 ?? null,
    isSample: video.isSample,
    shared: video.shared,
  };
}
