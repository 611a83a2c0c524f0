import { z } from 'zod';
import { fixId } from '../fixes.ts';
import { FILE_NAME_MAX, NAME_TOO_LONG } from '../limits.ts';
import { liveFindings } from '../live-findings.ts';
import { repairReport, stepRecord } from '../report.ts';
import { fixesApplied, processingStepId, VIDEO_STATUSES, videoIssues } from '../video.ts';
import { defineEndpoint, id, idParams, messageBody } from './endpoint.ts';
import { makeCursor, pageQuery } from './paging.ts';

// Any text: the client shows unknown states neutrally instead of failing.
const status = z.string();

/**
 * The smaller copy that Download gives when the plan's size limit is below the result's size; it is made once.
 * The whole result and the original stay unchanged.
 */
export const limitedExport = z.object({
  /** Shorter side of the copy in pixels. */
  shortSide: z.number().int(),
  state: z.enum(['absent', 'waiting', 'working', 'ready', 'failed', 'cancelled']),
  /** 0 to 100, measured. */
  progress: z.number().min(0).max(100),
  /** Size of the finished copy. */
  sizeBytes: z.number().nullable(),
  /** Why it could not be made. */
  message: z.string().nullable(),
});
export type LimitedExport = z.infer<typeof limitedExport>;

/**
 * Live state of a video's processing. `version` rises with every change, and older states are ignored. Only what the
 * specification names is required; our own fields have defaults, so that any server that follows the specification is
 * understood.
 */
export const statusDto = z.object({
  // The specified answer does not repeat the requested id.
  id: id.default(''),
  status,
  progress: z.number().min(0).max(100).default(0),
  currentStep: processingStepId.nullable().catch(null),
  /** Seconds left at the measured rate; null while unknown. */
  estimatedTimeRemaining: z.number().nullable().default(null),
  /** Why it failed; while it is being processed, why it has to wait. */
  errorMessage: z.string().nullable().default(null),
  /** Code of the failure, for programs and for advice; null when none is known. */
  errorCode: z.string().nullable().default(null),
  /** Number of jobs before this one; null once it runs. */
  queuePosition: z.number().int().nullable().default(null),
  steps: z.array(stepRecord).default([]),
  version: z.number().int().default(0),
  updatedAt: z.string().default(''),
  /** What the running repair has found and repaired so far; null or absent before the analysis and after the end. */
  findings: liveFindings.nullable().optional(),
  /** Null or absent when Download gives the whole result. */
  limitedExport: limitedExport.nullable().optional(),
});
export type StatusDto = z.infer<typeof statusDto>;

export const videoDto = statusDto.extend({
  id,
  originalFileName: z.string(),
  fileSize: z.number(),
  createdAt: z.string(),
  issues: videoIssues.nullable().default(null),
  fixesApplied: fixesApplied.catch({}),
  /** Length of the clip; null until analysed. */
  durationMs: z.number().nullable().default(null),
  width: z.number().nullable().default(null),
  height: z.number().nullable().default(null),
  hasPoster: z.boolean().default(false),
  hasReport: z.boolean().default(false),
  hasCaptions: z.boolean().default(false),
  /** True when the result is the uploaded file, byte for byte (N15). */
  unchanged: z.boolean().default(false),
  resultSizeBytes: z.number().nullable().default(null),
  originalSha256: z.string().nullable().default(null),
  resultSha256: z.string().nullable().default(null),
  isSample: z.boolean().default(false),
  /** True when the public share page is on. */
  shared: z.boolean().default(false),
});
export type VideoDto = z.infer<typeof videoDto>;

export const VIDEO_SORTS = ['newest', 'oldest', 'name', 'size'] as const;
export type VideoSort = (typeof VIDEO_SORTS)[number];

/** Defects that the library can be filtered by; `none`: analysed, and none of them found. */
export const DEFECT_FILTERS = [
  'stutteredCuts',
  'audioSyncIssues',
  'droppedFrames',
  'corruptedSections',
  'windNoise',
  'none',
] as const;
export type DefectFilter = (typeof DEFECT_FILTERS)[number];

/** Options of the library; without any, the call returns all videos, newest first. */
export const videosQuery = pageQuery.extend({
  /** Part of the name in any case, or the beginning of the id. */
  search: z.string().trim().max(FILE_NAME_MAX).optional(),
  status: z.enum(VIDEO_STATUSES).optional(),
  defect: z.enum(DEFECT_FILTERS).optional(),
  sort: z.enum(VIDEO_SORTS).optional(),
});
export type VideosQuery = z.infer<typeof videosQuery>;

/** The `cursor` of the page after this video, in a list with this order. */
export function cursorAfterVideo(video: VideoDto, sort: VideoSort = 'newest'): string {
  if (sort === 'size') return makeCursor(video.fileSize, video.id);
  return makeCursor(sort === 'name' ? video.originalFileName : video.createdAt, video.id);
}

export const statsDto = z.object({
  /** Number of completed videos. */
  videosProcessed: z.number().int(),
  videosTotal: z.number().int().optional(),
  videosProcessing: z.number().int().optional(),
  videosFailed: z.number().int().optional(),
  draftsSaved: z.number().int(),
  issuesFixed: z.number().int(),
  /** Whole hours as text, e.g. "0h". */
  timeSaved: z.string(),
  /** Videos of the current UTC month and the plan's limit (null: no limit). */
  quota: z
    .object({ used: z.number().int(), limit: z.number().int().nullable(), resetsAt: z.string() })
    .optional(),
});
export type StatsDto = z.infer<typeof statsDto>;

/** Public page of a shared video. */
export const sharedVideoDto = z.object({
  id,
  title: z.string(),
  durationMs: z.number().nullable(),
  width: z.number().nullable(),
  height: z.number().nullable(),
  /** Whether its owner has written words for it. */
  hasCaptions: z.boolean(),
});

export const videosApi = {
  list: defineEndpoint({
    method: 'GET',
    path: '/api/videos',
    summary: 'Videos of the account, newest first; all that match, or a page of them.',
    query: videosQuery,
    response: z.array(videoDto),
  }),
  read: defineEndpoint({
    method: 'GET',
    path: '/api/videos/:id',
    summary: 'One video.',
    params: idParams,
    response: videoDto,
  }),
  status: defineEndpoint({
    method: 'GET',
    path: '/api/videos/:id/status',
    summary: 'State of one video.',
    params: idParams,
    response: statusDto,
  }),
  rename: defineEndpoint({
    method: 'PUT',
    path: '/api/videos/:id/rename',
    summary: 'Changes the name shown.',
    params: idParams,
    body: z.object({
      fileName: z.string().trim().min(1, 'The name must not be empty.').max(FILE_NAME_MAX, NAME_TOO_LONG),
    }),
    response: videoDto,
  }),
  remove: defineEndpoint({
    method: 'DELETE',
    path: '/api/videos/:id',
    summary: 'Deletes a video for ever; its draft backups remain until they expire.',
    params: idParams,
    response: messageBody,
  }),
  retry: defineEndpoint({
    method: 'POST',
    path: '/api/videos/:id/retry',
    summary: 'Processes a failed video again from the stored original.',
    params: idParams,
    response: statusDto,
  }),
  report: defineEndpoint({
    method: 'GET',
    path: '/api/videos/:id/report',
    summary: 'The repair report with every figure.',
    params: idParams,
    response: repairReport,
  }),
  exportLimited: defineEndpoint({
    method: 'POST',
    path: '/api/videos/:id/export',
    summary:
      'Has the file made that Download gives where the plan limits its size; repeating changes nothing.',
    params: idParams,
    response: statusDto,
  }),
  cancelExport: defineEndpoint({
    method: 'POST',
    path: '/api/videos/:id/export/cancel',
    summary:
      'Stops the smaller file that waits or is being made; result and original stay. Without any it changes nothing.',
    params: idParams,
    response: statusDto,
  }),
  applyFixes: defineEndpoint({
    method: 'POST',
    path: '/api/videos/:id/apply-fixes',
    summary: 'Applies quick fixes; makes a new version or export files.',
    params: idParams,
    body: z.object({ fixes: z.array(fixId).min(1).max(9) }),
    response: z.object({ fixesApplied: z.number().int(), jobId: z.string().default('') }),
  }),
  share: defineEndpoint({
    method: 'POST',
    path: '/api/videos/:id/share',
    summary: 'Switches the public page of a video on or off.',
    params: idParams,
    body: z.object({ shared: z.boolean() }),
    response: z.object({ shared: z.boolean() }),
  }),
  sharedVideo: defineEndpoint({
    method: 'GET',
    path: '/api/shared/:id',
    summary: 'Title and size of a shared video; 404 unless its owner shares it.',
    params: idParams,
    response: sharedVideoDto,
  }),
  sample: defineEndpoint({
    method: 'POST',
    path: '/api/videos/sample',
    summary: 'Makes a short clip with planted defects and repairs it, to see the product work.',
    response: z.object({ videoId: id }),
  }),
  stats: defineEndpoint({
    method: 'GET',
    path: '/api/stats',
    summary: 'The four figures of the dashboard and the monthly allowance.',
    response: statsDto,
  }),
} as const;

/** Media addresses of a video; plain links, not JSON calls. Those of a shared video are for any visitor. */
export const mediaPaths = {
  stream: '/api/videos/:id/stream',
  download: '/api/videos/:id/download',
  version: '/api/videos/:id/versions/:versionId/download',
  poster: '/api/videos/:id/poster',
  captions: '/api/videos/:id/captions.vtt',
  original: '/api/videos/:id/original',
  frame: '/api/videos/:id/frame',
  sharedStream: '/api/shared/:id/stream',
  sharedPoster: '/api/shared/:id/poster',
} as const;

/** Query of `mediaPaths.frame`: the picture shown at `ms` of either file, as a small JPEG. */
export const frameQuery = z.object({
  of: z.enum(['original', 'result']),
  ms: z.coerce.number().nonnegative().max(86_400_000),
});

/** Body of a refused download: 4xx JSON, never a 200 (specification section 7). */
export const downloadFailure = z.object({ message: z.string(), demoMode: z.boolean() });
