import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { connectDatabase } from '#db/connection.ts';
import { provideBuiltServer } from './media-setup.ts';
import { startPostgres } from './postgres.ts';
import { makeSqliteTemplate } from './sqlite-template.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Migrated SQLite file. */
    sqliteTemplate: string;
    /** A Postgres server with the migrated database `reelmend_template`; null when none runs. */
    postgresUrl: string | null;
  }
}

/**
 * Runs once for all server tests: a migrated SQLite file, a real Postgres with a migrated template, and the bundled
 * server.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const [sqlite, postgres, removeBuilt] = await Promise.all([
    makeSqliteTemplate(),
    startPostgres(),
    provideBuiltServer(project),
  ]);
  if (postgres) await makePostgresTemplate(postgres.url);
  project.provide('sqliteTemplate', sqlite.file);
  project.provide('postgresUrl', postgres?.url ?? null);
  return async () => {
    await removeBuilt();
    await sqlite.remove();
    await postgres?.stop();
  };
}

async function makePostgresTemplate(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('CREATE DATABASE reelmend_template');
  await client.end();
  const template = new URL(url);
  template.pathname = '/reelmend_template';
  const db = connectDatabase({ databaseUrl: template.href, sqlitePath: '' });
  await db.migrate.latest();
  await db.destroy();
}
