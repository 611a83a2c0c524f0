import type { ClipVersionDto } from '#common/api/quick-fixes.ts';
import type { StatusDto, VideoDto } from '#common/api/videos.ts';
import { REPORT_SCHEMA, type RepairReport } from '#common/report.ts';
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
    errorCode: null,
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

const media: RepairReport['original']['media'] = {
  container: 'mov',
  durationMs: 12_000,
  videoCodec: 'h264',
  width: 1280,
  height: 720,
  rotation: 0,
  frameCount: 360,
  frameRate: 30,
  variableFrameRate: false,
  audioCodec: 'aac',
  sampleRateHz: 48_000,
  channels: 2,
};

/** A version of a clip of which nobody kept what it holds; change what the test is about. */
export function makeVersion(change: Partial<ClipVersionDto> = {}): ClipVersionDto {
  return {
    id: 'original',
    kind: 'original',
    current: true,
    createdAt: '2026-05-04T10:00:00.000Z',
    sizeBytes: 1024,
    sha256: '',
    media: null,
    hasReport: false,
    fixes: [],
    ...change,
  };
}

/** The report of a clip with five missing pictures that were rebuilt; change what the test is about. */
export function makeReport(change: Partial<RepairReport> = {}): RepairReport {
  return {
    schema: REPORT_SCHEMA,
    createdAt: '2026-05-04T10:00:00.000Z',
    outcome: 'repaired',
    original: { sha256: 'a'.repeat(64), sizeBytes: 3_000_000, media },
    result: { sha256: 'b'.repeat(64), sizeBytes: 3_100_000, media },
    tools: { reelmend: '1.0.0', ffmpeg: '5.1' },
    video: { treatment: 'smart_render', reason: null, unitsKept: 350, unitsTotal: 360 },
    audio: { treatment: 'copied', reason: null, unitsKept: 560, unitsTotal: 560 },
    steps: [
      { step: 'analyzing', state: 'done', tookMs: 1000, note: '' },
      { step: 'fixing_cuts', state: 'not_needed', tookMs: null, note: 'no stutter' },
    ],
    defects: [
      {
        id: 'dropped_frames-1',
        kind: 'dropped_frames',
        startMs: 4000,
        endMs: 4200,
        firstFrame: 120,
        lastFrame: 125,
        count: 5,
        confidence: 0.93,
        detector: 'detect-dropped-frames',
        measure: { name: 'missing pictures', unit: 'frames', threshold: 1, before: 5, after: 0 },
        action: 'rebuilt_frames',
        outcome: 'repaired',
        explanation: 'Five pictures were rebuilt from their neighbours.',
      },
    ],
    checks: [{ name: 'Decodes without a word', passed: true, detail: '360 pictures' }],
    captions: [],
    notes: ['The index was lost and has been rebuilt.'],
    ...change,
  };
}
