import type { IncomingMessage } from 'node:http';
import type { Knex } from 'knex';
import { EMPTY_FILE } from '#common/api/uploads.ts';
import { MAX_UPLOAD_BYTES } from '#common/limits.ts';
import { Upload } from '#db/models/upload.ts';
import { AppError } from '#server/errors.ts';
import { parseChecksum } from './checksum.ts';
import type { UploadFiles } from './upload-files.ts';
import type { UploadLocks } from './upload-locks.ts';

/** A connection that brings no byte for this long is dead. */
const IDLE_MS = 60_000;
const CUT = 'The connection ended before the whole file had arrived.';
// The longest names that are registered have some 70 characters; a column holds 100.
const ACCEPTED_TYPE =
  /^(video\/[a-z0-9.+-]{1,90}|application\/(octet-stream|mp4|vnd\.avi|x-troff-msvideo))$/i;

export interface RawPutDeps {
  readonly db: Knex;
  readonly files: UploadFiles;
  readonly locks: UploadLocks;
  readonly now: () => number;
  readonly reserveBytes: number;
}

export type RawPut = (request: IncomingMessage, upload: Upload) => Promise<{ sizeBytes: number }>;

/**
 * Takes a whole file by one PUT. A repeated PUT starts over; after an interruption, what arrived stays and can be
 * continued by tus.
 * @throws AppError `unsupported_type`, `too_large`, `invalid_input` (empty), `conflict`, `gone`, `checksum_mismatch`,
 * `storage_full`, `bad_request` (cut)
 */
export function createRawPut({ db, files, locks, now, reserveBytes }: RawPutDeps): RawPut {
  return async (request, upload) => {
    const checksum = parseChecksum(request.headers['upload-checksum']);
    if (checksum === 'invalid') throw new AppError('bad_request', 'The Upload-Checksum header is malformed.');
    const announced = checkHeaders(request);
    if ((await files.freeBytes()) < (announced ?? 0) + reserveBytes) throw new AppError('storage_full');
    request.socket.setTimeout(IDLE_MS);
    return locks.hold(
      upload.id,
      async () => {
        const fresh = await Upload.query(db).findById(upload.id);
        if (fresh?.state === 'discarded') throw new AppError('gone');
        if (fresh?.state !== 'open') throw new AppError('conflict', 'This upload already became a video.');
        await files.reset(upload.id);
        // The whole file defines its size anew; a tus client can continue it after an interruption.
        await Upload.query(db)
          .findById(upload.id)
          .patch({
            sizeBytes: announced,
            offsetBytes: 0,
            fileType: mediaTypeOf(request) ?? upload.fileType,
          });
        let sizeBytes: number;
        try {
          const maxOffsetBytes = announced ?? MAX_UPLOAD_BYTES;
          sizeBytes = await files.append(upload.id, 0, request, { checksum, maxOffsetBytes });
        } catch (error) {
          throw request.destroyed && !(error instanceof AppError) ? new AppError('bad_request', CUT) : error;
        } finally {
          const offsetBytes = (await files.sizeOf(upload.id)) ?? 0;
          await Upload.query(db).findById(upload.id).patch({ offsetBytes, updatedAt: now() });
        }
        if (announced !== null && sizeBytes !== announced) throw new AppError('bad_request', CUT);
        if (sizeBytes === 0) throw new AppError('invalid_input', EMPTY_FILE);
        await Upload.query(db).findById(upload.id).patch({ sizeBytes });
        return { sizeBytes };
      },
      // A newer request for the same upload has come: this connection is given up, its bytes stay.
      () => request.destroy(),
    );
  };
}

/** @returns the announced length in bytes, null for a chunked body */
function checkHeaders(request: IncomingMessage): number | null {
  const type = mediaTypeOf(request);
  if (type !== null && !ACCEPTED_TYPE.test(type)) {
    throw new AppError('unsupported_type', 'Send the video with its own type, for example video/mp4.');
  }
  if (request.headers['content-length'] === undefined) return null;
  const length = Number(request.headers['content-length']);
  if (length > MAX_UPLOAD_BYTES) throw new AppError('too_large');
  if (length === 0) throw new AppError('invalid_input', EMPTY_FILE);
  return length;
}

/** The type that the sender states, without its parameters; null where it states none. */
function mediaTypeOf(request: IncomingMessage): string | null {
  return request.headers['content-type']?.split(';')[0]?.trim() || null;
}
