import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { inject } from 'vitest';
import { newId } from '#db/base-model.ts';
import { connectDatabase } from '#db/connection.ts';

export const ENGINES = ['sqlite', 'postgres'] as const;
export type Engine = (typeof ENGINES)[number];

/** Whether tests on this engine can run here; for `describe.skipIf(!hasEngine(engine))`. */
export function hasEngine(engine: Engine): boolean {
  return engine === 'sqlite' || inject('postgresUrl') !== null;
}

export interface TestDatabase {
  readonly databaseUrl: string | null;
  /** Folder for everything a server keeps, including the SQLite file `reelmend.sqlite` on that engine. */
  readonly dataDir: string;
  /** Removes database and folder; close all connections first. */
  remove(): Promise<void>;
}

/** Creates a migrated, empty database and a data folder. */
export async function createTestDatabase(engine: Engine): Promise<TestDatabase> {
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'reelmend-test-'));
  const removeFolder = () => rm(dataDir, { recursive: true, force: true });
  if (engine === 'sqlite') {
    const sqlitePath = path.join(dataDir, 'reelmend.sqlite');
    const template: string | undefined = inject('sqliteTemplate');
    if (template !== undefined) await copyFile(template, sqlitePath);
    else await migrateNew(sqlitePath);
    return { databaseUrl: null, dataDir, remove: removeFolder };
  }
  const server = inject('postgresUrl');
  if (server === null) throw new Error('No Postgres runs here; ask hasEngine() first.');
  const name = `test_${newId()
    .replaceAll(/[^A-Za-z0-9]/g, '')
    .toLowerCase()}`;
  await query(server, `CREATE DATABASE ${name} TEMPLATE reelmend_template`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return {
    databaseUrl: url.href,
    dataDir,
    async remove() {
      await query(server, `DROP DATABASE ${name} WITH (FORCE)`);
      await removeFolder();
    },
  };
}

/** Used by the few media tests that need a server, for which no database template is prepared. */
async function migrateNew(sqlitePath: string): Promise<void> {
  const db = connectDatabase({ databaseUrl: null, sqlitePath });
  await db.migrate.latest();
  await db.destroy();
}

async function query(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
