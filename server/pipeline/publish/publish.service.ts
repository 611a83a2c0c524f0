import { access, readFile } from 'node:fs/promises';
import type { Knex } from 'knex';
import { newId } from '#db/base-model.ts';
import type { Video } from '#db/models/video.ts';
import { VideoVersion } from '#db/models/video-version.ts';
import type { MediaStorage, StoredFile } from '#server/pipeline/storage/media-storage.ts';
import type { ProcessVideoResult } from '#server/pipeline/worker-protocol.ts';
import { recordObject } from '#server/videos/create-video.ts';
import type { VideoState } from '#server/videos/video-state.ts';
import type { CertificateService } from './certificate.service.ts';

export type FinishedVideo = Extract<ProcessVideoResult, { ok: true }>;

export interface PublishService {
  /**
   * Makes a finished result the current version: files go into the storage first, then follows one fenced transaction.
   * A kill before the commit leaves the old state and unreferenced objects, which housekeeping removes.
   * @returns false when this attempt may no longer write (deleted, or another attempt is ahead)
   * @throws AppError `storage_full`; Error when the bytes differ from the thread's hash
   */
  publish(video: Video, attempt: number, result: FinishedVideo): Promise<boolean>;
}

export interface PublishDeps {
  readonly db: Knex;
  readonly storage: MediaStorage;
  readonly state: VideoState;
  readonly certificates: Pick<CertificateService, 'issue'>;
  readonly now: () => number;
}

class Fenced extends Error {}

/** See `PublishService`. */
export function createPublishService(deps: PublishDeps): PublishService {
  const { db, storage, state, now } = deps;

  /** An unchanged clip refers to the original's object: no copy, the same hash. */
  async function storeResult(video: Video, result: FinishedVideo): Promise<StoredFile> {
    if (result.resultPath === null) return { sha256: video.originalSha256, sizeBytes: video.fileSize };
    // A repeated publication finds its file already moved. Otherwise it is stored, even if the same bytes exist: those
    // may be damaged, or about to be removed with the last video that had them.
    const moved = await access(result.resultPath).then(
      () => false,
      () => true,
    );
    const before = moved ? await storage.stat(result.resultSha256) : null;
    if (before?.sizeBytes === result.resultSizeBytes) return before;
    const stored = await storage.put(result.resultPath);
    if (stored.sha256 !== result.resultSha256) {
      throw new Error(`the result changed on its way: ${stored.sha256} instead of ${result.resultSha256}`);
    }
    return stored;
  }

  // Copied, not moved, so that a repeated publication finds them again.
  async function storeSmall(file: string | null): Promise<StoredFile | null> {
    return file === null ? null : storage.putBuffer(await readFile(file));
  }

  return {
    async publish(video, attempt, result) {
      const main = await storeResult(video, result);
      const poster = await storeSmall(result.posterPath);
      const captions = await storeSmall(result.captionsPath);
      const report = await storage.putBuffer(Buffer.from(JSON.stringify(result.report)));
      const media = result.report.result.media;
      const turned = Math.abs(media.rotation ?? 0) % 180 === 90;
      try {
        await db.transaction(async (trx) => {
          const at = now();
          for (const object of [main, poster, captions, report]) {
            if (object) await recordObject(trx, object, at);
          }
          const versionId = newId();
          const current = await state.complete(trx, video.id, attempt, {
            versionId,
            issues: result.issues,
            fixesApplied: result.fixesApplied,
            steps: result.report.steps,
            durationMs: media.durationMs,
            width: turned ? media.height : media.width,
            height: turned ? media.width : media.height,
          });
          if (!current) throw new Fenced();
          await VideoVersion.query(trx).insert({
            id: versionId,
            videoId: video.id,
            kind: 'repair',
            sha256: main.sha256,
            sizeBytes: main.sizeBytes,
            reportSha256: report.sha256,
            captionsSha256: captions?.sha256 ?? null,
            fixesApplied: result.fixesApplied,
            posterSha256: poster?.sha256 ?? null,
            createdAt: at,
          });
          await deps.certificates.issue(trx, versionId, result.report);
        });
      } catch (error) {
        if (error instanceof Fenced) return false;
        throw error;
      }
      state.announceCompleted(video.userId, video.id);
      return true;
    },
  };
}
