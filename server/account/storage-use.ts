import type { Knex } from 'knex';
import type { StorageUse } from '#common/api/account.ts';
import { Draft } from '#db/models/draft.ts';
import { StoredObject } from '#db/models/stored-object.ts';
import { Upload } from '#db/models/upload.ts';
import { VideoVersion } from '#db/models/video-version.ts';
import { Video } from '#db/models/video.ts';

/** One stored object of an account with the list it belongs to. */
export interface HeldObject {
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly list: 'originals' | 'versions' | 'exports' | 'extras';
}

/** Every stored object the account's rows point at, each once; originals win over versions, these over the rest. */
export async function heldObjects(db: Knex, userId: string): Promise<HeldObject[]> {
  const videos = await Video.query(db).select('original_sha256', 'file_size').where('user_id', userId);
  const drafts = await Draft.query(db).select('sha256', 'size_bytes').where('user_id', userId);
  const versions = await VideoVersion.query(db)
    .select('video_versions.kind', 'video_versions.sha256', 'video_versions.size_bytes')
    .join('videos', 'videos.id', 'video_versions.video_id')
    .where('videos.user_id', userId);
  const extras = await StoredObject.query(db)
    .select('sha256', 'size_bytes')
    .whereIn('sha256', extrasOf(db, userId, 'report_sha256'))
    .orWhereIn('sha256', extrasOf(db, userId, 'captions_sha256'))
    .orWhereIn('sha256', extrasOf(db, userId, 'poster_sha256'));
  const all: HeldObject[] = [
    ...videos.map((row) => held(row.originalSha256, row.fileSize, 'originals')),
    ...drafts.map((row) => held(row.sha256, row.sizeBytes, 'originals')),
    ...versions
      .filter((row) => row.kind === 'original')
      .map((row) => held(row.sha256, row.sizeBytes, 'originals')),
    ...versions
      .filter((row) => row.kind === 'repair' || row.kind === 'fixes')
      .map((row) => held(row.sha256, row.sizeBytes, 'versions')),
    ...versions
      .filter((row) => !['original', 'repair', 'fixes'].includes(row.kind))
      .map((row) => held(row.sha256, row.sizeBytes, 'exports')),
    ...extras.map((row) => held(row.sha256, row.sizeBytes, 'extras')),
  ];
  const first = new Map<string, HeldObject>();
  for (const object of all) if (!first.has(object.sha256)) first.set(object.sha256, object);
  return [...first.values()];
}

/** Bytes the account occupies, by kind. */
export async function measureStorage(db: Knex, userId: string): Promise<StorageUse> {
  const objects = await heldObjects(db, userId);
  const bytesOf = (list: HeldObject['list']) =>
    objects.reduce((sum, object) => (object.list === list ? sum + object.sizeBytes : sum), 0);
  const uploads = await Upload.query(db)
    .select('offset_bytes')
    .where('user_id', userId)
    .whereIn('state', ['open', 'received']);
  const use = {
    originalsBytes: bytesOf('originals'),
    versionsBytes: bytesOf('versions'),
    exportsBytes: bytesOf('exports'),
    extrasBytes: bytesOf('extras'),
    uploadsBytes: uploads.reduce((sum, upload) => sum + upload.offsetBytes, 0),
  };
  return { ...use, totalBytes: Object.values(use).reduce((sum, bytes) => sum + bytes, 0) };
}

function held(sha256: string, sizeBytes: number, list: HeldObject['list']): HeldObject {
  return { sha256, sizeBytes, list };
}

function extrasOf(db: Knex, userId: string, column: 'report_sha256' | 'captions_sha256' | 'poster_sha256') {
  return VideoVersion.query(db)
    .select(`video_versions.${column}`)
    .join('videos', 'videos.id', 'video_versions.video_id')
    .where('videos.user_id', userId)
    .whereNotNull(`video_versions.${column}`);
}
