import type { Transaction } from 'objection';
import { newId } from '#db/base-model.ts';
import { VideoVersion } from '#db/models/video-version.ts';
import type { StoredFile } from '#server/pipeline/storage/media-storage.ts';

/** Identifies a file kept beside the versions; a video has at most one of each. */
export type SideFile = Pick<VideoVersion, 'videoId' | 'kind'> & Partial<Pick<VideoVersion, 'platformFix'>>;

/**
 * Replaces an earlier file of the same kind by one newly made from a result.
 * @returns objects of the earlier file that are no longer used, if its bytes were others
 */
export async function replaceVersion(
  trx: Transaction,
  mine: SideFile,
  { sha256, sizeBytes }: StoredFile,
  row: Pick<VideoVersion, 'sourceSha256' | 'createdAt'> &
    Partial<Pick<VideoVersion, 'shortSide' | 'fixes' | 'captionStyle' | 'captionsRevision'>>,
): Promise<string[]> {
  const before = await VideoVersion.query(trx).where(mine);
  await VideoVersion.query(trx).delete().where(mine);
  await VideoVersion.query(trx).insert({
    id: newId(),
    ...mine,
    sha256,
    sizeBytes,
    reportSha256: null,
    captionsSha256: null,
    posterSha256: null,
    ...row,
  });
  return before.map((version) => version.sha256).filter((old) => old !== sha256);
}
