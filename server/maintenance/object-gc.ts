import type { Knex } from 'knex';
import { Draft } from '#db/models/draft.ts';
import { StoredObject } from '#db/models/stored-object.ts';
import { Upload } from '#db/models/upload.ts';
import { Video } from '#db/models/video.ts';
import { VideoVersion } from '#db/models/video-version.ts';
import type { MediaStorage } from '#server/pipeline/storage/media-storage.ts';

/** An object put more recently may belong to a transaction that is about to commit. */
const FRESH_MS = 2 * 60_000;
/** Objects without any row are older than this before they go: an upload may be on its way to its row. */
const ORPHAN_MS = 24 * 3600_000;

export interface ObjectGcDeps {
  readonly db: Knex;
  readonly storage: MediaStorage;
  readonly now: () => number;
}

export interface ObjectGc {
  /** Removes those of the given objects that nothing refers to; fresh ones are left to the sweep. */
  collect(sha256s: readonly string[]): Promise<void>;
  /** Looks through the whole storage. @returns how many objects were removed */
  sweep(): Promise<number>;
}

/** Removes stored objects that no video, version, draft or received upload refers to. */
export function createObjectGc({ db, storage, now }: ObjectGcDeps): ObjectGc {
  async function isReferenced(sha256: string): Promise<boolean> {
    const counts = [
      () => Video.query(db).where({ originalSha256: sha256 }).resultSize(),
      () =>
        VideoVersion.query(db)
          .where({ sha256 })
          .orWhere({ reportSha256: sha256 })
          .orWhere({ captionsSha256: sha256 })
          .orWhere({ posterSha256: sha256 })
          .resultSize(),
      () => Draft.query(db).where({ sha256 }).resultSize(),
      () => Upload.query(db).where({ sha256, state: 'received' }).resultSize(),
    ];
    for (const count of counts) if ((await count()) > 0) return true;
    return false;
  }

  /** Row first: a foreign key refuses it when a reference appeared meanwhile, then the bytes stay. */
  async function removeUnreferenced(sha256: string, unusedSinceMs: number): Promise<boolean> {
    if (await isReferenced(sha256)) return false;
    try {
      await StoredObject.query(db).deleteById(sha256);
    } catch {
      return false;
    }
    return storage.remove(sha256, unusedSinceMs);
  }

  return {
    async collect(sha256s) {
      for (const sha256 of sha256s) await removeUnreferenced(sha256, now() - FRESH_MS);
    },

    async sweep() {
      let removed = 0;
      for await (const object of storage.list()) {
        const row = await StoredObject.query(db).findById(object.sha256);
        const unusedSinceMs = now() - (row ? FRESH_MS : ORPHAN_MS);
        if (object.storedAtMs > unusedSinceMs) continue;
        if (await removeUnreferenced(object.sha256, unusedSinceMs)) removed += 1;
      }
      return removed;
    },
  };
}
