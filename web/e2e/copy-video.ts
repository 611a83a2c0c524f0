import path from 'node:path';
import type { APIRequestContext } from 'playwright/test';
import { authApi } from '#common/api/auth.ts';
import { newId } from '#db/base-model.ts';
import { connectDatabase } from '#db/connection.ts';
import type { ServerProcess } from './server-process.ts';

const MINUTE_MS = 60_000;
/** SQLite takes at most 500 rows in one compound insert. */
const BATCH = 200;

/**
 * Fills a library: writes copies of a finished video beside it in the database of a running server, each a
 * minute older than the one before, with the same stored files. `change` says what differs, by column.
 * @returns the ids of the copies, newest first
 */
export async function copyVideo(
  dataDir: string,
  videoId: string,
  count: number,
  change: (index: number) => Readonly<Record<string, unknown>> = () => ({}),
): Promise<string[]> {
  const db = connectDatabase({ databaseUrl: null, sqlitePath: path.join(dataDir, 'reelmend.sqlite') });
  try {
    const video: Record<string, unknown> | undefined = await db('videos').where({ id: videoId }).first();
    const version: Record<string, unknown> | undefined = await db('video_versions')
      .where({ videoId })
      .first();
    if (!video || !version) throw new Error('The video to copy is missing.');
    const ids: string[] = [];
    const videos: object[] = [];
    const versions: object[] = [];
    for (let index = 0; index < count; index += 1) {
      const [id, versionId] = [newId(), newId()];
      const createdAt = Number(video['createdAt']) - (index + 1) * MINUTE_MS;
      ids.push(id);
      versions.push({ ...version, id: versionId, videoId: id, createdAt });
      videos.push({
        ...video,
        id,
        uploadId: null,
        currentVersionId: versionId,
        originalFileName: `Street interview, take ${count - index}.mp4`,
        createdAt,
        updatedAt: createdAt,
        ...change(index),
      });
    }
    await db.batchInsert('videos', videos, BATCH);
    await db.batchInsert('video_versions', versions, BATCH);
    return ids;
  } finally {
    await db.destroy();
  }
}

/**
 * Gives the signed-in account a finished video of another one, as its own, where a test is not about the repair.
 * @returns the id of the copy
 */
export async function giveVideo(
  request: APIRequestContext,
  server: ServerProcess,
  videoId: string,
): Promise<string> {
  const { user } = authApi.currentUser.response.parse(
    await (await request.get(authApi.currentUser.path)).json(),
  );
  const [id] = await copyVideo(server.dataDir, videoId, 1, () => ({ userId: user.id }));
  if (!id) throw new Error('Nothing was copied.');
  return id;
}
