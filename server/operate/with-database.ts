import type { Knex } from 'knex';
import { connectDatabase } from '#db/connection.ts';
import { migrateDatabase } from '#db/migrate-database.ts';
import { readConfig } from '#server/config.ts';

/** Opens the configured database, migrates it, runs the work and closes it again. */
export async function withDatabase<Result>(work: (db: Knex) => Promise<Result>): Promise<Result> {
  const db = connectDatabase(readConfig(process.env));
  try {
    await migrateDatabase(db, { isAlone: false });
    return await work(db);
  } finally {
    await db.destroy();
  }
}
