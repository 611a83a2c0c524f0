import type { Transaction } from 'objection';
import { newId } from '#db/base-model.ts';
import { VideoVersion } from '#db/models/video-version.ts';
import type { StoredFile } from '#server/pipeline/storage/media-storage.ts';

/** What a file beside the versions is, of which a video has one at most. */
export type SideFile = Pick<VideoVersion, 'videoId' | 'kind'> & Partial<Pick<VideoVersion, 'platformFix'>>;

/**
 * Puts a file that was made of a result in the place of an earlier one of its kind.
 * @returns objects of the earlier one, where it had other bytes
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
