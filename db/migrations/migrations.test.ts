import { setTimeout } from 'node:timers/promises';
import type { Knex } from 'knex';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, ENGINES, hasEngine, type TestDatabase } from '#server/test/test-database.ts';
import { connectDatabase } from '../connection.ts';
import { VideoVersion } from '../models/video-version.ts';
import { Video } from '../models/video.ts';
import { DatabaseRefused, migrateDatabase } from '../migrate-database.ts';
import { MIGRATIONS, MIGRATIONS_TABLE } from './index.ts';

/** A finished video with its version, in the columns that the first migration made. */
async function insertFinished(db: Knex): Promise<void> {
  const at = { createdAt: 1, updatedAt: 1 };
  const person = { id: 'person', username: 'ana', usernameLower: 'ana', plan: 'starter', ...at };
  await db('users').insert({ ...person, email: 'a@b.test', emailLower: 'a@b.test', passwordHash: 'x' });
  await db('stored_objects').insert({ sha256: 'bytes', sizeBytes: 1, createdAt: 1, checkedAt: 1 });
  await db('videos').insert({
    id: 'clip',
    userId: 'person',
    originalFileName: 'Take 9.mp4',
    fileSize: 1,
    originalSha256: 'bytes',
    currentVersionId: 'mended',
    status: 'completed',
    fixesApplied: JSON.stringify({ stutteredCuts: 3 }),
    steps: '[]',
    ...at,
  });
  const version = { id: 'mended', videoId: 'clip', kind: 'repair', sha256: 'bytes' };
  await db('video_versions').insert({ ...version, sizeBytes: 1, createdAt: 1 });
}

describe.each(ENGINES)('migrations on %s', (engine) => {
  describe.skipIf(!hasEngine(engine))('with rows of people', () => {
    let database: TestDatabase;
    let db: Knex;

    beforeAll(async () => {
      database = await createTestDatabase(engine);
      const { databaseUrl, dataDir } = database;
      db = connectDatabase({ databaseUrl, sqlitePath: `${dataDir}/reelmend.sqlite` });
    });
    afterAll(async () => {
      await db.destroy();
      await database.remove();
    });

    it('run one by one from the first to the last and keep existing rows', async () => {
      await db.migrate.rollback(undefined, true);
      await db.migrate.up();
      await insertFinished(db);
      for (const _ of MIGRATIONS.slice(1)) await db.migrate.up();
      expect(await Video.query(db).findById('clip')).toMatchObject({
        nameLower: 'take 9.mp4',
        fixesCount: 3,
        captionCount: null,
      });
      expect(await VideoVersion.query(db).findById('mended')).toMatchObject({
        fixesApplied: { stutteredCuts: 3 },
      });
    });

    it('are refused, naming all unknown ones, when a newer version has migrated the database', async () => {
      const rows = ['998_first', '999_second'].map((name) => ({
        name,
        batch: 99,
        migrationTime: new Date(),
      }));
      await db(MIGRATIONS_TABLE).insert(rows);
      const refused = await migrateDatabase(db, { isAlone: true }).catch((error: unknown) => error);
      await db(MIGRATIONS_TABLE).where({ batch: 99 }).delete();
      expect(refused).toBeInstanceOf(DatabaseRefused);
      expect(refused).toHaveProperty(
        'message',
        expect.stringContaining('the migrations 998_first, 999_second,'),
      );
      await migrateDatabase(db, { isAlone: true });
    });

    it('wait for another process, and say what to do when it never ends', async () => {
      const lock = (isLocked: number) => db(`${MIGRATIONS_TABLE}_lock`).update({ isLocked });
      await db.migrate.down();
      await lock(1);
      await expect(migrateDatabase(db, { isAlone: false, waitMs: 0 })).rejects.toThrow(
        'update migrations_lock set is_locked = 0',
      );
      const waiting = migrateDatabase(db, { isAlone: false });
      await setTimeout(200);
      await lock(0);
      await waiting;
      expect(await db(MIGRATIONS_TABLE).pluck('name')).toHaveLength(MIGRATIONS.length);
    });

    it('continue by themselves after a killed server left its lock and no other process can be migrating', async () => {
      await db.migrate.down();
      await db(`${MIGRATIONS_TABLE}_lock`).update({ isLocked: 1 });
      await migrateDatabase(db, { isAlone: true });
      expect(await db(MIGRATIONS_TABLE).pluck('name')).toHaveLength(MIGRATIONS.length);
    });

    it('can be reverted without losing the first rows', async () => {
      for (const _ of MIGRATIONS.slice(1)) await db.migrate.down();
      expect(await db('videos').select('id', 'currentVersionId')).toEqual([
        { id: 'clip', currentVersionId: 'mended' },
      ]);
      expect(await db('video_versions').select('id')).toEqual([{ id: 'mended' }]);
    });
  });
});
