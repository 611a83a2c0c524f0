import { z } from 'zod';
import { ERRORS } from '../errors.ts';
import { FILE_NAME_MAX, NAME_TOO_LONG, MAX_UPLOAD_BYTES } from '../limits.ts';
import { defineEndpoint, id } from './endpoint.ts';
import { SHA256_HEX } from '../sha256.ts';

/** The message for an empty file, in the browser and on the server. */
export const EMPTY_FILE = 'The file is empty.';

const NO_SIZE = 'fileSize must be a decimal number of bytes';
// A decimal string in the specification; a number is accepted too.
const bytes = z
  .union([z.string().regex(/^\d{1,16}$/, NO_SIZE), z.number()], NO_SIZE)
  .transform(Number)
  .pipe(z.number().int(NO_SIZE).nonnegative(NO_SIZE));

const NO_NAME = 'The file needs a name.';
const fileName = z.string(NO_NAME).trim().min(1, NO_NAME).max(FILE_NAME_MAX, NAME_TOO_LONG);

/**
 * What the browser may state before it sends a file; the specification sends no body, so everything is optional. With
 * `fingerprint` a second attempt with the same file finds the unfinished upload (N4).
 */
export const uploadIntent = z
  .object({
    fileName: z.string().min(1).max(FILE_NAME_MAX, NAME_TOO_LONG).optional(),
    fileSize: bytes
      .pipe(z.number().positive(EMPTY_FILE).max(MAX_UPLOAD_BYTES, ERRORS.too_large.message))
      .optional(),
    fileType: z.string().max(100).optional(),
    /** SHA-256 (hex) over the size and the first and last MiB of the file. */
    fingerprint: z.string().regex(SHA256_HEX).optional(),
    /** Answer with `known`, and without an address, when the account already has a video made from this file. */
    tellKnown: z.boolean().optional(),
  })
  .nullish();

export const uploadUrlBody = z.object({
  /** Empty when `known` is set. */
  uploadUrl: z.string(),
  /** Bytes already stored of an unfinished upload of the same file; 0 for a new one. */
  offsetBytes: z.number().int().nonnegative().default(0),
  /** The video made from the same file before; null unless requested and found. */
  known: z.object({ videoId: id, fileName: z.string() }).nullable().default(null),
});

export const openUpload = z.object({
  id,
  uploadUrl: z.string(),
  fileName: z.string().nullable(),
  sizeBytes: z.number().nullable(),
  offsetBytes: z.number(),
  createdAt: z.string(),
  expiresAt: z.string(),
});
export type OpenUpload = z.infer<typeof openUpload>;

export const uploadsApi = {
  uploadUrl: defineEndpoint({
    method: 'POST',
    path: '/api/videos/upload-url',
    summary: 'Issues the URL a file is sent to, by one PUT or by resumable tus requests.',
    body: uploadIntent,
    response: uploadUrlBody,
  }),
  uploadComplete: defineEndpoint({
    method: 'POST',
    path: '/api/videos/upload-complete',
    summary: 'Turns a finished upload into a video and starts its repair; the same answer when repeated.',
    body: z.object({
      fileName,
      fileSize: bytes,
      uploadUrl: z.string('uploadUrl is required').min(1, 'uploadUrl is required').max(2048),
    }),
    response: z.object({ videoId: id }),
  }),
  openUploads: defineEndpoint({
    method: 'GET',
    path: '/api/uploads',
    summary: 'Unfinished uploads of the account.',
    response: z.array(openUpload),
  }),
  discardUpload: defineEndpoint({
    method: 'DELETE',
    path: '/api/uploads/:id',
    summary: 'Throws an unfinished upload away.',
    params: z.object({ id }),
    response: z.object({ message: z.string() }),
  }),
} as const;
