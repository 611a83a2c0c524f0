import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { connectDatabase } from '#db/connection.ts';

/**
 * Creates a migrated SQLite file for tests to copy.
 * @returns its path and a function that removes it
 */
export async function makeSqliteTemplate(): Promise<{ file: string; remove: () => Promise<void> }> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'reelmend-template-'));
  const file = path.join(folder, 'template.sqlite');
  const db = connectDatabase({ databaseUrl: null, sqlitePath: file });
  await db.migrate.latest();
  // Without a separate log file, so that a copy of the one file is complete.
  await db.raw('PRAGMA journal_mode = DELETE');
  await db.destroy();
  return { file, remove: () => rm(folder, { recursive: true, force: true }) };
}
