import { createHash } from 'node:crypto';
import path from 'node:path';
import type { Knex } from 'knex';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '#db/base-model.ts';
import { connectDatabase } from '#db/connection.ts';
import { Draft } from '#db/models/draft.ts';
import { Idea, IdeaVote } from '#db/models/idea.ts';
import { Job } from '#db/models/job.ts';
import { Session } from '#db/models/session.ts';
import { StoredObject } from '#db/models/stored-object.ts';
import { User } from '#db/models/user.ts';
import { VideoCaptions } from '#db/models/video-captions.ts';
import { VideoVersion } from '#db/models/video-version.ts';
import { Video } from '#db/models/video.ts';
import { createEventBus } from '#server/events.ts';
import { createObjectGc } from '#server/maintenance/object-gc.ts';
import { createDiskStorage } from '#server/pipeline/storage/disk-storage.ts';
import type { MediaStorage } from '#server/pipeline/storage/media-storage.ts';
import { createTestDatabase, type TestDatabase } from '#server/test/test-database.ts';
import { createAccountService, type AccountService } from './account.service.ts';
import { safeName } from './export-account.ts';
import { tarArchive, tarSizeBytes } from './tar-archive.ts';

const START = Date.UTC(2026, 0, 10);

describe('account service', () => {
  let db: Knex;
  let database: TestDatabase;
  let storage: MediaStorage;
  let account: AccountService;
  let stopped: string[];
  let ended: string[];

  beforeEach(async () => {
    database = await createTestDatabase('sqlite');
    db = connectDatabase({ databaseUrl: null, sqlitePath: path.join(database.dataDir, 'reelmend.sqlite') });
    storage = createDiskStorage(path.join(database.dataDir, 'objects'));
    stopped = [];
    ended = [];
    const events = createEventBus();
    events.on('session.ended', ({ sessionHash }) => ended.push(sessionHash));
    account = createAccountService({
      db,
      storage,
      events,
      now: () => Date.now(),
      verifyPassword: async (hash, password) => hash === `hash of ${password}`,
      stopWork: async (jobIds, videoIds) => void stopped.push(...jobIds, ...videoIds),
      removeUploadFiles: async () => undefined,
      // Three minutes later, because an object that was stored just now may still belong to a commit.
      collect: createObjectGc({ db, storage, now: () => Date.now() + 180_000 }).collect,
    });
  });

  afterEach(async () => {
    await db.destroy();
    await database.remove();
  });

  async function person(name: string): Promise<string> {
    const id = newId();
    const email = `${name}@example.test`;
    await User.query(db).insert({
      id,
      username: name,
      usernameLower: name,
      email,
      emailLower: email,
      passwordHash: 'hash of Secret1234',
      plan: 'starter',
      reputation: 0,
      createdAt: START,
      updatedAt: START,
    });
    return id;
  }

  async function stored(content: string): Promise<StoredObject> {
    const { sha256, sizeBytes } = await storage.putBuffer(Buffer.from(content));
    return StoredObject.query(db).insertAndFetch({ sha256, sizeBytes, createdAt: START, checkedAt: START });
  }

  async function video(userId: string, original: StoredObject, fileName: string): Promise<Video> {
    return Video.query(db).insertAndFetch({
      id: newId(),
      userId,
      originalFileName: fileName,
      fileSize: original.sizeBytes,
      originalSha256: original.sha256,
      status: 'completed',
      fixesApplied: {},
      steps: [],
      createdAt: START,
      updatedAt: START,
    });
  }

  async function version(of: Video, kind: VideoVersion['kind'], object: StoredObject, extras = {}) {
    const row = await VideoVersion.query(db).insertAndFetch({
      id: newId(),
      videoId: of.id,
      kind,
      sha256: object.sha256,
      sizeBytes: object.sizeBytes,
      createdAt: START,
      ...extras,
    });
    await of.$query(db).patch({ currentVersionId: row.id });
    return row;
  }

  async function draft(of: Video): Promise<void> {
    await Draft.query(db).insert({
      id: newId(),
      userId: of.userId,
      videoId: of.id,
      fileName: of.originalFileName,
      sha256: of.originalSha256,
      sizeBytes: of.fileSize,
      lastModified: START,
      expiresAt: START,
      createdAt: START,
    });
  }

  async function idea(userId: string, voters: readonly string[]): Promise<string> {
    const id = newId();
    const row = { id, userId, text: 'Mend faster', userName: 'x', votes: voters.length };
    await Idea.query(db).insert({ ...row, createdAt: START, updatedAt: START });
    for (const voter of voters)
      await IdeaVote.query(db).insert({ ideaId: id, userId: voter, createdAt: START });
    return id;
  }

  it('counts the same content once, as an original before anything else', async () => {
    const ann = await person('ann');
    const original = await stored('original bytes');
    const first = await video(ann, original, 'a.mp4');
    const second = await video(ann, original, 'b.mp4');
    await draft(first);
    await version(first, 'original', original);
    const report = await stored('{"report":1}');
    await version(second, 'repair', await stored('mended'), { reportSha256: report.sha256 });
    expect(await account.storage(ann)).toEqual({
      originalsBytes: 14,
      versionsBytes: 6,
      exportsBytes: 0,
      extrasBytes: 12,
      uploadsBytes: 0,
      totalBytes: 32,
    });
  });

  it('puts rows, originals and reports into the archive, but no secrets', async () => {
    const ann = await person('ann');
    const original = await stored('original bytes');
    const clip = await video(ann, original, 'Ferien/Tag 1.mp4');
    const report = await stored('{"report":1}');
    const timed = await stored('WEBVTT timed by the repair');
    await version(clip, 'repair', await stored('mended'), {
      reportSha256: report.sha256,
      captionsSha256: timed.sha256,
    });
    const words = {
      startMs: 0,
      endMs: 900,
      text: 'typed words',
      source: 'manual',
      confidence: null,
    } as const;
    const kept = { videoId: clip.id, cues: [words], revision: 1, createdAt: START, updatedAt: START };
    await VideoCaptions.query(db).insert(kept);
    const files = await account.exportFiles(ann);
    const archive: Uint8Array[] = [];
    for await (const chunk of tarArchive(files)) archive.push(chunk);
    const text = Buffer.concat(archive).toString('utf8');
    expect(Buffer.byteLength(text)).toBe(tarSizeBytes(files));
    expect(files.map((file) => file.path)).toEqual(
      expect.arrayContaining([
        'data/account.json',
        'data/videos.json',
        `originals/${clip.id.slice(0, 8)}-Ferien_Tag 1.mp4`,
        `reports/${clip.id}.json`,
        'data/captions.json',
        `captions/${clip.id}.vtt`,
      ]),
    );
    expect(text).toContain('original bytes');
    expect(text).toContain('00:00:00.000 --> 00:00:00.900\ntyped words');
    expect(text).not.toContain('timed by the repair');
    expect(text).toContain(createHash('sha256').update('original bytes').digest('hex'));
    expect(text).not.toContain('hash of');
  });

  it('names a file that the storage has lost instead of failing', async () => {
    const ann = await person('ann');
    const original = await stored('original bytes');
    await video(ann, original, 'a.mp4');
    await storage.remove(original.sha256);
    const readme = (await account.exportFiles(ann)).find((file) => file.path === 'README.txt');
    const chunks: Uint8Array[] = [];
    for await (const chunk of (await readme?.open()) ?? []) chunks.push(chunk);
    expect(Buffer.concat(chunks).toString()).toContain(original.sha256);
  });

  it('refuses to delete with a wrong password and changes nothing', async () => {
    const ann = await person('ann');
    await expect(account.remove(ann, 'Secret1235')).rejects.toMatchObject({ code: 'invalid_input' });
    expect(await User.query(db).findById(ann)).toBeDefined();
    expect(stopped).toEqual([]);
  });

  it('deletes every row and every file, but not what another account holds too', async () => {
    const [ann, bob] = [await person('ann'), await person('bob')];
    const shared = await stored('shared bytes');
    const own = await stored('only of ann');
    const poster = await stored('poster');
    const clip = await video(ann, own, 'a.mp4');
    await version(clip, 'repair', await stored('mended'), { posterSha256: poster.sha256 });
    await draft(clip);
    await video(ann, shared, 'both.mp4');
    const kept = await video(bob, shared, 'both.mp4');
    const session = {
      idHash: 'h1',
      userId: ann,
      data: {},
      createdAt: START,
      lastSeenAt: START,
      expiresAt: START,
    };
    await Session.query(db).insert(session);
    const mail = { subject: 's', text: 't', html: 'h' };
    for (const to of ['ann@example.test', 'bob@example.test']) {
      const job = { id: newId(), type: 'send-mail', payload: { to, ...mail }, runAfter: 0, createdAt: START };
      await Job.query(db).insert({ ...job, state: 'done' });
    }
    const running = { id: 'at work', type: 'process-video', payload: {}, state: 'running' } as const;
    await Job.query(db).insert({ ...running, userId: ann, videoId: clip.id, runAfter: 0, createdAt: START });
    await account.remove(ann, 'Secret1234');

    expect(stopped).toEqual(expect.arrayContaining(['at work', clip.id]));
    expect(ended).toEqual(['h1']);
    const left: string[] = [];
    for await (const file of storage.list()) left.push(file.sha256);
    expect(left).toEqual([shared.sha256]);
    expect((await StoredObject.query(db)).map((row) => row.sha256)).toEqual([shared.sha256]);
    expect((await Video.query(db)).map((row) => row.id)).toEqual([kept.id]);
    expect((await Job.query(db)).map((row) => row.payload.to)).toEqual(['bob@example.test']);
    const tables = await db('sqlite_master').where('type', 'table').pluck('name');
    for (const table of tables.filter((name) => !/^(sqlite|migrations)/.test(name))) {
      const columns = await db(table).columnInfo();
      if ('userId' in columns) expect(await db(table).where('userId', ann), table).toEqual([]);
    }
    expect((await User.query(db)).map((row) => row.username)).toEqual(['bob']);
  });

  it('lets the jobs of its videos continue when it could not be deleted', async () => {
    const ann = await person('ann');
    await video(ann, await stored('clip'), 'a.mp4');
    await db.raw("create trigger busy before delete on users begin select raise(abort, 'busy'); end");
    await expect(account.remove(ann, 'Secret1234')).rejects.toThrow('busy');
    expect(stopped).toEqual([]);
  });

  it('removes its votes from counts and points, and its ideas with their votes', async () => {
    const [ann, bob, cleo] = [await person('ann'), await person('bob'), await person('cleo')];
    await User.query(db).patch({ reputation: 20 }).where('id', bob);
    const ofBob = await idea(bob, [ann, cleo]);
    await idea(ann, [ann, bob]);
    await account.remove(ann, 'Secret1234');
    expect((await Idea.query(db)).map((row) => [row.id, row.votes])).toEqual([[ofBob, 1]]);
    expect((await IdeaVote.query(db)).map((row) => row.userId)).toEqual([cleo]);
    expect((await User.query(db).findById(bob))?.reputation).toBe(15);
  });

  it('deletes once when requested ten times at once', async () => {
    const [ann, bob] = [await person('ann'), await person('bob')];
    const ofBob = await idea(bob, [ann]);
    await Promise.allSettled(Array.from({ length: 10 }, () => account.remove(ann, 'Secret1234')));
    expect((await Idea.query(db).findById(ofBob))?.votes).toBe(0);
    expect(await User.query(db).resultSize()).toBe(1);
  });

  it('keeps mails to addresses that match only as a LIKE pattern', async () => {
    const odd = await person('a_b');
    const job = { id: newId(), type: 'send-mail', state: 'done' as const, runAfter: 0, createdAt: START };
    await Job.query(db).insert({ ...job, payload: { to: 'axb@example.test' } });
    await account.remove(odd, 'Secret1234');
    expect(await Job.query(db).resultSize()).toBe(1);
  });
});

describe('safeName', () => {
  it.each([
    ['../../etc/passwd', '.._.._etc_passwd'],
    ['a\u202Egpj.mp4', 'a_gpj.mp4'],
    ['x\n\u0000y.mov', 'x__y.mov'],
    [`${'🌊'.repeat(300)}.mp4`, `${'🌊'.repeat(120)}.mp4`],
  ])('makes %j a valid name on every file system', (name, expected) => {
    expect(safeName(name)).toBe(expected);
  });
});
