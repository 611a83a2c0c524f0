import type { Knex } from 'knex';
import { Video } from '#db/models/video.ts';
import { AppError } from '#server/errors.ts';
import { mayNeedReference } from './open/may-need-reference.ts';
import type { MediaStorage } from './storage/media-storage.ts';

/**
 * Most earlier clips of the account that are offered as references for a lost index; from a bucket, each must be
 * fetched as a whole.
 */
const MAX_REFERENCES = { local: 12, remote: 3 };

export interface HoldClipsDeps {
  readonly db: Knex;
  readonly storage: MediaStorage;
}

/** Local files of clips, which stay until they are released. */
export interface HeldClips {
  readonly originalPath: string;
  readonly referencePaths: readonly string[];
  release(): Promise<void>;
}

/**
 * Holds the original of a video, and those earlier clips of its owner that may help to read it.
 * @throws AppError `not_found` when the original is gone
 */
export async function holdClips(deps: HoldClipsDeps, video: Video): Promise<HeldClips> {
  const { storage } = deps;
  const original = await storage.localPath(video.originalSha256);
  try {
    const wanted = storage.isLocal || (await mayNeedReference(original.path));
    const references = wanted ? await holdReferences(deps, video) : [];
    return {
      originalPath: original.path,
      referencePaths: references.map((reference) => reference.path),
      async release() {
        await original.release();
        for (const reference of references) await reference.release();
      },
    };
  } catch (error) {
    await original.release();
    throw error;
  }
}

async function holdReferences({ db, storage }: HoldClipsDeps, video: Video) {
  const earlier = await Video.query(db)
    .where({ userId: video.userId, status: 'completed', isSample: false })
    .whereNot('originalSha256', video.originalSha256)
    .orderBy('createdAt', 'desc')
    .limit(storage.isLocal ? MAX_REFERENCES.local : MAX_REFERENCES.remote);
  const found = await Promise.all(
    earlier.map((other) => storage.localPath(other.originalSha256).catch(missingIsNull)),
  );
  return found.filter((reference) => reference !== null);
}

function missingIsNull(error: unknown): null {
  if (error instanceof AppError && error.code === 'not_found') return null;
  throw error;
}
