import { SHA256_HEX } from '#common/sha256.ts';
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import {
  copyFile,
  mkdir,
  open,
  opendir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  statfs,
} from 'node:fs/promises';
import path from 'node:path';
import { AppError, notFound } from '#server/errors.ts';
import { createKeyedLock } from './keyed-lock.ts';
import type { ListedFile, MediaStorage, StoredFile } from './media-storage.ts';

const READ_CHUNK_BYTES = 1 << 20;
/** Each paused reader holds about two of these, and 200 readers must not fill the memory. */
const STREAM_CHUNK_BYTES = 1 << 16;
/** A temporary file that was not written to for this long is abandoned. */
const LEFTOVER_MS = 3600_000;

/**
 * Objects as files `ab/cd/<sha256>` below `root`. A file gets its name only after its bytes are on the
 * disk (fsync), and the folder is flushed after the rename, so a crash leaves a whole object or none.
 */
export function createDiskStorage(root: string): MediaStorage {
  const lock = createKeyedLock();
  const temporaryFolder = path.join(root, 'tmp');
  const objectPath = (sha256: string) => {
    if (!SHA256_HEX.test(sha256)) throw notFound();
    return path.join(root, sha256.slice(0, 2), sha256.slice(2, 4), sha256);
  };
  let swept: Promise<void> | null = null;
  const temporaryPath = async () => {
    await mkdir(temporaryFolder, { recursive: true });
    // A failed clean-up must not prevent storing.
    await (swept ??= removeLeftovers(temporaryFolder).catch(() => undefined));
    return path.join(temporaryFolder, randomBytes(12).toString('hex'));
  };

  /** Gives flushed bytes their final name; renaming over an equal object also heals a damaged one. */
  async function settle(sourcePath: string, sha256: string): Promise<StoredFile> {
    const target = objectPath(sha256);
    return lock(sha256, async () => {
      const sizeBytes = await flush(sourcePath);
      await mkdir(path.dirname(target), { recursive: true });
      let from = sourcePath;
      try {
        await rename(from, target);
      } catch (error) {
        if (!hasCode(error, 'EXDEV')) throw error;
        // Another file system: rename cannot cross it, so the bytes are first copied to our own.
        from = await temporaryPath();
        try {
          await copyFile(sourcePath, from);
          await flush(from);
          await rename(from, target);
        } finally {
          await rm(from, { force: true });
        }
        await rm(sourcePath, { force: true });
      }
      await flushFolder(path.dirname(target));
      return { sha256, sizeBytes };
    });
  }

  return {
    isLocal: true,

    async put(sourcePath, knownSha256) {
      return guardSpace(async () => settle(sourcePath, knownSha256 ?? (await hashFile(sourcePath))));
    },

    async putBuffer(data) {
      return guardSpace(async () => {
        const temporary = await temporaryPath();
        const handle = await open(temporary, 'wx');
        try {
          await handle.writeFile(data);
        } catch (error) {
          await rm(temporary, { force: true });
          throw error;
        } finally {
          await handle.close();
        }
        return settle(temporary, createHash('sha256').update(data).digest('hex'));
      });
    },

    async stat(sha256) {
      const found = await stat(objectPath(sha256)).catch(ignoreMissing);
      return found ? { sha256, sizeBytes: found.size } : null;
    },

    async open(sha256, range) {
      // Opened before the answer begins, so that a later removal cannot disturb the reader.
      const handle = await open(objectPath(sha256), 'r').catch(missingIsNotFound);
      return handle.createReadStream({ ...range, highWaterMark: STREAM_CHUNK_BYTES });
    },

    async read(sha256) {
      return readFile(objectPath(sha256)).catch(missingIsNotFound);
    },

    async localPath(sha256) {
      const file = objectPath(sha256);
      await stat(file).catch(missingIsNotFound);
      return { path: file, release: async () => undefined };
    },

    async remove(sha256, unusedSinceMs) {
      const target = objectPath(sha256);
      return lock(sha256, async () => {
        if (unusedSinceMs !== undefined) {
          const found = await stat(target).catch(ignoreMissing);
          if (found && found.ctimeMs > unusedSinceMs) return false;
        }
        await rm(target, { force: true });
        return true;
      });
    },

    list: () => listObjects(root),

    async verify(sha256) {
      return (await hashFile(objectPath(sha256)).catch(missingIsNotFound)) === sha256;
    },

    async freeBytes() {
      await mkdir(root, { recursive: true });
      const space = await statfs(root);
      return space.bavail * space.bsize;
    },
  };
}

/** Files that a killed process was writing; no process continues them. */
async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const file = path.join(folder, name);
    const found = await stat(file).catch(ignoreMissing);
    if (found && found.mtimeMs < Date.now() - LEFTOVER_MS) await rm(file, { force: true });
  }
}

async function* listObjects(root: string): AsyncIterable<ListedFile> {
  for await (const file of walk(root)) {
    const sha256 = path.basename(file);
    if (!SHA256_HEX.test(sha256)) continue;
    const found = await stat(file).catch(ignoreMissing);
    // The change time, because a rename renews it and keeps the modification time of the source.
    if (found) yield { sha256, sizeBytes: found.size, storedAtMs: found.ctimeMs };
  }
}

async function* walk(folder: string): AsyncIterable<string> {
  const entries = await opendir(folder).catch(ignoreMissing);
  if (!entries) return;
  for await (const entry of entries) {
    const full = path.join(folder, entry.name);
    if (entry.isDirectory()) yield* walk(full);
    else yield full;
  }
}

/** SHA-256 of a file's bytes in hexadecimal; reads the file as a stream. */
export async function hashFile(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file, { highWaterMark: READ_CHUNK_BYTES })) hash.update(chunk);
  return hash.digest('hex');
}

/**
 * Flushes a file to the disk.
 * @returns its size in bytes
 */
async function flush(file: string): Promise<number> {
  const handle = await open(file, 'r+');
  try {
    await handle.sync();
    return (await handle.stat()).size;
  } finally {
    await handle.close();
  }
}

async function flushFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Turns the file system's "no space" into an error for people. */
export async function guardSpace<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (hasCode(error, 'ENOSPC') || hasCode(error, 'EDQUOT')) throw new AppError('storage_full');
    throw error;
  }
}

/** Whether an error is a system error of this code, e.g. `ENOENT`. */
export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

/** For `.catch`: a missing file becomes `null`, any other error stays one. */
export function ignoreMissing(error: unknown): null {
  if (hasCode(error, 'ENOENT')) return null;
  throw error;
}

function missingIsNotFound(error: unknown): never {
  if (hasCode(error, 'ENOENT')) throw notFound();
  throw error;
}
