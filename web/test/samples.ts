import type { StatusDto, VideoDto } from '#common/api/videos.ts';
import { NO_ISSUES } from '#common/video.ts';

/** A status at work; change what the test is about. */
export function makeStatus(change: Partial<StatusDto> = {}): StatusDto {
  return {
    id: 'video-0001-abcdef',
    status: 'processing',
    progress: 40,
    currentStep: 'fixing_cuts',
    estimatedTimeRemaining: 61,
    errorMessage: null,
    queuePosition: null,
    steps: [],
    version: 3,
    updatedAt: '2026-05-04T10:00:00.000Z',
    ...change,
  };
}

/** A finished video without defects; change what the test is about. */
export function makeVideo(change: Partial<VideoDto> = {}): VideoDto {
  return {
    ...makeStatus({ status: 'completed', progress: 100, currentStep: null, estimatedTimeRemaining: null }),
    originalFileName: 'harbour.mp4',
    fileSize: 3 * 1024 ** 2,
    createdAt: '2026-05-04T09:00:00.000Z',
    issues: NO_ISSUES,
    fixesApplied: {},
    durationMs: 12_000,
    width: 1280,
    height: 720,
    hasPoster: false,
    hasReport: false,
    hasCaptions: false,
    unchanged: false,
    resultSizeBytes: 3 * 1024 ** 2,
    originalSha256: null,
    resultSha256: null,
    isSample: false,
    shared: false,
    ...change,
  };
}
