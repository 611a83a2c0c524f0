import { z } from 'zod';
import { MESSAGES } from '../messages.ts';
import { defineEndpoint, messageBody } from './endpoint.ts';

/** Bytes that the account occupies; the same content in two places counts once, in the first category that applies. */
export const storageUse = z.object({
  /** Untouched originals of videos and of draft backups. */
  originalsBytes: z.number().int(),
  /** Repaired results and versions made by quick fixes. */
  versionsBytes: z.number().int(),
  /** Files made for a platform. */
  exportsBytes: z.number().int(),
  /** Posters, captions and reports. */
  extrasBytes: z.number().int(),
  /** Bytes of unfinished uploads. */
  uploadsBytes: z.number().int(),
  totalBytes: z.number().int(),
});
export type StorageUse = z.infer<typeof storageUse>;

export const accountApi = {
  storage: defineEndpoint({
    method: 'GET',
    path: '/api/account/storage',
    summary: 'How many bytes the account occupies, by kind.',
    response: storageUse,
  }),
  // POST, because some proxies drop the body of a DELETE (RFC 9110, 9.3.5).
  remove: defineEndpoint({
    method: 'POST',
    path: '/api/account/delete',
    summary: 'Deletes the account with every row and every stored file, at once and for ever.',
    body: z.object({ password: z.string().min(1, MESSAGES.passwordMissing).max(1024) }),
    response: messageBody,
  }),
} as const;

/** Everything the account contains as one tar archive; a plain link. */
export const accountExportPath = '/api/account/export';
