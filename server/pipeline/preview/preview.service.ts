import type { Knex } from 'knex';
import type { ComparisonDto } from '#common/api/comparison.ts';
import { comparisonMediaPath } from '#common/api/comparison.ts';
import { buildPath } from '#common/api/endpoint.ts';
import type { RepairReport } from '#common/report.ts';
import { VersionPreview } from '#db/models/version-preview.ts';
import { VideoVersion } from '#db/models/video-version.ts';
import type { Video } from '#db/models/video.ts';
import type { JobQueue } from '#server/jobs/job-queue.ts';
import type { MediaStorage } from '../storage/media-storage.ts';
import { readReport } from '../storage/stored-report.ts';
import { layOutPreview } from './lay-out.ts';

/** Repairs go first, because a comparison only shows something that is finished. */
const PRIORITY = -10;

export interface PreviewServiceDeps {
  readonly db: Knex;
  readonly storage: Pick<MediaStorage, 'read'>;
  readonly queue: Pick<JobQueue, 'enqueue'>;
  readonly now: () => number;
}

export interface PreviewService {
  /** State of the comparison of the video's current version. */
  read(video: Video): Promise<ComparisonDto>;
  /** Requests it: queued once per version, and once more after a failure. */
  make(video: Video): Promise<ComparisonDto>;
  /** SHA-256 of the finished clip; null while there is none. */
  object(video: Video): Promise<string | null>;
}

const EMPTY = { progress: 0, message: null, url: null, layout: null } as const;

/** See `PreviewService`. Videos are given as their owner's rows, with the current version. */
export function createPreviewService({ db, storage, queue, now }: PreviewServiceDeps): PreviewService {
  async function read(video: Video): Promise<ComparisonDto> {
    const version = video.currentVersion;
    if (!version) return { state: 'none', ...EMPTY };
    const row = await VersionPreview.query(db).findById(version.id);
    if (row) return toDto(video, row);
    const report = await readReport(storage, version.reportSha256);
    return { state: report && layOutPreview(report) ? 'absent' : 'none', ...EMPTY };
  }

  return {
    read,

    async make(video) {
      const before = await read(video);
      const version = video.currentVersion;
      if (!version || (before.state !== 'absent' && before.state !== 'failed')) return before;
      const versionId = version.id;
      await db.transaction(async (trx) => {
        const at = now();
        const changed =
          before.state === 'failed'
            ? await VersionPreview.query(trx)
                .patch({ state: 'waiting', progress: 0, message: null, updatedAt: at })
                .where({ versionId, state: 'failed' })
            : await insertNew(trx, versionId, at);
        // Of parallel calls, one finds the row to change; the others find it changed.
        if (changed === 0) return;
        await queue.enqueue(
          'make-preview',
          { versionId },
          { trx, priority: PRIORITY, userId: video.userId, videoId: video.id },
        );
      });
      return read(video);
    },

    async object(video) {
      const { currentVersionId } = video;
      if (currentVersionId === null) return null;
      const row = await VersionPreview.query(db).findById(currentVersionId);
      return row?.state === 'ready' ? row.sha256 : null;
    },
  };
}

async function insertNew(trx: Knex, versionId: string, at: number): Promise<number> {
  const rows = await trx('version_previews')
    .insert({ version_id: versionId, state: 'waiting', progress: 0, created_at: at, updated_at: at })
    .onConflict('version_id')
    .ignore()
    .returning('version_id');
  return rows.length;
}

function toDto(video: Video, row: VersionPreview): ComparisonDto {
  const ready = row.state === 'ready' && row.layout !== null;
  return {
    state: row.state,
    progress: row.progress,
    message: row.message,
    // The version in the address keeps a browser from playing the clip of an earlier one.
    url: ready ? `${buildPath(comparisonMediaPath, { id: video.id })}?of=${row.versionId}` : null,
    layout: ready ? row.layout : null,
  };
}

/**
 * The newest report of a video, even where its current version, a restored original, has none; null where there is
 * none.
 */
export async function newestReport(
  db: Knex,
  storage: Pick<MediaStorage, 'read'>,
  videoId: string,
): Promise<RepairReport | null> {
  const newest = await VideoVersion.query(db)
    .where({ videoId })
    .whereNotNull('reportSha256')
    .orderBy('createdAt', 'desc')
    .first();
  return readReport(storage, newest?.reportSha256 ?? null);
}
