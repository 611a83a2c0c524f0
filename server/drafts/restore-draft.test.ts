import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { draftsApi } from '#common/api/drafts.ts';
import { videosApi } from '#common/api/videos.ts';
import { newId } from '#db/base-model.ts';
import { StoredObject } from '#db/models/stored-object.ts';
import { VideoVersion } from '#db/models/video-version.ts';
import { Video } from '#db/models/video.ts';
import { recordObject } from '#server/videos/create-video.ts';
import { startTestApp, type TestApp } from '#server/test/test-app.ts';
import { uploadBytes } from '#server/test/upload-bytes.ts';

describe('restoring an original', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startTestApp({ engine: 'sqlite' });
  });
  afterAll(async () => app.stop());

  it('that changed on the disk is refused with a sentence while there is a repaired version, and repairs what is left when the video was deleted', async () => {
    const { client } = await app.signIn();
    const videoId = await uploadBytes(client, new TextEncoder().encode('a clip that a disk changes'));
    const mended = await app.storage.putBuffer(Buffer.from('mended'));
    const currentVersionId = newId();
    await app.db.transaction(async (trx) => {
      await recordObject(trx, mended, app.now());
      await VideoVersion.query(trx).insert({
        id: currentVersionId,
        videoId,
        kind: 'repair',
        ...mended,
        createdAt: 1,
      });
      await Video.query(trx).patch({ status: 'completed', currentVersionId }).findById(videoId);
    });
    const [draft] = (await client.call(draftsApi.list)).body ?? [];
    await StoredObject.query(app.db)
      .patch({ damaged: true })
      .findById(draft?.sha256 ?? '');
    const restore = () => client.call(draftsApi.restore, { params: { id: draft?.id ?? '' } });
    const refused = await restore();
    expect([refused.status, refused.raw]).toMatchObject([
      409,
      { code: 'conflict', message: expect.stringMatching(/changed on the server’s disk/) },
    ]);
    expect((await Video.query(app.db).findById(videoId))?.currentVersionId).toBe(currentVersionId);
    await client.call(videosApi.remove, { params: { id: videoId } });
    expect((await restore()).status).toBe(200);
    expect((await Video.query(app.db).findById(videoId))?.status).toBe('processing');
  });

  it('is refused for a clip that could not be mended, whose backup says so', async () => {
    const { client } = await app.signIn();
    const videoId = await uploadBytes(client, new TextEncoder().encode('no clip at all'));
    await Video.query(app.db).patch({ status: 'failed' }).findById(videoId);
    const drafts = async () => (await client.call(draftsApi.list)).body ?? [];
    const [draft] = await drafts();
    expect(draft).toMatchObject({ videoExists: true, videoStatus: 'failed' });
    const params = { id: draft?.id ?? '' };
    expect((await client.call(draftsApi.restore, { params })).raw).toMatchObject({
      message: expect.stringMatching(/^This video could not be processed/),
    });
    await client.call(videosApi.remove, { params: { id: videoId } });
    expect(await drafts()).toMatchObject([{ videoExists: false, videoStatus: null }]);
  });

  it('that was no video says why, also after its video was deleted, until it is back and better', async () => {
    const { client } = await app.signIn();
    const videoId = await uploadBytes(client, new TextEncoder().encode('a letter'));
    const why = { errorCode: 'not_a_video', errorMessage: 'This is not a video file.' };
    const nothing = { errorCode: null, errorMessage: null };
    const drafts = async () => (await client.call(draftsApi.list)).body ?? [];
    const remove = () => client.call(videosApi.remove, { params: { id: videoId } });
    await Video.query(app.db)
      .patch({ status: 'failed', ...why })
      .findById(videoId);
    expect(await drafts()).toMatchObject([why]);
    await remove();
    const [draft] = await drafts();
    expect(draft).toMatchObject({ videoExists: false, ...why });
    await client.call(draftsApi.restore, { params: { id: draft?.id ?? '' } });
    expect(await drafts()).toMatchObject([{ videoStatus: 'processing', ...nothing }]);
    await Video.query(app.db).patch({ status: 'completed' }).findById(videoId);
    await remove();
    expect(await drafts()).toMatchObject([{ videoExists: false, ...nothing }]);
  });
});
