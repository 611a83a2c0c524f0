import type { Knex } from 'knex';
import { ForeignKeyViolationError } from 'objection';
import { Draft } from '#db/models/draft.ts';
import { StoredObject } from '#db/models/stored-object.ts';
import { Upload } from '#db/models/upload.ts';
import { VideoVersion } from '#db/models/video-version.ts';
import { Video } from '#db/models/video.ts';
import type { MediaStorage } from '#server/pipeline/storage/media-storage.ts';

export interface RemoveObjectsDeps {
  readonly db: Knex;
  readonly storage: Pick<MediaStorage, 'remove'>;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** Names asked for in one query; SQLite takes at most 32 766 values. */
const BATCH = 200;

/**
 * Removes those of the objects that no row points at any more; content that another account holds too
 * stays. @returns how many were removed
 */
export async function removeUnusedObjects(
  { db, storage, now }: RemoveObjectsDeps,
  names: readonly string[],
): Promise<number> {
  let removed = 0;
  for (let from = 0; from < names.length; from += BATCH) {
    const batch = names.slice(from, from + BATCH);
    // An upload of the same content that arrives from here on keeps its bytes.
    const askedAt = now();
    const used = await usedAmong(db, batch);
    for (const sha256 of batch.filter((name) => !used.has(name))) {
      if (!(await forget(db, sha256))) continue;
      if (await storage.remove(sha256, askedAt)) removed += 1;
    }
  }
  return removed;
}

/** Takes the object's row out. @returns false when somebody has begun to use it meanwhile */
async function forget(db: Knex, sha256: string): Promise<boolean> {
  try {
    await StoredObject.query(db).deleteById(sha256);
    return true;
  } catch (error) {
    if (error instanceof ForeignKeyViolationError) return false;
    throw error;
  }
}

async function usedAmong(db: Knex, names: readonly string[]): Promise<Set<string>> {
  const found = [
    ...(await Video.query(db).select('original_sha256').whereIn('original_sha256', names)).map(
      (row) => row.originalSha256,
    ),
    ...(await Draft.query(db).select('sha256').whereIn('sha256', names)).map((row) => row.sha256),
    ...(await Upload.query(db).select('sha256').where('state', 'received').whereIn('sha256', names)).map(
      (row) => row.sha256,
    ),
    ...(
      await VideoVersion.query(db)
        .select('sha256', 'report_sha256', 'captions_sha256', 'poster_sha256')
        .whereIn('sha256', names)
        .orWhereIn('report_sha256', names)
        .orWhereIn('captions_sha256', names)
        .orWhereIn('poster_sha256', names)
    ).flatMap((row) => [row.sha256, row.reportSha256, row.captionsSha256, row.posterSha256]),
  ];
  return new Set(found.filter((name) => name !== null));
}
