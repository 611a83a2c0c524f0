import { randomBytes } from 'node:crypto';
import type { Knex } from 'knex';
import type { z } from 'zod';
import type { OpenUpload, uploadIntent } from '#common/api/uploads.ts';
import { MAX_OPEN_UPLOADS, UPLOAD_TTL_MS } from '#common/limits.ts';
import type { PlanSlug } from '#common/plans.ts';
import { Upload } from '#db/models/upload.ts';
import { Video } from '#db/models/video.ts';
import { AppError, notFound } from '#server/errors.ts';
import type { EventBus } from '#server/events.ts';
import type { Quota } from '#server/plans/quota.ts';
import { uploadUrl } from './upload-address.ts';
import type { UploadFiles } from './upload-files.ts';
import type { UploadLocks } from './upload-locks.ts';

const TOKEN_BYTES = 32;
/** An unused slot of this age may make room for a new one. */
const EMPTY_SLOT_MS = 60_000;

/** The fields of the signed-in person that uploads need. */
export interface UploadOwner {
  readonly id: string;
  readonly plan: PlanSlug;
}

/** A video made from a file that is selected again. */
interface KnownVideo {
  readonly videoId: string;
  readonly fileName: string;
}

export interface UploadService {
  /**
   * Gives an address for a file, or the one of the unfinished upload of the same file; who asks for it is told of the
   * video that was made of that file before instead.
   * @throws AppError `quota_reached`, `storage_full`, `rate_limited`
   */
  issue(
    owner: UploadOwner,
    intent: z.infer<typeof uploadIntent>,
    origin: string,
  ): Promise<{ uploadUrl: string; offsetBytes: number; known: KnownVideo | null }>;
  /**
   * The upload of this address, whoever asks: the address is the key.
   * @throws AppError `not_found`
   */
  byToken(uploadId: string): Promise<Upload>;
  /**
   * The upload of this owner.
   * @throws AppError `not_found`
   */
  owned(owner: { readonly id: string }, uploadId: string): Promise<Upload>;
  listOpen(owner: { readonly id: string }, origin: string): Promise<OpenUpload[]>;
  /**
   * Throws an unfinished upload away.
   * @throws AppError `not_found`, `conflict`
   */
  discard(owner: { readonly id: string }, uploadId: string): Promise<void>;
}

export interface UploadServiceDeps {
  readonly db: Knex;
  readonly files: UploadFiles;
  readonly locks: UploadLocks;
  readonly quota: Quota;
  readonly events: EventBus;
  readonly now: () => number;
  /** Bytes that stay free on the disk whatever is uploaded. */
  readonly reserveBytes: number;
}

/** Upload slots: who may send what where; see `UploadService`. */
export function createUploadService(deps: UploadServiceDeps): UploadService {
  const { db, files, locks, quota, events, now } = deps;

  async function owned(owner: { readonly id: string }, uploadId: string): Promise<Upload> {
    const upload = await Upload.query(db).findOne({ id: uploadId, userId: owner.id });
    if (!upload) throw notFound();
    return upload;
  }

  async function requireRoom(sizeBytes: number): Promise<void> {
    if ((await files.freeBytes()) < sizeBytes + deps.reserveBytes) throw new AppError('storage_full');
  }

  async function requireSlot(owner: UploadOwner): Promise<void> {
    const open = await Upload.query(db)
      .where({ userId: owner.id, state: 'open' })
      .where('expiresAt', '>', now())
      .orderBy('createdAt');
    if (open.length < MAX_OPEN_UPLOADS) return;
    const unused = open.find(
      (upload) => upload.offsetBytes === 0 && upload.updatedAt < now() - EMPTY_SLOT_MS,
    );
    if (!unused) {
      throw new AppError(
        'rate_limited',
        `You have ${open.length} unfinished uploads. Finish or discard one of them first.`,
        { retryAfterSeconds: 60 },
      );
    }
    await discardRow(unused);
  }

  async function discardRow(upload: Upload): Promise<void> {
    await locks.hold(upload.id, async () => {
      const rows = await Upload.query(db)
        .patch({ state: 'discarded', updatedAt: now() })
        .where({ id: upload.id })
        .whereIn('state', ['open', 'received']);
      if (rows === 0) throw new AppError('conflict', 'This upload already became a video.');
      await files.remove(upload.id);
    });
  }

  async function findSame(owner: UploadOwner, fingerprint: string, sizeBytes: number | undefined) {
    const same = Upload.query(db)
      .where({ userId: owner.id, state: 'open', fingerprint })
      .where('expiresAt', '>', now())
      .orderBy('offsetBytes', 'desc');
    if (sizeBytes !== undefined) same.where('sizeBytes', sizeBytes);
    return same.first();
  }

  /** The newest living video that was made of a file with this fingerprint; one that failed may well be tried again. */
  async function findKnown(
    owner: UploadOwner,
    fingerprint: string,
    sizeBytes: number | undefined,
  ): Promise<KnownVideo | null> {
    const made = Upload.query(db)
      .where({ userId: owner.id, state: 'claimed', fingerprint })
      .whereNotNull('videoId')
      .orderBy('createdAt', 'desc');
    if (sizeBytes !== undefined) made.where('sizeBytes', sizeBytes);
    const ids = (await made.select('videoId')).flatMap(({ videoId }) => videoId ?? []);
    const video = await Video.query(db)
      .whereIn('id', ids)
      .where({ userId: owner.id })
      .whereNot('status', 'failed')
      .orderBy('createdAt', 'desc')
      .first();
    return video ? { videoId: video.id, fileName: video.originalFileName } : null;
  }

  return {
    owned,

    async byToken(uploadId) {
      const upload = await Upload.query(db).findById(uploadId);
      if (!upload) throw notFound();
      return upload;
    },

    async issue(owner, intent, origin) {
      const { fileName, fileSize, fileType, fingerprint, tellKnown = false } = intent ?? {};
      const same = fingerprint === undefined ? undefined : await findSame(owner, fingerprint, fileSize);
      if (tellKnown && !same && fingerprint !== undefined) {
        const known = await findKnown(owner, fingerprint, fileSize);
        if (known) return { uploadUrl: '', offsetBytes: 0, known };
      }
      await quota.check(owner.id);
      if (same) {
        const offsetBytes = await locks.hold(same.id, () => files.sizeOf(same.id));
        if (offsetBytes !== null) return { uploadUrl: uploadUrl(same.id, origin), offsetBytes, known: null };
      }
      await requireRoom(fileSize ?? 0);
      await requireSlot(owner);
      const id = randomBytes(TOKEN_BYTES).toString('base64url');
      const at = now();
      await files.create(id);
      await Upload.query(db).insert({
        id,
        userId: owner.id,
        fileName: fileName ?? null,
        fileType: fileType ?? null,
        sizeBytes: fileSize ?? null,
        offsetBytes: 0,
        fingerprint: fingerprint ?? null,
        state: 'open',
        createdAt: at,
        updatedAt: at,
        expiresAt: at + UPLOAD_TTL_MS,
      });
      events.emit('upload.changed', { userId: owner.id });
      return { uploadUrl: uploadUrl(id, origin), offsetBytes: 0, known: null };
    },

    async listOpen(owner, origin) {
      const rows = await Upload.query(db)
        .where({ userId: owner.id, state: 'open' })
        .where('expiresAt', '>', now())
        .orderBy('createdAt', 'desc');
      // A slot without a name and without a byte is nothing anybody could go on with.
      return rows
        .filter((row) => row.offsetBytes > 0 || row.fileName !== null)
        .map((row) => ({
          id: row.id,
          uploadUrl: uploadUrl(row.id, origin),
          fileName: row.fileName,
          sizeBytes: row.sizeBytes,
          offsetBytes: row.offsetBytes,
          createdAt: new Date(row.createdAt).toISOString(),
          expiresAt: new Date(row.expiresAt).toISOString(),
        }));
    },

    async discard(owner, uploadId) {
      await discardRow(await owned(owner, uploadId));
      events.emit('upload.changed', { userId: owner.id });
    },
  };
}
