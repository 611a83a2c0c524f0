import { z } from 'zod';
import { changeId, fixId } from '../fixes.ts';
import { noticed } from '../noticed.ts';
import { mediaSummary } from '../report.ts';
import { defineEndpoint, id, idParams, messageBody } from './endpoint.ts';

/** One figure of a fix, measured on the previous clip and on the new one; null where nothing can be measured. */
export const fixFigure = z.object({
  name: z.string(),
  /** Unit as people read it: `LUFS`, `% of the width`, `dB`; empty for a plain number. */
  unit: z.string(),
  before: z.number().nullable(),
  after: z.number().nullable(),
});
export type FixFigure = z.infer<typeof fixFigure>;

/**
 * The outcome of one chosen fix. `unchanged`: nothing had to be done, or it did not help and was dropped. `failed`: it
 * could not be done here. `detail` says so in one sentence; it is empty when the request failed as a whole.
 */
export const fixOutcome = z.object({
  id: changeId,
  state: z.enum(['waiting', 'working', 'applied', 'unchanged', 'failed']),
  detail: z.string(),
  figures: z.array(fixFigure),
});
export type FixOutcome = z.infer<typeof fixOutcome>;

/** The newest request of a video; a cancelled one changed nothing. */
export const fixRunDto = z.object({
  jobId: z.string(),
  state: z.enum(['waiting', 'working', 'done', 'failed', 'cancelled']),
  /** Whole percent of the work, measured. */
  progress: z.number().int().min(0).max(100),
  /** Seconds left at the measured rate; null while unknown. */
  remainingSeconds: z.number().nonnegative().nullable(),
  fixes: z.array(fixOutcome),
  /** The version that it was asked for, to which undoing it leads. */
  sourceVersionId: id.nullable().default(null),
  /** The version that it made; null while it is at work and when nothing had to be changed. */
  resultVersionId: id.nullable().default(null),
  /** Why it failed as a whole, or why it is waiting. */
  message: z.string().nullable(),
  /** Rises with every change; older states are ignored. */
  revision: z.number().int(),
});
export type FixRunDto = z.infer<typeof fixRunDto>;

/** An immutable version of the clip that can be made the current one again. */
export const clipVersionDto = z.object({
  id,
  kind: z.enum(['original', 'repair', 'fixes']),
  current: z.boolean(),
  createdAt: z.string(),
  sizeBytes: z.number(),
  /** Of the file, as in `resultSha256` of the video; empty when a server does not say it. */
  sha256: z.string().default(''),
  /** What the file of a version with quick fixes holds; null where that was not kept. */
  media: mediaSummary.nullable().default(null),
  /** Whether it has a report and a certificate of its own, of what was done to make it. */
  hasReport: z.boolean().default(false),
  /** Fixes in it, including those of its ancestors. */
  fixes: z.array(fixOutcome),
});
export type ClipVersionDto = z.infer<typeof clipVersionDto>;

/** A file made for one platform beside the clip. */
export const platformExportDto = z.object({
  id,
  fix: fixId,
  createdAt: z.string(),
  sizeBytes: z.number(),
  /** False when another version of the clip has become current. */
  ofCurrent: z.boolean(),
  detail: z.string(),
  figures: z.array(fixFigure),
});
export type PlatformExportDto = z.infer<typeof platformExportDto>;

export const quickFixesDto = z.object({
  run: fixRunDto.nullable(),
  /** Outcomes that apply to the current version: these fixes need not be chosen again. */
  done: z.array(fixOutcome),
  /** The upload first, then newest first. */
  versions: z.array(clipVersionDto),
  exports: z.array(platformExportDto),
});
export type QuickFixesDto = z.infer<typeof quickFixesDto>;

export const quickFixesApi = {
  read: defineEndpoint({
    method: 'GET',
    path: '/api/videos/:id/fixes',
    summary: 'Quick fixes of a video: the running request, versions and platform files.',
    params: idParams,
    response: quickFixesDto,
  }),
  mendNoticed: defineEndpoint({
    method: 'POST',
    path: '/api/videos/:id/mend-noticed',
    summary:
      'Mends what somebody noticed in the current version: freezes and jumps at marked places, and a sound that is early or late. Makes a new version; progress as for quick fixes. On every plan.',
    params: idParams,
    body: noticed,
    response: z.object({ jobId: z.string() }),
  }),
  cancel: defineEndpoint({
    method: 'POST',
    path: '/api/videos/:id/fixes/cancel',
    summary:
      'Stops the fixes that wait or are being applied: the clip and its versions stay as they are. Without any it changes nothing; the answer says how the newest request ended.',
    params: idParams,
    response: quickFixesDto,
  }),
  restore: defineEndpoint({
    method: 'POST',
    path: '/api/videos/:id/versions/:versionId/restore',
    summary: 'Makes the upload (`original`) or an earlier version the current one; nothing is deleted.',
    params: z.object({ id, versionId: id }),
    response: messageBody,
  }),
  removeExport: defineEndpoint({
    method: 'DELETE',
    path: '/api/videos/:id/exports/:exportId',
    summary: 'Deletes a file made for a platform.',
    params: z.object({ id, exportId: id }),
    response: messageBody,
  }),
} as const;

/** Address of a platform file; a plain link. */
export const platformExportPath = '/api/videos/:id/exports/:exportId/download';

/** Id of the upload among the versions: it is always listed, whether it has a version row or not. */
export const ORIGINAL_VERSION = 'original';
