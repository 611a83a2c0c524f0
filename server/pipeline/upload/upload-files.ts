import { createHash } from 'node:crypto';
import { mkdir, open, readdir, readFile, rm, stat, statfs, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { AppError } from '#server/errors.ts';
import { guardSpace, hashFile, ignoreMissing } from '#server/pipeline/storage/disk-storage.ts';
import type { Checksum } from './checksum.ts';
import { createRunningHashes } from './running-hash.ts';
import { UPLOAD_TOKEN } from './upload-address.ts';

/** A part whose digest was wrong; nothing of it is kept. */
export class ChecksumError extends AppError {
  constructor() {
    super('checksum_mismatch');
  }
}

/** Bytes of unfinished uploads as files. The size of a file is the offset that clients are told. */
export interface UploadFiles {
  create(id: string): Promise<void>;
  /** Bytes kept, or null when there is no file. Call it only while holding the upload's lock. */
  sizeOf(id: string): Promise<number | null>;
  /**
   * Appends a stream at `offsetBytes`. With a checksum, the part is kept whole or not at all; without one, every byte
   * that arrived before an interruption is kept.
   * @returns the new offset
   * @throws AppError `checksum_mismatch`, `too_large` (nothing kept), `storage_full`
   */
  append(
    id: string,
    offsetBytes: number,
    part: AsyncIterable<unknown>,
    limits: AppendLimits,
  ): Promise<number>;
  /** Empties the file, for a fresh start by PUT. */
  reset(id: string): Promise<void>;
  /** SHA-256 of all bytes; they are read again only if they did not arrive here in order. */
  sha256Of(id: string, sizeBytes: number): Promise<string>;
  path(id: string): string;
  remove(id: string): Promise<void>;
  /** Ids of all stored files with the time of their last change, epoch ms. */
  list(): Promise<{ id: string; changedAtMs: number }[]>;
  /** Free bytes on the disk for uploads. */
  freeBytes(): Promise<number>;
}

export interface AppendLimits {
  readonly checksum: Checksum | null;
  /** The offset that must not be exceeded. */
  readonly maxOffsetBytes: number;
}

/** See `UploadFiles`; everything lies in `folder`. */
export function createUploadFiles(folder: string): UploadFiles {
  const hashes = createRunningHashes();
  const file = (id: string) => {
    if (!UPLOAD_TOKEN.test(id)) throw new AppError('not_found');
    return path.join(folder, id);
  };
  // Stores the offset in front of a part that is not yet verified; after a kill, that part is cut off again.
  const marker = (id: string) => `${file(id)}.unproven`;

  async function settleUnproven(id: string): Promise<void> {
    const text = await readFile(marker(id), 'utf8').catch(ignoreMissing);
    if (text === null) return;
    await truncate(file(id), Number(text)).catch(ignoreMissing);
    await rm(marker(id), { force: true });
  }

  return {
    path: file,

    async create(id) {
      await mkdir(folder, { recursive: true });
      await guardSpace(() => writeFile(file(id), '', { flag: 'a' }));
    },

    async sizeOf(id) {
      await settleUnproven(id);
      const found = await stat(file(id)).catch(ignoreMissing);
      return found ? found.size : null;
    },

    async append(id, offsetBytes, part, { checksum, maxOffsetBytes }) {
      const target = file(id);
      if (checksum) await guardSpace(() => writeFile(marker(id), String(offsetBytes)));
      const hash = hashes.resume(id, offsetBytes);
      const digest = checksum ? createHash(checksum.algorithm) : null;
      const handle = await open(target, 'r+');
      let offset = offsetBytes;
      try {
        for await (const chunk of part) {
          if (!Buffer.isBuffer(chunk)) continue;
          if (offset + chunk.length > maxOffsetBytes) throw new AppError('too_large');
          await guardSpace(() =>
            writeAll((at, from) => handle.write(chunk, from, chunk.length - from, at), offset, chunk.length),
          );
          hash?.update(chunk);
          digest?.update(chunk);
          offset += chunk.length;
        }
        if (checksum && digest?.digest().equals(checksum.digest) !== true) throw new ChecksumError();
        if (hash) hashes.keep(id, offset, hash);
      } catch (error) {
        if (checksum || isTooLarge(error)) await handle.truncate(offsetBytes);
        else if (hash) hashes.keep(id, offset, hash);
        throw error;
      } finally {
        await handle.close();
        if (checksum) await rm(marker(id), { force: true });
      }
      return offset;
    },

    async reset(id) {
      hashes.drop(id);
      await rm(marker(id), { force: true });
      await mkdir(folder, { recursive: true });
      await writeFile(file(id), '');
    },

    async sha256Of(id, sizeBytes) {
      return hashes.finish(id, sizeBytes) ?? (await hashFile(file(id)));
    },

    async remove(id) {
      hashes.drop(id);
      await rm(file(id), { force: true });
      await rm(marker(id), { force: true });
    },

    async list() {
      const found: { id: string; changedAtMs: number }[] = [];
      for (const id of (await readdir(folder).catch(ignoreMissing)) ?? []) {
        if (!UPLOAD_TOKEN.test(id)) continue;
        const info = await stat(file(id)).catch(ignoreMissing);
        if (info) found.push({ id, changedAtMs: info.mtimeMs });
      }
      return found;
    },

    async freeBytes() {
      await mkdir(folder, { recursive: true });
      const space = await statfs(folder);
      return space.bavail * space.bsize;
    },
  };
}

/** Our own limit, or that of the tus server, whose failures carry only a status. */
function isTooLarge(error: unknown): boolean {
  if (error instanceof AppError) return error.code === 'too_large';
  return error instanceof Error && 'status_code' in error && error.status_code === 413;
}

/** A write may take fewer bytes than given, e.g. shortly before the disk is full. */
async function writeAll(
  write: (position: number, from: number) => Promise<{ bytesWritten: number }>,
  offsetBytes: number,
  length: number,
): Promise<void> {
  let done = 0;
  while (done < length) done += (await write(offsetBytes + done, done)).bytesWritten;
}
