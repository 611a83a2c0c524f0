import type { Knex } from 'knex';
import type { StorageUse } from '#common/api/account.ts';
import { Draft } from '#db/models/draft.ts';
import { StoredObject } from '#db/models/stored-object.ts';
import { Upload } from '#db/models/upload.ts';
import { VersionPreview } from '#db/models/version-preview.ts';
import { VideoVersion } from '#db/models/video-version.ts';
import { Video } from '#db/models/video.ts';

/** A stored object of an account, and the list it counts in. */
export interface HeldObject {
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly list: 'originals' | 'versions' | 'exports' | 'extras';
}

/**
 * Every stored object that the account's rows refer to, each once; originals take precedence over versions, and these
 * over the rest.
 */
export async function heldObjects(db: Knex, userId: string): Promise<HeldObject[]> {
  const videos = await Video.query(db).select('originalSha256', 'fileSize').where('userId', userId);
  const drafts = await Draft.query(db).select('sha256', 'sizeBytes').where('userId', userId);
  const versions = await VideoVersion.query(db)
    .select('video_versions.kind', 'video_versions.sha256', 'video_versions.sizeBytes')
    .join('videos', 'videos.id', 'video_versions.videoId')
    .where('videos.userId', userId);
  const extras = await StoredObject.query(db)
    .select('sha256', 'sizeBytes')
    .whereIn('sha256', extrasOf(db, userId, 'reportSha256'))
    .orWhereIn('sha256', extrasOf(db, userId, 'captionsSha256'))
    .orWhereIn('sha256', extrasOf(db, userId, 'posterSha256'))
    .orWhereIn('sha256', previewsOf(db, userId));
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

/** Bytes that the account occupies, by kind. */
export async function measureStorage(db: Knex, userId: string): Promise<StorageUse> {
  const objects = await heldObjects(db, userId);
  const bytesOf = (list: HeldObject['list']) =>
    objects.reduce((sum, object) => (object.list === list ? sum + object.sizeBytes : sum), 0);
  const uploads = await Upload.query(db)
    .select('offsetBytes')
    .where('userId', userId)
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

function extrasOf(db: Knex, userId: string, column: 'reportSha256' | 'captionsSha256' | 'posterSha256') {
  return VideoVersion.query(db)
    .select(`video_versions.${column}`)
    .join('videos', 'videos.id', 'video_versions.videoId')
    .where('videos.userId', userId)
    .whereNotNull(`video_versions.${column}`);
}

function previewsOf(db: Knex, userId: string) {
  return VersionPreview.query(db)
    .select('version_previews.sha256')
    .join('video_versions', 'video_versions.id', 'version_previews.versionId')
    .join('videos', 'videos.id', 'video_versions.videoId')
    .where('videos.userId', userId)
    .whereNotNull('version_previews.sha256');
}
