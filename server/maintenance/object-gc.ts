import { DAY_MS } from '#common/limits.ts';
import type { Knex } from 'knex';
import { Draft } from '#db/models/draft.ts';
import { StoredObject } from '#db/models/stored-object.ts';
import { Upload } from '#db/models/upload.ts';
import { Video } from '#db/models/video.ts';
import { VersionPreview } from '#db/models/version-preview.ts';
import { VideoVersion } from '#db/models/video-version.ts';
import type { MediaStorage } from '#server/pipeline/storage/media-storage.ts';

/** An object put more recently may belong to a transaction that is about to commit. */
const FRESH_MS = 2 * 60_000;
/** Waiting a little longer than that finds the object old enough. */
const SECOND_MS = 1000;
/** Objects without any row must be older than this to be removed, because an upload may still be getting its row. */
const ORPHAN_MS = DAY_MS;
/** Objects asked about in one query. */
const BATCH = 200;

export interface ObjectGcDeps {
  readonly db: Knex;
  readonly storage: MediaStorage;
  readonly now: () => number;
}

export interface ObjectGc {
  /** Removes those of the given objects that nothing refers to; recent ones two minutes later, or by the sweep. */
  collect(sha256s: readonly string[]): Promise<void>;
  /**
   * Checks the whole storage.
   * @returns number of objects removed
   */
  sweep(): Promise<number>;
}

/** Removes stored objects that no video, version, draft or received upload refers to. */
export function createObjectGc({ db, storage, now }: ObjectGcDeps): ObjectGc {
  /** The row goes first: if a reference appeared meanwhile, a foreign key refuses that, and the bytes stay. */
  async function removeUnreferenced(sha256: string, unusedSinceMs: number): Promise<boolean> {
    try {
      await StoredObject.query(db).deleteById(sha256);
    } catch {
      return false;
    }
    return storage.remove(sha256, unusedSinceMs);
  }

  async function collect(sha256s: readonly string[]): Promise<void> {
    const fresh: string[] = [];
    for (let from = 0; from < sha256s.length; from += BATCH) {
      const batch = sha256s.slice(from, from + BATCH);
      const referenced = await referencedAmong(db, batch);
      for (const sha256 of batch.filter((name) => !referenced.has(name))) {
        if (!(await removeUnreferenced(sha256, now() - FRESH_MS))) fresh.push(sha256);
      }
    }
    if (fresh.length === 0) return;
    // People who delete something do not expect it to be kept here for another day.
    setTimeout(() => void collect(fresh).catch(() => undefined), FRESH_MS + SECOND_MS).unref();
  }

  return {
    collect,

    async sweep() {
      let removed = 0;
      for await (const object of storage.list()) {
        const row = await StoredObject.query(db).findById(object.sha256);
        const unusedSinceMs = now() - (row ? FRESH_MS : ORPHAN_MS);
        if (object.storedAtMs > unusedSinceMs) continue;
        if ((await referencedAmong(db, [object.sha256])).size > 0) continue;
        if (await removeUnreferenced(object.sha256, unusedSinceMs)) removed += 1;
      }
      return removed;
    },
  };
}

/** Those of the objects that a video, version, comparison, draft or received upload refers to. */
async function referencedAmong(db: Knex, sha256s: readonly string[]): Promise<Set<string>> {
  const videos = await Video.query(db).select('originalSha256').whereIn('originalSha256', sha256s);
  const drafts = await Draft.query(db).select('sha256').whereIn('sha256', sha256s);
  const uploads = await Upload.query(db)
    .select('sha256')
    .where('state', 'received')
    .whereIn('sha256', sha256s);
  const versions = await VideoVersion.query(db)
    .select('sha256', 'reportSha256', 'captionsSha256', 'posterSha256')
    .whereIn('sha256', sha256s)
    .orWhereIn('reportSha256', sha256s)
    .orWhereIn('captionsSha256', sha256s)
    .orWhereIn('posterSha256', sha256s);
  const previews = await VersionPreview.query(db).select('sha256').whereIn('sha256', sha256s);
  const found = [
    ...videos.map((row) => row.originalSha256),
    ...[...drafts, ...uploads, ...previews].map((row) => row.sha256),
    ...versions.flatMap((row) => [row.sha256, row.reportSha256, row.captionsSha256, row.posterSha256]),
  ];
  return new Set(found.filter((sha256) => sha256 !== null));
}
