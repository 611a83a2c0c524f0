import { z } from 'zod';
import { FILE_NAME_MAX, NAME_TOO_LONG } from '../limits.ts';
import { VIDEO_STATUSES } from '../video.ts';
import { defineEndpoint, id, idParams } from './endpoint.ts';
import { makeCursor, pageQuery } from './paging.ts';

/** Only the fields that the specification names are required in an answer; the rest has defaults. */
export const draftDto = z.object({
  id,
  videoId: id,
  fileName: z.string(),
  lastModified: z.string(),
  sizeBytes: z.number().nullable().default(null),
  sha256: z.string().default(''),
  expiresAt: z.string().nullable().default(null),
  /** `damaged` when the daily re-hash found that the stored bytes changed. */
  integrity: z.enum(['ok', 'damaged']).default('ok'),
  /** False when the video was deleted and only this backup remains. */
  videoExists: z.boolean().default(true),
  /** Null for a deleted video, and when a server does not say it. A failed one has no result to undo. */
  videoStatus: z.enum(VIDEO_STATUSES).nullable().default(null),
  /** Why the clip could not be processed, also after its video was deleted; null if it could. */
  errorCode: z.string().nullable().default(null),
  errorMessage: z.string().nullable().default(null),
});
export type DraftDto = z.infer<typeof draftDto>;

/** The `cursor` of the page after this draft. */
export function cursorAfterDraft(draft: DraftDto): string {
  return makeCursor(draft.lastModified, draft.id);
}

export const draftsApi = {
  list: defineEndpoint({
    method: 'GET',
    path: '/api/drafts',
    summary: 'Draft backups of the account, newest first; all of them, or a page.',
    query: pageQuery,
    response: z.array(draftDto),
  }),
  create: defineEndpoint({
    method: 'POST',
    path: '/api/drafts',
    summary: 'Backs a video up; the same content only renews its draft.',
    body: z.object({ videoId: id, fileName: z.string().trim().min(1).max(FILE_NAME_MAX, NAME_TOO_LONG) }),
    response: draftDto,
  }),
  restore: defineEndpoint({
    method: 'POST',
    path: '/api/drafts/:id/restore',
    summary: 'Makes the backed-up original the current version, or brings a deleted video back.',
    params: idParams,
    response: z.object({ videoId: id }),
  }),
} as const;

/** The untouched original of a draft; a plain link. */
export const draftDownloadPath = '/api/drafts/:id/download';
