import type { Readable } from 'node:stream';
import { FileStore } from '@tus/file-store';
import { ERRORS as TUS_ERRORS, Upload as TusUpload } from '@tus/server';
import type { Knex } from 'knex';
import { MAX_UPLOAD_BYTES, UPLOAD_TTL_MS } from '#common/limits.ts';
import { Upload } from '#db/models/upload.ts';
import type { ChecksumScope } from './checksum.ts';
import type { UploadFiles } from './upload-files.ts';

export interface UploadStoreDeps {
  readonly db: Knex;
  readonly folder: string;
  readonly files: UploadFiles;
  readonly checksums: ChecksumScope;
  readonly now: () => number;
}

/**
 * The tus data store: bytes in files as the file store keeps them, everything else in the `uploads` row. Beyond its
 * base it offers a checksum per part, whole-or-nothing metadata, an answer for uploads that became a video, and no
 * removal of finished ones.
 */
export class UploadStore extends FileStore {
  readonly #deps: UploadStoreDeps;

  constructor(deps: UploadStoreDeps) {
    super({
      directory: deps.folder,
      configstore: rowsAsConfig(deps),
      expirationPeriodInMilliseconds: UPLOAD_TTL_MS,
    });
    this.#deps = deps;
    // No "creation": uploads are created only by the upload-url call, which knows the account and its limits.
    this.extensions = ['creation-defer-length', 'checksum', 'expiration', 'termination'];
  }

  override async getUpload(id: string): Promise<TusUpload> {
    const { db, files } = this.#deps;
    const row = await Upload.query(db).findById(id);
    if (!row) throw TUS_ERRORS.FILE_NOT_FOUND;
    if (row.state === 'discarded') throw TUS_ERRORS.FILE_NO_LONGER_EXISTS;
    const offset = row.state === 'open' ? await files.sizeOf(id) : row.offsetBytes;
    if (offset === null) throw TUS_ERRORS.FILE_NO_LONGER_EXISTS;
    return toTusUpload(row, offset);
  }

  override async write(readable: Readable, id: string, offset: number): Promise<number> {
    const { db, files, checksums, now } = this.#deps;
    const row = await Upload.query(db).findById(id);
    if (row?.state !== 'open') {
      // A repeated last request of an upload that already became a video; there is nothing to write.
      readable.resume();
      return offset;
    }
    const limits = {
      checksum: checksums.getStore() ?? null,
      maxOffsetBytes: row.sizeBytes ?? MAX_UPLOAD_BYTES,
    };
    try {
      return await files.append(id, offset, readable, limits);
    } finally {
      const offsetBytes = await files.sizeOf(id);
      if (offsetBytes !== null) {
        await Upload.query(db).findById(id).patch({ offsetBytes, updatedAt: now() });
      }
    }
  }

  override async remove(id: string): Promise<void> {
    const { db, files, now } = this.#deps;
    const rows = await Upload.query(db)
      .patch({ state: 'discarded', updatedAt: now() })
      .where({ id, state: 'open' });
    if (rows === 0) throw TUS_ERRORS.FILE_NOT_FOUND;
    await files.remove(id);
  }

  /** The housekeeping handles expiry by the row; the base would delete finished uploads too. */
  override async deleteExpired(): Promise<number> {
    return 0;
  }
}

function toTusUpload(row: Upload, offset: number): TusUpload {
  return new TusUpload({
    id: row.id,
    offset,
    ...(row.sizeBytes === null ? {} : { size: row.sizeBytes }),
    creation_date: new Date(row.expiresAt - UPLOAD_TTL_MS).toISOString(),
  });
}

/** Stores sizes for the base as rows and not as JSON files, which a crash can leave half written. */
function rowsAsConfig({ db, now }: UploadStoreDeps) {
  return {
    async get(id: string): Promise<TusUpload | undefined> {
      const row = await Upload.query(db).findById(id);
      return row ? toTusUpload(row, row.offsetBytes) : undefined;
    },
    async set(id: string, upload: TusUpload): Promise<void> {
      await Upload.query(db)
        .findById(id)
        .patch({ sizeBytes: upload.size ?? null, updatedAt: now() });
    },
    async delete(id: string): Promise<void> {
      await Upload.query(db).patch({ state: 'discarded', updatedAt: now() }).where({ id, state: 'open' });
    },
  };
}
