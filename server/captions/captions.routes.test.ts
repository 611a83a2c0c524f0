import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildPath } from '#common/api/build-path.ts';
import { accountApi } from '#common/api/account.ts';
import {
  burnedCaptionsPath,
  captionsApi,
  captionsConflict,
  sharedCaptionsPath,
  subRipPath,
} from '#common/api/captions.ts';
import { draftsApi } from '#common/api/drafts.ts';
import { quickFixesApi } from '#common/api/quick-fixes.ts';
import { mediaPaths, videosApi } from '#common/api/videos.ts';
import type { VideoCue } from '#common/captions.ts';
import { newId } from '#db/base-model.ts';
import { CaptionBurn } from '#db/models/caption-burn.ts';
import { HeardWords } from '#db/models/heard-words.ts';
import { Job } from '#db/models/job.ts';
import { StoredObject } from '#db/models/stored-object.ts';
import { User } from '#db/models/user.ts';
import { VideoCaptions } from '#db/models/video-captions.ts';
import { VideoVersion } from '#db/models/video-version.ts';
import { Video } from '#db/models/video.ts';
import { replaceVersion } from '#server/videos/replace-version.ts';
import { recordObject } from '#server/videos/create-video.ts';
import { createUser } from '#server/test/factories.ts';
import type { RepairReport } from '#common/report.ts';
import { fakeReport } from '#server/test/fake-report.ts';
import { insertFinishedVideo } from '#server/test/finished-video.ts';
import { startTestApp, type TestApp } from '#server/test/test-app.ts';
import { ENGINES, hasEngine } from '#server/test/test-database.ts';

const cue = (startMs: number, endMs: number, text: string | null, source: VideoCue['source'] = 'manual') => ({
  startMs,
  endMs,
  text,
  source,
  confidence: null,
});
const TIMED = [cue(500, 2500, null, 'timing_only'), cue(3000.4, 5000, null, 'timing_only')].map((one) => ({
  ...one,
  source: 'timing_only' as const,
}));

for (const engine of ENGINES) {
  describe.skipIf(!hasEngine(engine))(`captions of a video on ${engine}`, () => {
    let app: TestApp;
    beforeAll(async () => {
      app = await startTestApp({ engine });
    });
    afterAll(async () => app.stop());

    /** A repaired video in which somebody speaks twice. */
    async function finished(change: Partial<RepairReport> = {}) {
      const { client, user } = await app.signIn(await createUser(app.db));
      const put = (text: string) => app.storage.putBuffer(Buffer.from(`${text} ${newId()}`));
      const report = Buffer.from(
        JSON.stringify({ ...fakeReport({ captions: TIMED, ...change }), notes: [newId()] }),
      );
      const files = {
        original: await put('original'),
        result: await put('result'),
        report: await app.storage.putBuffer(report),
      };
      const { videoId } = await app.db.transaction((trx) =>
        insertFinishedVideo(trx, { userId: user.id, ...files, at: app.now() }),
      );
      const params = { id: videoId };
      return {
        client,
        params,
        user,
        read: async () => (await client.call(captionsApi.read, { params })).body,
        save: (revision: number, cues: VideoCue[]) =>
          client.call(captionsApi.save, { params, body: { revision, cues } }),
        file: async (template: string) => client.fetch(buildPath(template, params)),
      };
    }

    it('start with the times from the repair, without words', async () => {
      const one = await finished();
      expect(await one.read()).toEqual({
        revision: 0,
        updatedAt: null,
        cues: [cue(500, 2500, null, 'timing_only'), cue(3000, 5000, null, 'timing_only')],
        axis: 'mended',
        soundMovedMs: 0,
        speech: TIMED.map(({ startMs, endMs }) => ({ startMs, endMs })),
        hasSound: true,
      });
      const srt = await one.file(subRipPath);
      expect(srt.headers.get('content-type')).toBe('application/x-subrip; charset=utf-8');
      expect(await srt.text()).toContain('00:00:00,500 --> 00:00:02,500\n[speech]\n');
    });

    describe('of a clip whose sound came 400 ms late', () => {
      const late = () => finished({ soundMove: { shiftMs: -400, startMs: 0, stretch: 1 } });
      const toOriginal = async ({ params, client }: Awaited<ReturnType<typeof finished>>) => {
        const back = { ...params, versionId: 'original' };
        expect((await client.call(quickFixesApi.restore, { params: back })).status).toBe(200);
      };
      const times = (cues: readonly { startMs: number; endMs: number }[] | undefined) =>
        cues?.map(({ startMs, endMs }) => [startMs, endMs]);

      it('move with the version that is played, for every reader, and back', async () => {
        const one = await late();
        expect(times((await one.read())?.cues)).toEqual([
          [500, 2500],
          [3000, 5000],
        ]);
        await toOriginal(one);
        const page = await one.read();
        expect(page).toMatchObject({ axis: 'original' });
        expect(times(page?.cues)).toEqual([
          [900, 2900],
          [3400, 5400],
        ]);
        expect(times(page?.speech)).toEqual([
          [900, 2900],
          [3400, 5400],
        ]);
        expect(await (await one.file(mediaPaths.captions)).text()).toContain('00:00:00.900 --> 00:00:02.900');
        expect(await (await one.file(subRipPath)).text()).toContain('00:00:03,400 --> 00:00:05,400');
      });

      it('convert what was saved on one time axis to the other', async () => {
        const one = await late();
        await one.save(0, [cue(500, 2500, 'Hello')]);
        await toOriginal(one);
        expect(await one.read()).toMatchObject({
          revision: 1,
          axis: 'original',
          cues: [cue(900, 2900, 'Hello')],
        });
        // Times saved without an axis belong to the current version.
        expect((await one.save(1, [cue(1000, 2000, 'Hello')])).status).toBe(200);
        expect(await one.read()).toMatchObject({ revision: 2, cues: [cue(1000, 2000, 'Hello')] });
        // An editor that was opened before the return to the original.
        const body = { revision: 2, cues: [cue(600, 1600, 'Hello you')], axis: 'mended' as const };
        const { params } = one;
        expect((await one.client.call(captionsApi.save, { params, body })).status).toBe(200);
        expect(await one.read()).toMatchObject({ revision: 3, cues: [cue(1000, 2000, 'Hello you')] });
        await one.client.call(videosApi.share, { params, body: { shared: true } });
        const shared = await (await one.file(sharedCaptionsPath)).text();
        expect(shared).toContain('00:00:01.000 --> 00:00:02.000\nHello you');
      });

      it('follow a sound that was moved by hand, and stay with the words in the version without that', async () => {
        const one = await late();
        await one.save(0, [cue(500, 2500, 'Hello')]);
        const { currentVersionId } = (await Video.query(app.db).findById(one.params.id)) ?? {};
        const move = (soundMovedMs: number | null) =>
          VideoVersion.query(app.db)
            .patch({ soundMovedMs })
            .where({ id: currentVersionId ?? '' });
        await move(-120);
        expect(await one.read()).toMatchObject({ soundMovedMs: -120, cues: [cue(380, 2380, 'Hello')] });
        expect(await (await one.file(mediaPaths.captions)).text()).toContain('00:00:00.380 --> 00:00:02.380');
        const saved = await one.save(1, [cue(400, 2400, 'Hello')]);
        expect(saved.status).toBe(200);
        expect((await one.save(1, [cue(400, 2400, 'Hello')])).body).toEqual(saved.body);
        await move(null);
        expect(await one.read()).toMatchObject({ soundMovedMs: 0, cues: [cue(520, 2520, 'Hello')] });
        // An editor that was opened while the sound was moved.
        const body = {
          revision: 2,
          cues: [cue(390, 2390, 'Hello')],
          axis: 'mended' as const,
          soundMovedMs: -120,
        };
        expect((await one.client.call(captionsApi.save, { params: one.params, body })).status).toBe(200);
        expect(await one.read()).toMatchObject({ revision: 3, cues: [cue(510, 2510, 'Hello')] });
      });

      it('drop a cue before the start of the original, and shorten one that crosses it', async () => {
        const one = await finished({ soundMove: { shiftMs: 400, startMs: 0, stretch: 1 } });
        await one.save(0, [cue(0, 300, 'Before'), cue(300, 1000, 'Hello')]);
        await toOriginal(one);
        expect(times((await one.read())?.cues)).toEqual([[0, 600]]);
      });
    });

    it('keep words, and provide them as both files', async () => {
      const one = await finished();
      const words = [cue(500, 2500, 'Salt & pepper'), cue(2500, 4000, null, 'timing_only')];
      const saved = await one.save(0, words);
      expect([saved.status, saved.body]).toMatchObject([200, { revision: 1 }]);
      expect(await one.read()).toMatchObject({ revision: 1, cues: words, updatedAt: saved.body?.updatedAt });
      const vtt = await one.file(mediaPaths.captions);
      expect(vtt.headers.get('content-type')).toBe('text/vtt; charset=utf-8');
      expect(await vtt.text()).toContain('1\n00:00:00.500 --> 00:00:02.500\nSalt &amp; pepper\n\n2\n');
      expect(await (await one.file(subRipPath)).text()).toContain('Salt & pepper\n\n2\n');
    });

    it('stay with the backup of a deleted video, and come back with it', async () => {
      const one = await finished();
      const backup = await one.client.call(draftsApi.create, {
        body: { videoId: one.params.id, fileName: 'clip.mp4' },
      });
      const words = [cue(500, 2500, 'Hello'), cue(2500, 4000, null, 'timing_only')];
      await one.save(0, words);
      await one.save(1, [...words, cue(5000, 6000, 'Bye')]);
      expect((await one.client.call(videosApi.remove, { params: one.params })).status).toBe(200);
      expect(await VideoCaptions.query(app.db).findById(one.params.id)).toBeUndefined();
      const params = { id: backup.body?.id ?? '' };
      expect((await one.client.call(draftsApi.restore, { params })).status).toBe(200);
      expect(await VideoCaptions.query(app.db).findById(one.params.id)).toMatchObject({
        cues: [...words, cue(5000, 6000, 'Bye')],
        revision: 2,
        axis: 'mended',
      });
      expect((await one.client.call(videosApi.read, { params: one.params })).body?.hasCaptions).toBe(true);
    });

    it('mark a video as having captions or none, for lists and players', async () => {
      const one = await finished();
      const has = async () => (await one.client.call(videosApi.read, { params: one.params })).body;
      const before = await has();
      expect(before?.hasCaptions).toBe(false);
      await one.save(0, [cue(0, 1000, 'Hi')]);
      const after = await has();
      expect(after?.hasCaptions).toBe(true);
      expect(after?.version).toBeGreaterThan(before?.version ?? 0);
      await one.save(1, []);
      expect((await has())?.hasCaptions).toBe(false);
      expect((await one.file(mediaPaths.captions)).status).toBe(404);
      expect((await one.file(subRipPath)).status).toBe(404);
    });

    it('are shown to strangers with the shared video, but only cues with words', async () => {
      const one = await finished();
      const stranger = app.client();
      const seen = async () => (await stranger.call(videosApi.sharedVideo, { params: one.params })).body;
      const file = async () => stranger.fetch(buildPath(sharedCaptionsPath, one.params));
      await one.save(0, [cue(500, 2500, null, 'timing_only'), cue(3000, 4000, 'Hello')]);
      expect((await file()).status).toBe(404);
      await one.client.call(videosApi.share, { params: one.params, body: { shared: true } });
      expect((await seen())?.hasCaptions).toBe(true);
      const words = await (await file()).text();
      expect(words).toContain('Hello');
      expect(words).not.toContain('[speech]');
      await one.save(1, [cue(500, 2500, null, 'timing_only')]);
      expect((await seen())?.hasCaptions).toBe(false);
      expect((await file()).status).toBe(404);
    });

    it('are announced to all windows of their owner when saved, once per change', async () => {
      const one = await finished();
      const told: string[] = [];
      const stop = app.events.on('captions.saved', ({ videoId }) => void told.push(videoId));
      const words = [cue(500, 2500, 'hello')];
      await one.save(0, words);
      await one.save(1, words);
      await one.save(1, [cue(500, 2500, 'hello again')]);
      await one.save(0, []);
      stop();
      expect(told).toEqual([one.params.id, one.params.id]);
    });

    it('of two windows never overwrite each other: the later save is refused and gets the newer cues', async () => {
      const one = await finished();
      const answers = await Promise.all([
        one.save(0, [cue(0, 1000, 'first')]),
        one.save(0, [cue(0, 1000, 'second')]),
      ]);
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
      const kept = await one.read();
      expect(kept?.revision).toBe(1);
      const late = await one.save(0, [cue(0, 1000, 'third')]);
      expect(late.status).toBe(409);
      const { newer } = captionsConflict.parse(late.raw);
      expect(newer).toMatchObject({ revision: 1, cues: kept?.cues });
      // A revision that never existed does not get round the check.
      expect((await one.save(7, [])).status).toBe(409);
    });

    it('can be saved again when the answer was lost', async () => {
      const one = await finished();
      const cues = [cue(0, 1000, 'said once')];
      await one.save(0, cues);
      const again = await one.save(0, cues);
      expect([again.status, again.body?.revision]).toEqual([200, 1]);
    });

    it('are refused, naming the cue, when they overlap or are too many', async () => {
      const one = await finished();
      const over = await one.save(0, [cue(0, 1000, 'a'), cue(900, 2000, 'b')]);
      expect([over.status, over.raw]).toMatchObject([
        400,
        { message: 'Caption 2 begins before caption 1 ends.' },
      ]);
      const many = Array.from({ length: 2001 }, (_, i) => cue(i * 100, i * 100 + 100, 'x'));
      expect((await one.save(0, many)).status).toBe(400);
      expect((await one.read())?.revision).toBe(0);
      const full = many.slice(1).map((short) => ({ ...short, text: 'ж'.repeat(500) }));
      expect((await one.save(0, full)).status).toBe(200);
    });

    it('stay with the video through versions and another repair, and are deleted with it', async () => {
      const one = await finished();
      const words = [cue(500, 2500, 'kept')];
      await one.save(0, words);
      await one.client.call(quickFixesApi.restore, { params: { ...one.params, versionId: 'original' } });
      expect((await one.read())?.cues).toEqual(words);
      expect(await (await one.file(mediaPaths.captions)).text()).toContain('kept');
      // Another repair brings a version with a newer report: its times are used and the words stay.
      const report = await app.storage.putBuffer(
        Buffer.from(JSON.stringify(fakeReport({ captions: TIMED.slice(1) }))),
      );
      await app.db.transaction(async (trx) => recordObject(trx, report, app.now()));
      await VideoVersion.query(app.db)
        .patch({ reportSha256: report.sha256 })
        .where({ videoId: one.params.id, kind: 'repair' });
      expect(await one.read()).toMatchObject({ cues: words, speech: [{ endMs: 5000 }] });
      await one.client.call(videosApi.remove, { params: one.params });
      expect(await VideoCaptions.query(app.db).findById(one.params.id)).toBeUndefined();
    });

    it('are what a speech engine heard, until people save; without an engine it cannot be requested', async () => {
      const one = await finished();
      const { client, params } = one;
      const none = await client.call(captionsApi.hear, { params });
      expect([none.status, none.raw]).toMatchObject([
        501,
        { message: expect.stringMatching(/no speech recognition/) },
      ]);
      expect((await client.call(captionsApi.heard, { params })).body).toMatchObject({
        engine: false,
        state: 'none',
      });
      const heard = { ...cue(600, 2400, 'heard words', 'speech_model'), confidence: 0.7 };
      await HeardWords.query(app.db).insert({
        videoId: params.id,
        jobId: 'j',
        state: 'done',
        progress: 100,
        cues: [heard],
        createdAt: 1,
        updatedAt: 1,
      });
      expect((await one.read())?.cues).toEqual([heard]);
      expect(await (await one.file(mediaPaths.captions)).text()).toContain('heard words');
      await one.save(0, [cue(600, 2400, 'put right')]);
      expect((await one.read())?.cues).toMatchObject([{ text: 'put right', source: 'manual' }]);
      expect(await (await one.file(mediaPaths.captions)).text()).toContain('put right');
      const { client: stranger } = await app.signIn();
      expect((await stranger.call(captionsApi.heard, { params })).status).toBe(404);
      expect((await stranger.call(captionsApi.hear, { params })).status).toBe(404);
    });

    describe('drawn into the picture', () => {
      const burn = async (
        one: Awaited<ReturnType<typeof finished>>,
        style: 'box' | 'outline' | 'words' = 'box',
      ) => one.client.call(captionsApi.burn, { params: one.params, body: { style } });
      const upgrade = (one: Awaited<ReturnType<typeof finished>>) =>
        User.query(app.db).patch({ plan: 'creator-pro' }).where({ id: one.user.id });

      it('need the plan, which is checked after the owner, and words', async () => {
        const one = await finished();
        const refused = await burn(one);
        expect([refused.status, refused.raw]).toMatchObject([
          403,
          { message: 'Smart captions are part of Creator Pro.' },
        ]);
        const { client } = await app.signIn();
        const stranger = await client.call(captionsApi.burn, { params: one.params, body: { style: 'box' } });
        expect(stranger.status).toBe(404);
        await upgrade(one);
        const wordless = await burn(one);
        expect([wordless.status, wordless.raw]).toMatchObject([
          400,
          { message: expect.stringMatching(/^No caption has words yet/) },
        ]);
      });

      it('are refused, naming the cue and the character that the font lacks', async () => {
        const one = await finished();
        await upgrade(one);
        await one.save(0, [cue(0, 1000, 'fine'), cue(1000, 2000, 'so good 😀')]);
        const answer = await burn(one);
        expect([answer.status, answer.raw]).toMatchObject([
          400,
          {
            message:
              'Caption 2 has the character “😀” (U+1F600), which the caption font cannot draw. Remove it or write it another way.',
          },
        ]);
        expect(await Job.query(app.db).where({ type: 'burn-captions', videoId: one.params.id })).toEqual([]);
      });

      it('are one job however often the same is requested, with the words as they were; other requests wait', async () => {
        const one = await finished();
        await upgrade(one);
        await one.save(0, [cue(0, 1000, 'first'), cue(1000, 2000, null)]);
        const answers = await Promise.all(Array.from({ length: 6 }, () => burn(one)));
        expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 200));
        expect(answers[0]?.body?.run).toEqual({ style: 'box', state: 'waiting', progress: 0, message: null });
        expect(await Job.query(app.db).where({ type: 'burn-captions', videoId: one.params.id })).toHaveLength(
          1,
        );
        expect((await burn(one, 'words')).status).toBe(409);
        const row = await CaptionBurn.query(app.db).findById(one.params.id);
        expect(row?.cues.map(({ text }) => text)).toEqual(['first']);
      });

      it('can be cancelled: the job ends, an earlier file stays, and another can be requested', async () => {
        const one = await finished();
        await upgrade(one);
        await one.save(0, [cue(0, 1000, 'first')]);
        const cancel = async () =>
          (await one.client.call(captionsApi.cancelBurn, { params: one.params })).body;
        expect((await cancel())?.run).toBeNull();
        await burn(one);
        const [waiting] = await Job.query(app.db).where({ type: 'burn-captions', videoId: one.params.id });
        const ended: string[] = [];
        const stop = app.events.on('job.cancelled', ({ jobId }) => ended.push(jobId));
        const { client: stranger } = await app.signIn();
        expect((await stranger.call(captionsApi.cancelBurn, { params: one.params })).status).toBe(404);
        expect((await cancel())?.run).toEqual({
          style: 'box',
          state: 'cancelled',
          progress: 0,
          message: null,
        });
        await cancel();
        stop();
        expect(ended).toEqual([waiting?.id]);
        expect((await Job.query(app.db).findById(waiting?.id ?? ''))?.state).toBe('cancelled');
        expect((await burn(one, 'words')).body?.run).toMatchObject({ style: 'words', state: 'waiting' });
      });

      it('make a file that is listed, downloaded, counted and deleted, on any plan, and is deleted with the video', async () => {
        const one = await finished();
        await one.save(0, [cue(0, 1000, 'first')]);
        const version = await VideoVersion.query(app.db).findOne({ videoId: one.params.id });
        const add = async () => {
          const stored = await app.storage.putBuffer(Buffer.from(`captioned ${newId()}`));
          await app.db.transaction(async (trx) => {
            await recordObject(trx, stored, app.now());
            const about = { captionStyle: 'box', captionsRevision: 1, createdAt: app.now() } as const;
            const sourceSha256 = version?.sha256 ?? null;
            const mine = { videoId: one.params.id, kind: 'captioned' } as const;
            await replaceVersion(trx, mine, stored, { sourceSha256, ...about });
          });
          return stored;
        };
        const stored = await add();
        const read = async () => (await one.client.call(captionsApi.burned, { params: one.params })).body;
        expect((await read())?.file).toMatchObject({
          style: 'box',
          sizeBytes: stored.sizeBytes,
          ofCurrent: true,
          ofWords: true,
        });
        await one.save(1, [cue(0, 1000, 'second')]);
        expect((await read())?.file).toMatchObject({ ofWords: false });
        const listed = await one.client.call(quickFixesApi.read, { params: one.params });
        expect(listed.body?.versions.map(({ kind }) => kind)).toEqual(['original', 'repair']);
        const use = (await one.client.call(accountApi.storage)).body;
        expect(use?.exportsBytes).toBe(stored.sizeBytes);
        const file = await one.file(burnedCaptionsPath);
        expect(file.headers.get('content-disposition')).toContain(`video-${one.params.id}-captions.mp4`);
        expect((await file.arrayBuffer()).byteLength).toBe(stored.sizeBytes);
        const { client: stranger } = await app.signIn();
        expect((await stranger.fetch(buildPath(burnedCaptionsPath, one.params))).status).toBe(404);
        expect((await stranger.call(captionsApi.removeBurned, { params: one.params })).status).toBe(404);
        expect((await one.client.call(captionsApi.removeBurned, { params: one.params })).status).toBe(200);
        expect((await one.client.call(captionsApi.removeBurned, { params: one.params })).status).toBe(404);
        expect((await one.file(burnedCaptionsPath)).status).toBe(404);
        expect((await read())?.file).toBeNull();
        const again = await add();
        await one.client.call(videosApi.remove, { params: one.params });
        expect(await StoredObject.query(app.db).findById(again.sha256)).toBeUndefined();
      });
    });

    it('are not accessible to others, and wait for the repair', async () => {
      const one = await finished();
      const { client: stranger } = await app.signIn();
      const { params } = one;
      expect((await stranger.call(captionsApi.read, { params })).status).toBe(404);
      const body = { revision: 0, cues: [] };
      expect((await stranger.call(captionsApi.save, { params, body })).status).toBe(404);
      expect((await stranger.fetch(buildPath(subRipPath, params))).status).toBe(404);
      expect((await app.client().call(captionsApi.save, { params, body })).status).toBe(401);
      await Video.query(app.db).patch({ status: 'processing' }).where({ id: params.id });
      expect((await one.save(0, [])).status).toBe(409);
    });
  });
}

describe('a server with a speech engine', () => {
  it('listens by itself to what was repaired, once, until that is cancelled', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'reelmend-engine-'));
    const [cli, model] = [path.join(folder, 'whisper-cli'), path.join(folder, 'model.bin')];
    await writeFile(cli, '');
    await writeFile(model, '');
    const tools = { ffmpeg: 'ffmpeg', ffprobe: 'ffprobe', whisper: cli };
    const env = { WHISPER_CLI: cli, WHISPER_MODEL: model };
    const app = await startTestApp({ engine: 'sqlite', env, tools });
    try {
      const { client, user } = await app.signIn();
      const put = (text: string) => app.storage.putBuffer(Buffer.from(text));
      const report = await put(JSON.stringify(fakeReport()));
      const files = { original: await put('o'), result: await put('r'), report };
      const { videoId } = await app.db.transaction((trx) =>
        insertFinishedVideo(trx, { userId: user.id, ...files, at: app.now() }),
      );
      app.events.emit('video.completed', { userId: user.id, videoId });
      const params = { id: videoId };
      const heard = async () => (await client.call(captionsApi.heard, { params })).body;
      await expect.poll(async () => (await heard())?.state).toBe('waiting');
      await client.call(captionsApi.hear, { params });
      const jobs = () => Job.query(app.db).where({ type: 'hear-words', videoId }).orderBy('createdAt');
      expect(await jobs()).toHaveLength(1);
      const cancel = () => client.call(captionsApi.cancelHearing, { params });
      const { client: stranger } = await app.signIn();
      expect((await stranger.call(captionsApi.cancelHearing, { params })).status).toBe(404);
      expect((await cancel()).body).toMatchObject({ state: 'cancelled', message: null });
      expect((await cancel()).body?.state).toBe('cancelled');
      expect((await jobs()).map(({ state }) => state)).toEqual(['cancelled']);
      expect((await client.call(captionsApi.hear, { params })).body?.state).toBe('waiting');
      expect((await jobs()).map(({ state }) => state)).toEqual(['cancelled', 'queued']);
    } finally {
      await app.stop();
      await rm(folder, { recursive: true });
    }
  });
});
