import { open } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { detailOf } from '#server/error-detail.ts';
import { readExactly } from '#server/media/mp4/file-bytes.ts';
import { ignoreMissing } from '#server/pipeline/storage/disk-storage.ts';
import { createKeyedLock } from '#server/pipeline/storage/keyed-lock.ts';
import type { UploadFiles } from './upload-files.ts';
import { sizeOfAll, withoutHoles, type UploadParts } from './upload-parts.ts';

export interface KeepUploadsDeps {
  readonly files: UploadFiles;
  readonly parts: UploadParts;
  readonly logger: { warn(fields: Record<string, unknown>, message: string): void };
  /** Largest part, bytes; one part at a time is held in memory. */
  readonly partBytes?: number;
}

export interface KeptUploads {
  /**
   * Like the given files, but bytes are also sent to the other machine after each append, and fetched from there where
   * the file is gone.
   */
  readonly files: UploadFiles;
  /** Waits some seconds for bytes that are being sent. */
  settled(): Promise<void>;
}

const PART_BYTES = 4 << 20;
/** How long a stop of the server waits at most for bytes that are being sent. */
const SETTLE_MS = 5000;
/** Key of the lock shared by all uploads; the keys of uploads are longer. */
const EVERY_UPLOAD = '';

interface Upload {
  /** Bytes on this machine that no later request changes. */
  arrivedBytes: number;
  /** Bytes in parts; null until they were counted. */
  keptBytes: number | null;
  /** Set when the upload's bytes are removed: nothing more is sent. */
  isOver: boolean;
}

/**
 * Unfinished uploads that outlive the local disk. What has arrived is sent on in order, in the background and never
 * delaying requests. If the other machine fails, the upload only lacks this safety until the next append.
 */
export function keepUploads({ files, parts, logger, partBytes = PART_BYTES }: KeepUploadsDeps): KeptUploads {
  const uploads = new Map<string, Upload>();
  const returning = new Map<string, Promise<number | null>>();
  const underWay = new Set<Promise<void>>();
  const oneAtATime = createKeyedLock();

  /** Runs work in the background; its errors are logged. */
  function beside(id: string, work: Promise<void>, fault: string): void {
    const told = work
      .catch((error: unknown) => logger.warn({ uploadId: id.slice(0, 8), error: detailOf(error) }, fault))
      .finally(() => underWay.delete(told));
    underWay.add(told);
  }

  const uploadOf = (id: string): Upload => {
    const known = uploads.get(id);
    if (known) return known;
    const fresh = { arrivedBytes: 0, keptBytes: null, isOver: false };
    uploads.set(id, fresh);
    return fresh;
  };

  async function countKept(id: string, upload: Upload): Promise<number> {
    const keptBytes = sizeOfAll(withoutHoles(await parts.list(id)));
    if (keptBytes <= upload.arrivedBytes) return keptBytes;
    // A disk that lost bytes which it had stored: what is sent again now counts.
    await parts.remove(id);
    return 0;
  }

  async function sendOn(id: string, upload: Upload): Promise<void> {
    if (upload.isOver) return;
    let keptBytes = upload.keptBytes ?? (await countKept(id, upload));
    while (!upload.isOver && keptBytes < upload.arrivedBytes) {
      const [from, sizeBytes] = [keptBytes, Math.min(partBytes, upload.arrivedBytes - keptBytes)];
      const isSent = await oneAtATime(EVERY_UPLOAD, async () => {
        const bytes = await readRange(files.path(id), from, sizeBytes);
        if (bytes && !upload.isOver) await parts.put(id, from, bytes);
        return bytes !== null;
      });
      if (!isSent) return;
      keptBytes += sizeBytes;
      upload.keptBytes = keptBytes;
    }
  }

  function follow(id: string, arrivedBytes: number): void {
    const upload = uploadOf(id);
    upload.arrivedBytes = arrivedBytes;
    const sent = oneAtATime(id, () => sendOn(id, upload));
    beside(id, sent, 'bytes of an upload are on this disk alone');
  }

  /** Stops sending bytes of an upload. */
  async function stop(id: string): Promise<void> {
    const upload = uploads.get(id);
    uploads.delete(id);
    if (upload) upload.isOver = true;
    await oneAtATime(id, async () => undefined);
  }

  async function bringBack(id: string): Promise<number | null> {
    const found = withoutHoles(await parts.list(id));
    if (found.length === 0) return null;
    const sizeBytes = sizeOfAll(found);
    async function* bytes() {
      for (const { offsetBytes } of found) yield* await parts.read(id, offsetBytes);
    }
    await files.create(id);
    try {
      await files.append(id, 0, bytes(), { checksum: null, maxOffsetBytes: sizeBytes });
    } catch (error) {
      await files.remove(id);
      throw error;
    }
    uploads.set(id, { arrivedBytes: sizeBytes, keptBytes: sizeBytes, isOver: false });
    return sizeBytes;
  }

  const kept: UploadFiles = {
    ...files,

    async sizeOf(id) {
      const sizeBytes = await files.sizeOf(id);
      if (sizeBytes !== null) return sizeBytes;
      const coming = returning.get(id) ?? bringBack(id).finally(() => returning.delete(id));
      returning.set(id, coming);
      return coming;
    },

    async append(id, offsetBytes, part, limits) {
      let arrivedBytes: number | null = null;
      try {
        arrivedBytes = await files.append(id, offsetBytes, part, limits);
        return arrivedBytes;
      } finally {
        // Also after an interrupted request.
        arrivedBytes ??= await files.sizeOf(id);
        if (arrivedBytes !== null) follow(id, arrivedBytes);
      }
    },

    async reset(id) {
      await stop(id);
      await parts.remove(id);
      await files.reset(id);
    },

    async remove(id) {
      await files.remove(id);
      // The sweep removes what is left of them.
      beside(
        id,
        stop(id).then(() => parts.remove(id)),
        'parts of an upload were not removed',
      );
    },

    async list() {
      const here = await files.list();
      const known = new Set(here.map(({ id }) => id));
      return [...here, ...(await parts.uploads()).filter(({ id }) => !known.has(id))];
    },
  };

  return {
    files: kept,
    async settled() {
      const enough = new AbortController();
      const late = setTimeout(SETTLE_MS, undefined, { signal: enough.signal }).catch(() => undefined);
      await Promise.race([Promise.all(underWay), late]);
      enough.abort();
    },
  };
}

/** Null where the file is gone because it became a stored object. */
async function readRange(path: string, from: number, sizeBytes: number): Promise<Buffer | null> {
  const file = await open(path, 'r').catch(ignoreMissing);
  if (!file) return null;
  try {
    return await readExactly(file, from, sizeBytes);
  } finally {
    await file.close();
  }
}
